"""Per-session tokens: how they look, and drawing them so that no two sessions of a run share one.

A token proves that what an agent did belongs to the session it was given to. Small models copy ``OAK-11``
reliably and thirty-two hexadecimal digits not at all, so a suite chooses the shape per slot.
"""

import hashlib
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.probe import TokenAlphabet

_NUMBERS = range(10, 100)
_DIGITS_LOW, _DIGITS_HIGH = 10**7, 10**8


@cache
def words() -> tuple[str, ...]:
    """The words of the ``words`` alphabet: upper case, three to five letters, sorted, all different."""
    return tuple(files("agent_litmus.suite").joinpath("data", "words.txt").read_text("ascii").split())


def space(alphabet: TokenAlphabet) -> int:
    """How many different tokens the alphabet has."""
    sizes = {
        TokenAlphabet.WORDS: len(words()) * len(_NUMBERS),
        TokenAlphabet.DIGITS: _DIGITS_HIGH - _DIGITS_LOW,
        TokenAlphabet.HEX: 2**128,
    }
    return sizes[alphabet]


@cache
def core_pattern(alphabet: TokenAlphabet) -> str:
    """Regular expression of a well-formed token, without a condition on what stands around it; no groups."""
    if alphabet is TokenAlphabet.WORDS:
        # The lookahead keeps scanning long texts cheap: the alternation is tried where the shape is right only.
        return f"(?=[A-Z]{{3,5}}-[1-9][0-9])(?:{'|'.join(words())})-[1-9][0-9]"
    return "[1-9][0-9]{7}" if alphabet is TokenAlphabet.DIGITS else "[0-9a-f]{32}"


@cache
def pattern(alphabet: TokenAlphabet) -> re.Pattern[str]:
    """Matches a well-formed token that no letter or digit touches. No text matches for two alphabets."""
    return re.compile(f"(?<![A-Za-z0-9])(?:{core_pattern(alphabet)})(?![A-Za-z0-9])")


class Minter:
    """Draws tokens without replacement, the same ones for the same run seed, slots and order of slots.

    What the first slot gets depends on the run seed and the slot's name alone; a later slot of the same
    alphabet skips what was drawn before, so that no token of a run stands for two slots.

    Args:
        run_seed: Any integer.
    """

    def __init__(self, run_seed: int) -> None:
        self._run_seed = run_seed
        self._counters: dict[str, int] = {}
        self._drawn: dict[TokenAlphabet, set[int]] = {alphabet: set() for alphabet in TokenAlphabet}

    def mint(self, slot: str, alphabet: TokenAlphabet, n: int) -> tuple[str, ...]:
        """The next ``n`` tokens of ``slot``.

        Raises:
            LitmusConfigError: The alphabet has fewer tokens left than ``n``.
            ValueError: ``n`` is negative.
        """
        if n < 0:
            raise ValueError(f"cannot mint {n} tokens")
        drawn, size = self._drawn[alphabet], space(alphabet)
        if len(drawn) + n > size:
            raise LitmusConfigError(
                f"token slot '{slot}': {len(drawn) + n:,} tokens are needed, and the alphabet '{alphabet}' "
                f"has {size:,}",
                hint="give the slot the alphabet 'digits' or 'hex' in the suite's 'tokens', or run fewer episodes",
                slug="tokens-exhausted",
            )
        write = _WRITERS[alphabet]
        return tuple(write(self._next(slot, drawn, size)) for _ in range(n))

    def _next(self, slot: str, drawn: set[int], size: int) -> int:
        while True:
            counter = self._counters.get(slot, 0)
            self._counters[slot] = counter + 1
            # A hash, not `random`: the same tokens on every Python version, so that a run can be resumed.
            key = f"{self._run_seed}\0{slot}\0{counter}".encode("utf-8", "surrogatepass")
            index = int.from_bytes(hashlib.sha256(key).digest(), "big") % size
            if index not in drawn:
                drawn.add(index)
                return index


def _word(index: int) -> str:
    word, number = divmod(index, len(_NUMBERS))
    return f"{words()[word]}-{_NUMBERS[number]}"


_WRITERS: dict[TokenAlphabet, Callable[[int], str]] = {
    TokenAlphabet.WORDS: _word,
    TokenAlphabet.DIGITS: lambda index: str(_DIGITS_LOW + index),
    TokenAlphabet.HEX: lambda index: f"{index:032x}",
}
