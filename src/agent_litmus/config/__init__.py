"""``litmus.toml``: read, checked as a whole, frozen."""

from agent_litmus.config.load import load_config

__all__ = ["load_config"]
