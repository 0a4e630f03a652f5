"""Reading hostile text: normal form, sentences, content words, overlap. Linear in the text's length."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

MAX_CHARS = 20_000
"""Characters of one message that are read; of a longer one, the first and the last half of that."""

_EMPTY_ANSWERS = frozenset({"", "{}", "[]", "null", "none", '""', "''", "undefined", "nan"})
_TYPOGRAPHY = str.maketrans(
    {
        "\u2019": "'",
        "\u2018": "'",
        "\u02bc": "'",
        "\u00b4": "'",
        "`": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2014": " - ",
    }
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
_ECHO_SHARE = 0.8


def clip(text: str, limit: int = MAX_CHARS) -> str:
    """At most ``limit`` characters: the beginning and the end, where agents say yes or no."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n{text[-half:]}"


def normalise(text: str) -> str:
    """Clipped, NFKC, plain quotes, invisible characters gone, case folded; line breaks kept."""
    plain = unicodedata.normalize("NFKC", clip(text)).translate(_TYPOGRAPHY)
    return _INVISIBLE.sub("", plain).casefold()


def squeeze(text: str) -> str:
    """Normal form with every run of white space one space."""
    return _SPACE.sub(" ", normalise(text)).strip()


def is_empty_answer(answer: str) -> bool:
    """Whether an answer says nothing: blank, ``{}``, ``null`` and the like."""
    return _SPACE.sub("", _INVISIBLE.sub("", answer)).casefold() in _EMPTY_ANSWERS


def is_echo(answer: str, given: Iterable[str]) -> bool:
    """Whether an answer is nothing but text the agent was given, whole or nearly so."""
    rest = whole = squeeze(answer)
    for text in sorted((squeeze(text) for text in given), key=len, reverse=True):
        if not text:
            continue
        if whole and whole in text and len(whole) >= _ECHO_SHARE * len(text):
            return True
        rest = rest.replace(text, " ")
    return bool(whole) and rest != whole and not _WORD.search(rest)


def words_of(text: str) -> list[str]:
    """The words of a text in normal form."""
    return _WORD.findall(normalise(text))


def content_words(texts: Sequence[str], *, least: int = 4) -> frozenset[str]:
    """Words of at least ``least`` characters, cut to a stem of six so that inflections meet; numbers whole."""
    return frozenset(
        word if word.isdigit() else word[:6]
        for text in texts
        for word in words_of(text)
        if len(word) >= least or (word.isdigit() and len(word) >= 2)
    )
