"""Helpers for tests, ours and users'."""
