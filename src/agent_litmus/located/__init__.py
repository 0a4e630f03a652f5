"""Configuration files whose every error says ``file:line: $.path: what``."""

from agent_litmus.located.document import KeyPath, Located, LocatedErrors, raise_all, show_path, suggest
from agent_litmus.located.model import model_problems, validate
from agent_litmus.located.toml_file import load_toml
from agent_litmus.located.yaml_file import load_yaml

__all__ = [
    "KeyPath",
    "Located",
    "LocatedErrors",
    "load_toml",
    "load_yaml",
    "model_problems",
    "raise_all",
    "show_path",
    "suggest",
    "validate",
]
