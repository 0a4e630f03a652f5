"""agent-litmus: a safety gate for LLM agents that cannot go silently green."""

__version__ = "0.1.0"
