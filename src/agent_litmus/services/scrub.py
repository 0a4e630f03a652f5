"""Keeps the upstream's key out of everything the agent, the journal and the report can see."""

import base64
import json
from urllib.parse import quote, quote_plus

MASK = "[key removed]"
SHORTEST = 8
"""Keys shorter than this are placeholders ("none", "EMPTY"); removing them would garble answers."""


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
    """Replaces a key, plain or encoded, by a mask.

    Args:
        key: The upstream's key; ``None`` or a very short one removes nothing.
    """

    def __init__(self, key: str | None) -> None:
        forms: set[str] = set()
        if key and len(key) >= SHORTEST:
            forms = {key, quote(key, safe=""), quote_plus(key), json.dumps(key)[1:-1], key.encode().hex()}
            forms |= _base64_forms(key.encode())
        self._texts = sorted((f for f in forms if f), key=len, reverse=True)
        self._bytes = [f.encode() for f in self._texts]

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


class StreamScrubber:
    """Scrubs a stream chunk by chunk; a possible beginning of the key waits for the next chunk.

    Args:
        scrubber: What to remove.
    """

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._tail = b""

    def feed(self, chunk: bytes) -> bytes:
        """The bytes that may go out now."""
        data = self._scrubber.data(self._tail + chunk)
        keep = self._scrubber.held_back(data)
        self._tail = data[len(data) - keep :] if keep else b""
        return data[: len(data) - keep]

    def end(self) -> bytes:
        """The rest."""
        tail, self._tail = self._tail, b""
        return tail
