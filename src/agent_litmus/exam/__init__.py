"""The conformance exam of sandbox providers: hostile agents, run through the protocol alone, judged on the host."""
