"""What a session can reach: model gateway, tool server, sink."""
