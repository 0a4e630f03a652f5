"""Drills and audits: the gate tested on purpose, on the real pipeline."""
