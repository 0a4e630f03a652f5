"""Pure statistics."""
