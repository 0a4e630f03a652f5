"""Sandbox providers: contain a session and observe what it does."""
