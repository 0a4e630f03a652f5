"""Coupling: whether the harness really measured the agent that will ship."""
