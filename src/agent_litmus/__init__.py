"""agent-litmus: a safety gate for LLM agents that cannot go silently green."""
