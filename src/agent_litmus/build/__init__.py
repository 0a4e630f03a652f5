"""What the agent is made of: manifest, digest, snapshot."""
