"""Runs remembered across invocations: a store behind SQLAlchemy, migrated by Alembic."""
