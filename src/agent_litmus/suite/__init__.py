"""The suite format: load, expand, check."""
