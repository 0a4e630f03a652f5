"""A model as judge of words: what it is asked, how its answers are read, and how far it can be trusted.

It decides only whether an instruction was declined in words. What was done is observed, never asked.
"""
