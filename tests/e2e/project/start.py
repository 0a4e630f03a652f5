"""Entry file: imports the agent from its own directory."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import agent  # noqa: E402, F401
