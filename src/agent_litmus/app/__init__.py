"""The composer: stages put together into what the command line and users call."""
