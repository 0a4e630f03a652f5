"""What came over a connection: its beginning, its size, what was found in all of it, and whether it was text."""

from typing import Any

from agent_litmus.services.outbound import BodySearch, TextTest
from agent_litmus.services.recorder import TEXT_LIMIT


class Held:
    """The beginning of a stream, its size, and what was found in all of it.

    Args:
        search: Looks through the stream.
    """

    def __init__(self, search: BodySearch) -> None:
        self.head = bytearray()
        self.size = 0
        self.search = search
        self._text = TextTest()

    @property
    def plain(self) -> bool:
        """Whether all of it is text: what is not may be encrypted, so that searching it says little."""
        return self._text.passed and bool(self.size)

    @property
    def searched(self) -> bool:
        """Whether there is nothing in it but text, decompressed where need be, all of which was looked through."""
        return self._text.passed or self.search.inflated_text

    def take(self, data: bytes) -> None:
        """Take in the next bytes."""
        self.size += len(data)
        self.head += data[: TEXT_LIMIT - len(self.head)]
        self.search.feed(data)
        self._text.feed(data)

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
