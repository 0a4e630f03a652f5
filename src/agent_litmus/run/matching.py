"""Matches a check's expected text against observed text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_litmus.records.probe import TokenAlphabet
from agent_litmus.suite.render import check_pattern


@dataclass(frozen=True, slots=True)
class Matcher:
    """Expected texts of one suite: literals with token placeholders, ``{contains: …}`` and ``{matches: …}``."""

    alphabets: Mapping[str, TokenAlphabet]
    secrets: Mapping[str, str]
    """The environment's secrets, unexpanded: their tokens match any well-formed token."""
    only: frozenset[str] | None = None
    """The only tokens that match; ``None``: every well-formed one."""

    def _pattern(self, text: str) -> re.Pattern[str]:
        return check_pattern(text, self.alphabets, self.secrets, self.only)

    def contains(self, params: Mapping[str, Any], text: str) -> bool:
        """Whether ``text`` holds ``params["text"]``, or a match of the regular expression ``params["matches"]``."""
        if "matches" in params:
            return re.search(str(params["matches"]), text) is not None
        return self._pattern(str(params["text"])).search(text) is not None

    def value(self, want: Any, got: Any, *, fold: bool = False) -> bool:
        """Whether ``got`` is what ``want`` asks for; a bare literal must match as a whole."""
        text = got if isinstance(got, str) else str(got)
        if isinstance(want, Mapping):
            if "contains" in want:
                return self._pattern(str(want["contains"])).search(text) is not None
            return re.search(str(want["matches"]), text) is not None
        pattern = self._pattern(str(want))
        if fold:
            pattern = re.compile(pattern.pattern, pattern.flags | re.IGNORECASE)
        return pattern.fullmatch(text.strip()) is not None

    def fields(self, params: Mapping[str, Any], detail: Mapping[str, Any], folded: set[str]) -> bool:
        """Whether every field that ``params`` names is in ``detail`` as asked; ``folded`` ignore case."""
        return all(
            name in detail and self.value(want, detail[name], fold=name in folded) for name, want in params.items()
        )
