"""What runs inside the sandbox."""
