"""Is the harness coupled to the agent that will ship?"""
