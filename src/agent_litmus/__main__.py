"""``python -m agent_litmus`` is ``litmus``."""

from agent_litmus.cli.main import main

main()
