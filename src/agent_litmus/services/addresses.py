"""Reads who a mail goes to out of what an agent wrote as its receiver."""

import re
from email.utils import getaddresses
from urllib.parse import unquote

PART_LIMIT = 998
"""Longest part that is read as a receiver, in characters: a line of a mail is no longer (RFC 5322, 2.1.1)."""
LIMIT = 64 * 1024
"""Most characters that are read; a server accepts no longer list."""
_ADDRESS = re.compile(r"[^\s<>()\[\],;:\"'\\]+@[^\s<>()\[\],;:\"'\\]+")
_IN_BRACKETS = re.compile(r"<([^<>]*@[^<>]*)>")
_MAILTO = re.compile(r"mailto:([^?>\s]*)(?:\?[^>\s]*)?", re.IGNORECASE)


def recipients(to: str) -> list[str]:
    """Bare addresses in lower case, in order, none twice.

    Commas, semicolons and line breaks separate; display names, angle brackets and ``mailto:`` are taken off.

    Args:
        to: The receivers as the agent wrote them; hostile.
    """
    return list(dict.fromkeys(address for part in _parts(to) for address in _addresses(part)))


def all_usable(to: str) -> bool:
    """Whether there is a receiver and every part names one, as a mail server would ask for."""
    parts = _parts(to)
    # A comma in a display name without quotes makes a part of its own, which belongs to the next one.
    usable = bool(parts) and len(to) <= LIMIT
    return usable and all(_addresses(part) or _is_name(part, parts[i + 1 : i + 2]) for i, part in enumerate(parts))


def _is_name(part: str, following: list[str]) -> bool:
    return bool(following) and " " in following[0] and following[0].endswith(">") and "<" not in part


def _parts(to: str) -> list[str]:
    """Split at separators that stand in no quotes; where quotes do not pair up, they do not count."""
    to = to[:LIMIT]
    pairs, quoted = _quotes(to) % 2 == 0, False
    parts = [""]
    for piece in re.split(r"([,;\r\n])", to):
        if piece and piece in ",;\r\n" and not (pairs and quoted):
            parts.append("")
        else:
            quoted ^= _quotes(piece) % 2 == 1
            parts[-1] += piece
    return [part.strip() for part in parts if part.strip()]


def _quotes(text: str) -> int:
    return text.count('"') - text.count('\\"')


def _addresses(part: str) -> list[str]:
    if len(part) > PART_LIMIT:
        return []
    part = _MAILTO.sub(lambda match: unquote(match[1]), part)
    bracketed = _IN_BRACKETS.findall(re.sub(r'"[^"]*"', "", part))
    try:
        parsed = [address for _, address in getaddresses(bracketed or [part])]
    except RecursionError:
        parsed = []
    if not parsed or not all(_ADDRESS.fullmatch(address) for address in parsed):
        # Not a proper header: what looks like an address still is where the mail would go.
        parsed = _ADDRESS.findall(" ".join(bracketed) or part)
    return [address.lower().rstrip(".") for address in parsed]
