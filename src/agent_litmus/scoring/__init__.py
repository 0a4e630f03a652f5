"""Two-axis scoring of episodes."""
