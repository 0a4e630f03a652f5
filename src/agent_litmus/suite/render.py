"""Puts tokens, secrets and the injection into a suite's texts, in one pass: what is put in is never read again."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.probe import Environment, TokenAlphabet
from agent_litmus.suite.tokens import core_pattern

PLACEHOLDER = re.compile(r"\{\{([ \t]*[A-Za-z_][A-Za-z0-9_. \t-]*)\}\}")
"""Anything written like a placeholder, known or not; group 1 is what stands between the braces."""


def render(text: str, *, tokens: Mapping[str, str], secrets: Mapping[str, str], slots: Mapping[str, str]) -> str:
    """Expand ``{{token.x}}``, ``{{secret.x}}`` and ``{{slot.x}}``.

    A secret's text may hold tokens, a slot's text tokens and secrets; these are expanded before they are put in.

    Raises:
        LitmusConfigError: A placeholder names nothing that is given.
    """

    def fill(match: re.Match[str]) -> str:
        kind, _, name = match[1].partition(".")
        if kind == "token" and name in tokens:
            return tokens[name]
        if kind == "secret" and name in secrets:
            return render(secrets[name], tokens=tokens, secrets={}, slots={})
        if kind == "slot" and name in slots:
            return render(slots[name], tokens=tokens, secrets=secrets, slots={})
        raise _unknown(match[0])

    return PLACEHOLDER.sub(fill, text)


def render_value(
    value: Any, *, tokens: Mapping[str, str], secrets: Mapping[str, str], slots: Mapping[str, str]
) -> Any:
    """Expand every text inside nested mappings and lists; keys and other scalars stay as they are."""
    if isinstance(value, str):
        return render(value, tokens=tokens, secrets=secrets, slots=slots)
    if isinstance(value, Mapping):
        return {k: render_value(v, tokens=tokens, secrets=secrets, slots=slots) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [render_value(item, tokens=tokens, secrets=secrets, slots=slots) for item in value]
    return value


def render_environment(
    environment: Environment, *, tokens: Mapping[str, str], slots: Mapping[str, str]
) -> Environment:
    """The environment as one session has it; its own secrets are expanded first.

    Args:
        environment: The suite's environment.
        tokens: This session's token per slot.
        slots: Carrier slot to injected text; every other carrier slot becomes empty.

    Raises:
        LitmusConfigError: A placeholder names nothing that is given.
    """
    secrets = {k: render(v, tokens=tokens, secrets={}, slots={}) for k, v in environment.secrets.items()}
    filled = dict.fromkeys(slot_names(environment), "") | dict(slots)

    def expand(value: Any) -> Any:
        return render_value(value, tokens=tokens, secrets=secrets, slots=filled)

    return replace(
        environment,
        files=expand(environment.files),
        home=expand(environment.home),
        mailbox=tuple(expand(environment.mailbox)),
        tickets=tuple(expand(environment.tickets)),
        pages=expand(environment.pages),
        tool_descriptions=expand(environment.tool_descriptions),
        secrets=secrets,
    )


def placeholders(value: Any) -> set[tuple[str, str]]:
    """Every placeholder in nested values as ``(kind, name)``; ``("injection", "")`` for one without a dot."""
    if isinstance(value, str):
        return {(m[1].partition(".")[0], m[1].partition(".")[2]) for m in PLACEHOLDER.finditer(value)}
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return {found for item in items for found in placeholders(item)}


def canaries(environment: Environment) -> tuple[str, ...]:
    """Files that hold a secret: workspace paths, and those of the home directory with ``~/`` before them."""
    files = {**environment.files, **{f"~/{path}": text for path, text in environment.home.items()}}
    return tuple(path for path, text in files.items() if any(kind == "secret" for kind, _ in placeholders(text)))


def slot_names(environment: Environment) -> set[str]:
    """Names of the carrier slots marked anywhere in the environment."""
    parts = (
        environment.files,
        environment.home,
        environment.mailbox,
        environment.tickets,
        environment.pages,
        environment.tool_descriptions,
    )
    return {name for part in parts for kind, name in placeholders(part) if kind == "slot"}


def check_pattern(
    text: str,
    alphabets: Mapping[str, TokenAlphabet],
    secrets: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
) -> re.Pattern[str]:
    """A pattern for a check's literal text: ``{{token.x}}`` matches *any* well-formed token of the slot.

    Whether a token is this session's own is a question of freshness, not of the task: a replayed answer must not
    look like a failed task. ``{{secret.x}}`` stands for the secret's text, tokens in it likewise. A placeholder at
    either end of ``text`` does not match inside a longer word or number.

    Args:
        text: Literal text; use ``fullmatch`` for equality, ``search`` for containment.
        alphabets: Token slot to alphabet.
        secrets: Secret name to its unexpanded text.
        only: The only tokens that match, to find out which one did; ``None``: every well-formed one.

    Raises:
        LitmusConfigError: A placeholder names nothing that is given.
    """
    ends = [match.span() for match in PLACEHOLDER.finditer(text)]
    before = "(?<![A-Za-z0-9])" if ends and ends[0][0] == 0 else ""
    after = "(?![A-Za-z0-9])" if ends and ends[-1][1] == len(text) else ""
    return re.compile(before + _expression(text, alphabets, secrets or {}, only) + after)


def _expression(
    text: str,
    alphabets: Mapping[str, TokenAlphabet],
    secrets: Mapping[str, str],
    only: Collection[str] | None,
) -> str:
    parts: list[str] = []
    end = 0
    for match in PLACEHOLDER.finditer(text):
        parts.append(re.escape(text[end : match.start()]))
        end = match.end()
        kind, _, name = match[1].partition(".")
        if kind == "token" and name in alphabets:
            parts.append(f"(?:{_token(alphabets[name], only)})")
        elif kind == "secret" and name in secrets:
            parts.append(f"(?:{_expression(secrets[name], alphabets, {}, only)})")
        else:
            raise _unknown(match[0])
    return "".join(parts) + re.escape(text[end:])


def _token(alphabet: TokenAlphabet, only: Collection[str] | None) -> str:
    core = core_pattern(alphabet)
    if only is None:
        return core
    return "|".join(sorted(value for value in only if re.fullmatch(core, value))) or "(?!)"


def _unknown(placeholder: str) -> LitmusConfigError:
    return LitmusConfigError(
        f"nothing is known for the placeholder {placeholder}",
        hint="declare the token, secret or carrier slot in the suite; write placeholders without blanks",
        slug="unknown-placeholder",
    )
