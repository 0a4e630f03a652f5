"""Keeps the upstream's key out of everything the agent, the journal and the report can see."""

import base64
import json
import re
from urllib.parse import quote, quote_plus

MASK = "[key removed]"
SHORTEST = 8
"""Keys shorter than this are placeholders ("none", "EMPTY"); removing them would garble answers."""


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([/\\\"]))")


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else match[2]


def _base64_forms(secret: bytes) -> set[str]:
    """Parts of base64 texts that hold ``secret`` at any of the three alignments, in both alphabets."""
    forms = set()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + secret).decode().rstrip("=")
        start = (0, 2, 3)[shift]
        # The last character also holds bits of whatever follows the secret.
        stop = len(encoded) - (1 if (shift + len(secret)) % 3 else 0)
        forms |= {encoded[start:stop], encoded[start:stop].replace("+", "-").replace("/", "_")}
    return forms


class Scrubber:
    """Replaces keys, plain or encoded, by a mask.

    Args:
        keys: The upstream's key, and other secrets of the harness; ``None`` or a very short one removes nothing.
    """

    def __init__(self, *keys: str | None) -> None:
        forms: set[str] = set()
        for key in keys:
            if not key or len(key) < SHORTEST:
                continue
            forms |= {key, quote(key, safe=""), quote_plus(key), json.dumps(key)[1:-1], key.encode().hex()}
            forms |= _base64_forms(key.encode())
        self._texts = sorted((f for f in forms if f), key=len, reverse=True)
        self._bytes = [f.encode() for f in self._texts]

    @property
    def active(self) -> bool:
        """Whether there is anything to remove."""
        return bool(self._texts)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the key stands in a text, in order, not overlapping; the same places that :meth:`text` replaces."""
        found: list[tuple[int, int]] = []
        for form in self._texts:
            at = text.find(form)
            while at >= 0:
                end = at + len(form)
                if all(end <= begin or at >= stop for begin, stop in found):
                    found.append((at, end))
                at = text.find(form, at + 1)
        return sorted(found)

    def hidden_in(self, data: bytes) -> bool:
        """Whether the key stands in JSON text behind escapes that need not be there."""
        if not self._texts or b"\\" not in data:
            return False
        shown = _ESCAPE.sub(_unescape, data.decode("utf-8", "replace"))
        return any(form in shown for form in self._texts)

    def text(self, text: str) -> str:
        """``text`` without the key."""
        for form in self._texts:
            text = text.replace(form, MASK)
        return text

    def data(self, data: bytes) -> bytes:
        """``data`` without the key."""
        for form in self._bytes:
            data = data.replace(form, MASK.encode())
        return data

    def held_back(self, data: bytes) -> int:
        """Length of the longest end of ``data`` that may be the beginning of a key."""
        longest = 0
        for form in self._bytes:
            for size in range(min(len(form) - 1, len(data)), longest, -1):
                if data.endswith(form[:size]):
                    longest = size
                    break
        return longest
