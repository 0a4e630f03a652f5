"""A small scan for keys that must never be copied, hashed into a report or mounted.

Few rules with hard prefixes instead of entropy guesses: what it flags stops the build, so it must be right.
"""

import re
from dataclasses import dataclass
from typing import BinaryIO

_CHUNK = 4 << 20
_OVERLAP = 512
"""More than the part of any key that a rule must see."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of key: ``hints`` are plain substrings that any match of ``pattern`` holds (fast pre-check)."""

    name: str
    hints: tuple[bytes, ...]
    pattern: re.Pattern[bytes]


def _rule(name: str, pattern: bytes, *hints: bytes) -> Rule:
    return Rule(name, hints, re.compile(rb"(?<![A-Za-z0-9])(?:" + pattern + rb")"))


_RULES = (
    # A header alone inside quotes is code that talks about keys; a key has a line end after it, maybe escaped.
    _rule(
        "private-key",
        rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----\s*?(?:\n|\\n|\\r)",
        b"PRIVATE KEY",
    ),
    _rule("aws-access-key", rb"(?:AKIA|ASIA)(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}(?![A-Za-z0-9])", b"AKIA", b"ASIA"),
    _rule("openai-style-key", rb"sk-(?:[a-z]{2,10}[0-9]{0,2}-)*[A-Za-z0-9_]{20,}", b"sk-"),
    _rule("github-token", rb"gh[opsru]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}", b"gh", b"github_pat_"),
    _rule("gitlab-token", rb"glpat-[A-Za-z0-9_-]{20,}", b"glpat-"),
    _rule("slack-token", rb"xox[abeoprs]-[A-Za-z0-9-]{10,}", b"xox"),
    _rule("google-api-key", rb"AIza[A-Za-z0-9_-]{35}", b"AIza"),
    _rule("hugging-face-token", rb"hf_[A-Za-z0-9]{30,}", b"hf_"),
    _rule("groq-key", rb"gsk_[A-Za-z0-9]{40,}", b"gsk_"),
    _rule("npm-token", rb"npm_[A-Za-z0-9]{36}", b"npm_"),
    _rule("pypi-token", rb"pypi-AgE[A-Za-z0-9_-]{50,}", b"pypi-AgE"),
    _rule("stripe-key", rb"[rs]k_live_[A-Za-z0-9]{20,}", b"k_live_"),
)


def find_secret(data: bytes) -> str | None:
    """Name of the first rule that ``data`` matches, or ``None``. The match itself is never returned."""
    for rule in _RULES:
        if any(hint in data for hint in rule.hints) and rule.pattern.search(data):
            return rule.name
    return None


def find_secret_in(file: BinaryIO) -> str | None:
    """As :func:`find_secret`, for a file of any size, piece by piece."""
    tail = b""
    while chunk := file.read(_CHUNK):
        rule = find_secret(tail + chunk)
        if rule:
            return rule
        tail = chunk[-_OVERLAP:]
    return None
