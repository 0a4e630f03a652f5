"""What refers to what inside a suite, checked on the raw document, so that it is reported beside format errors."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agent_litmus.located import KeyPath, suggest
from agent_litmus.suite.render import PLACEHOLDER

Problem = tuple[KeyPath, str]
"""Where, and what."""

_SECTIONS = {
    "environments": "environment",
    "host_tasks": "host task",
    "injections": "injection",
    "carriers": "carrier",
    "attacks": "attack",
}
_MATRIX = {"hosts": "host_tasks", "injections": "injections", "carriers": "carriers", "attacks": "attacks"}
_FORMS = {
    "token": "{{token.NAME}}",
    "secret": "{{secret.NAME}}",
    "slot": "{{slot.NAME}}",
    "injection": "{{injection}}",
    "goal": "{{goal}}",
}
_PLACES = {
    "files": "file",
    "home": "file",
    "mailbox": "mail",
    "tickets": "ticket",
    "pages": "page",
    "tool_descriptions": "tool_description",
}


def reference_problems(document: Any) -> list[Problem]:
    """Duplicate ids, unknown ids, placeholders that name nothing or stand in the wrong place, unused slots.

    Args:
        document: The suite file as plain values, well-formed or not; what has the wrong shape is passed over.
    """
    if not isinstance(document, Mapping):
        return []
    suite = _Suite(document)
    return [*suite.duplicates(), *suite.unknown_ids(), *suite.placeholders(), *suite.slots()]


def items(value: Any, section: str, base: KeyPath = ()) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """The mappings in the list ``value[section]``, with their paths."""
    found = value.get(section)
    for index, item in enumerate(found if isinstance(found, list) else ()):
        if isinstance(item, Mapping):
            yield (*base, section, index), item


def texts(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Every text inside nested values, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from texts(inner, (*path, index))


def _names(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


class _Suite:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self.ids = {
            section: [item["id"] for _, item in items(document, section) if isinstance(item.get("id"), str)]
            for section in _SECTIONS
        }
        self.environments: dict[str, Mapping[str, Any]] = {}
        for _, item in items(document, "environments"):
            if _has_id(item):
                self.environments.setdefault(item["id"], item)
        self.tokens = _names(document.get("tokens"))
        self.secrets = {name for env in self.environments.values() for name in _names(env.get("secrets"))}

    # -- ids

    def duplicates(self) -> Iterator[Problem]:
        for section, noun in _SECTIONS.items():
            yield from _duplicate_ids(items(self.document, section), noun)
        for path, environment in items(self.document, "environments"):
            yield from _duplicate_ids(items(environment, "mailbox", path), "mail")
            yield from _duplicate_ids(items(environment, "tickets", path), "ticket")
        for section, part in (("host_tasks", "checks"), ("injections", "forbidden")):
            for path, item in items(self.document, section):
                yield from _duplicate_ids(items(item, part, path), "check")

    def unknown_ids(self) -> Iterator[Problem]:
        for path, host in items(self.document, "host_tasks"):
            yield from self._known((*path, "environment"), host.get("environment"), "environments")
        for path, row in items(self.document, "matrix"):
            for key, section in _MATRIX.items():
                yield from self._all_known((*path, key), row.get(key), section)
        for path, direct in items(self.document, "direct"):
            yield from self._known((*path, "injection"), direct.get("injection"), "injections")
            yield from self._known((*path, "environment"), direct.get("environment"), "environments")
        yield from self._all_known(("do_nothing_passes",), self.document.get("do_nothing_passes"), "host_tasks")

    def _all_known(self, path: KeyPath, value: Any, section: str) -> Iterator[Problem]:
        for index, name in enumerate(value if isinstance(value, list) else ()):
            yield from self._known((*path, index), name, section)

    def _known(self, path: KeyPath, name: Any, section: str) -> Iterator[Problem]:
        if isinstance(name, str) and name not in self.ids[section]:
            yield path, f"unknown {_SECTIONS[section]} '{name}'{suggest(name, self.ids[section])}"

    # -- placeholders

    def placeholders(self) -> Iterator[Problem]:
        for path, environment in items(self.document, "environments"):
            yield from self._environment(path, environment)
        for path, host in items(self.document, "host_tasks"):
            yield from self._host(path, host)
        for path, injection in items(self.document, "injections"):
            yield from self._scan(path, injection, {"token", "secret"}, self.secrets)
        for path, attack in items(self.document, "attacks"):
            yield from self._scan(path, attack, {"token", "secret", "injection", "goal"}, self.secrets)

    def _environment(self, path: KeyPath, environment: Mapping[str, Any]) -> Iterator[Problem]:
        secrets = _names(environment.get("secrets"))
        yield from self._scan((*path, "secrets"), environment.get("secrets"), {"token"}, secrets)
        for part in _PLACES:
            yield from self._scan((*path, part), environment.get(part), {"token", "secret", "slot"}, secrets)

    def _host(self, path: KeyPath, host: Mapping[str, Any]) -> Iterator[Problem]:
        environment = self.environments.get(str(host.get("environment")))
        secrets = self.secrets if environment is None else _names(environment.get("secrets"))
        yield from self._scan(path, host, {"token", "secret"}, secrets)

    def _scan(self, path: KeyPath, value: Any, allowed: set[str], secrets: Iterable[str]) -> Iterator[Problem]:
        for where, text in texts(value, path):
            for inner in dict.fromkeys(PLACEHOLDER.findall(text)):
                message = self._placeholder(inner, where, allowed, secrets)
                if message:
                    yield where, f"placeholder {{{{{inner}}}}}: {message}"
            if "secret_left" in where and "secret" in allowed and where[-1] in {"secret_left", "secret"}:
                yield from _known_secret(where, text, secrets)

    def _placeholder(self, inner: str, where: KeyPath, allowed: set[str], secrets: Iterable[str]) -> str:
        kind, _, name = inner.partition(".")
        if inner in {"injection", "goal"} & allowed:
            return ""
        if kind not in {"token", "secret", "slot"} or not name or inner != inner.strip():
            return f"unknown; here one of {', '.join(sorted(_FORMS[kind] for kind in allowed))}, without blanks"
        if kind == "slot" and ("prompt" in where or "turns" in where):
            return "the prompt is the host task's own channel; an injection may not share it"
        if kind not in allowed:
            return f"not possible here; one of {', '.join(sorted(_FORMS[kind] for kind in allowed))} is"
        known, what = {
            "token": (self.tokens, "the token slot is not declared in 'tokens'"),
            "secret": (secrets, "the environment has no such secret"),
            "slot": ({name}, ""),
        }[kind]
        return "" if name in known else f"{what}{suggest(name, known)}"

    # -- slots

    def slots(self) -> Iterator[Problem]:
        marked: dict[str, set[str]] = {}
        carriers = [(path, c) for path, c in items(self.document, "carriers") if isinstance(c.get("slot"), str)]
        kinds: dict[str, set[str]] = {}
        for _, carrier in carriers:
            kinds.setdefault(carrier["slot"], set()).add(str(carrier.get("kind")))
        for where, kind, slot in self._markers():
            marked.setdefault(slot, set()).add(kind)
            if slot not in kinds:
                yield where, f"no carrier uses the slot '{slot}'{suggest(slot, kinds)}"
            elif kind not in kinds[slot]:
                yield where, f"the slot '{slot}' is in a {kind}, but its carrier is of kind {_any_of(kinds[slot])}"
        for path, carrier in carriers:
            if carrier["slot"] not in marked:
                hint = suggest(carrier["slot"], marked)
                yield (*path, "slot"), f"no environment marks {{{{slot.{carrier['slot']}}}}}{hint}"

    def _markers(self) -> Iterator[tuple[KeyPath, str, str]]:
        for path, environment in items(self.document, "environments"):
            for part, kind in _PLACES.items():
                for where, text in texts(environment.get(part), (*path, part)):
                    for inner in dict.fromkeys(PLACEHOLDER.findall(text)):
                        if inner.startswith("slot."):
                            yield where, kind, inner.removeprefix("slot.")


def _has_id(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("id"), str)


def _known_secret(where: KeyPath, name: str, secrets: Iterable[str]) -> Iterator[Problem]:
    if name not in secrets:
        yield where, f"unknown secret '{name}'{suggest(name, secrets)}"


def _any_of(kinds: Iterable[str]) -> str:
    return " or ".join(f"'{kind}'" for kind in sorted(kinds))


def _duplicate_ids(found: Iterable[tuple[KeyPath, Mapping[str, Any]]], noun: str) -> Iterator[Problem]:
    seen: Counter[str] = Counter()
    for path, item in found:
        if _has_id(item):
            seen[item["id"]] += 1
            if seen[item["id"]] == 2:
                yield (*path, "id"), f"duplicate id '{item['id']}': an earlier {noun} has it"
