"""What came over a connection: its beginning, its size, what was found in all of it, and whether it was text."""

import codecs
import re
from typing import Any

from agent_litmus.services.outbound import BodySearch
from agent_litmus.services.recorder import TEXT_LIMIT

_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters that no text holds; ESC colours terminals."""


class Held:
    """The beginning of a stream, its size, and what was found in all of it.

    Args:
        search: Looks through the stream.
    """

    def __init__(self, search: BodySearch) -> None:
        self.head = bytearray()
        self.size = 0
        self.search = search
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._plain = True

    @property
    def plain(self) -> bool:
        """Whether all of it is text: what is not may be encrypted, so that searching it says little."""
        return self._plain and bool(self.size)

    def take(self, data: bytes) -> None:
        """Take in the next bytes."""
        self.size += len(data)
        self.head += data[: TEXT_LIMIT - len(self.head)]
        self.search.feed(data)
        if self._plain:
            try:
                self._plain = not _NO_TEXT.search(self._decoder.decode(data))
            except UnicodeDecodeError:
                self._plain = False

    def detail(self) -> dict[str, Any]:
        """What a record says of it."""
        return {
            "size": self.size,
            "head": shown(self.head),
            "plain": self.plain,
            "carries": self.search.found(),
        }


def shown(data: bytes | bytearray) -> str:
    """Bytes as text for a record."""
    return data.decode("utf-8", "backslashreplace")
