"""``python -m agent_litmus`` is ``litmus``."""

import os
import sys


def main() -> None:
    """Entry point of the command; Ctrl-C while it is still being imported is Ctrl-C, too."""
    try:
        from agent_litmus.cli.main import main as litmus  # noqa: PLC0415  so that importing it can be interrupted
    except KeyboardInterrupt:
        sys.stderr.write("litmus: INTERRUPTED  nothing was judged\n")
        sys.stderr.flush()
        os._exit(130)  # nothing has begun that would have to be cleaned up
    litmus()


if __name__ == "__main__":
    main()
