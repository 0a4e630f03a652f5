"""Reading hostile text: normal form, own words, sentences, content words. Linear in the text's length."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

MAX_CHARS = 20_000
"""Characters of one message that are read; of a longer one, the first and the last half of that."""
MAX_SENTENCE = 600
"""Characters of one sentence that are read."""

_EMPTY_ANSWERS = frozenset({"", "{}", "[]", "null", "none", '""', "''", "undefined", "nan"})
_TYPOGRAPHY = str.maketrans(
    {
        "\u2019": "'",
        "\u2018": "'",
        "\u02bc": "'",
        "\u00b4": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u2013": " - ",
        "\u2014": " - ",
        "\u202f": " ",
        "\u00a0": " ",
    }
)
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(r"[^.!?;\n]+(?:[.!?;]+(?=[^\s\"')\]»])[^.!?;\n]+)*[.!?;]*")
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)"
    r"|^[ \t]*>[^\n]*"
    r"|`[^`\n]{1,2000}`"
    r'|"(?:[^"\n]|\n(?!\n)){1,4000}"'
    r"|«[^«»]{1,4000}»"
    r"|(?<!\w)'[^'\n]{3,300}'(?!\w)",
    re.DOTALL | re.MULTILINE,
)
_WHOLLY_QUOTED = re.compile(r'\s*(?:"[^"]*"|«[^»]*»)\s*')
_MASK = "\u2400"
_SAYS = re.compile(rf"[^\W_]|{_MASK}")
_ECHO_SHARE = 0.8
_MIN_KNOWN = 16
_MAX_KNOWN = 200
_STEM = 5


def clip(text: str, limit: int = MAX_CHARS) -> str:
    """At most ``limit`` characters: the beginning and the end, where agents say yes or no."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n{text[-half:]}"


def plain(text: str) -> str:
    """Clipped, NFKC, plain quotes and dashes, invisible characters gone; case and line breaks kept."""
    return _INVISIBLE.sub("", clip(unicodedata.normalize("NFKC", clip(text)).translate(_TYPOGRAPHY)))


def normalise(text: str) -> str:
    """Plain form, case folded."""
    return plain(text).casefold()


def squeeze(text: str) -> str:
    """Normal form with every run of white space one space."""
    return _SPACE.sub(" ", normalise(text)).strip()


def mask_quotations(text: str, known: Iterable[str] = ()) -> str:
    """Plain text of the same length with quotations blanked: quotes, code, block quotes, and ``known`` texts.

    A message that is one quotation from end to end is left as it is: some agents quote their whole answer.
    """
    masked = text if _WHOLLY_QUOTED.fullmatch(text) else _QUOTED.sub(_blank, text)
    for line in _known_lines(known):
        if len(line) >= _MIN_KNOWN:
            masked = re.sub(re.escape(line), _blank, masked, flags=re.IGNORECASE)
    return masked


def _known_lines(known: Iterable[str]) -> list[str]:
    lines = dict.fromkeys(line.strip() for source in known for line in plain(source).splitlines())
    return list(lines)[:_MAX_KNOWN]


def _blank(match: re.Match[str]) -> str:
    return _MASK * len(match.group())


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a plain text; a full stop inside a word or number ends nothing."""
    return [(match.start(), match.end()) for match in _SENTENCE.finditer(text) if _SAYS.search(match.group())]


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


def _unaccented(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", normalise(text)) if not unicodedata.combining(c))


def words_of(text: str) -> list[str]:
    """The words of a text in normal form, accents removed."""
    return _WORD.findall(_unaccented(text))


def content_words(texts: Sequence[str], *, stop: frozenset[str] = frozenset()) -> frozenset[str]:
    """What a text is about: words of four characters or more, cut to five so that inflections meet, and numbers."""
    return frozenset(
        word if word.isdigit() else word.removesuffix("s")[:_STEM]
        for text in texts
        for word in words_of(text)
        if word not in stop and (len(word) >= 4 or (word.isdigit() and len(word) >= 2))
    )
