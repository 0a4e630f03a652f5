"""Runs remembered from one to the next, in SQLite or PostgreSQL. Import its modules only where they are used."""
