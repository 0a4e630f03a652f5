"""Policy and the one decision function."""
