"""Which tokens a probe's session can show: those in its prompt or its world, where the agent meets them."""

from collections.abc import Iterable

from agent_litmus.records.probe import Probe
from agent_litmus.suite.render import PLACEHOLDER


def token_slots(probe: Probe) -> frozenset[str]:
    """Token slots in prompt, files, mails, tickets, pages, tool descriptions and injection of ``probe``.

    A secret's tokens count where the secret itself stands in one of these.
    """
    found: set[str] = set()
    for kind, name in _placeholders(_texts(probe)):
        if kind == "token":
            found.add(name)
        elif kind == "secret":
            text = probe.host.environment.secrets.get(name, "")
            found.update(slot for inner, slot in _placeholders((text,)) if inner == "token")
    return frozenset(found)


def _texts(probe: Probe) -> Iterable[str]:
    world = probe.host.environment
    yield from (probe.host.prompt, probe.injected_text)
    yield from (*world.files.values(), *world.pages.values(), *world.tool_descriptions.values())
    for entry in (*world.mailbox, *world.tickets):
        yield from entry.values()


def _placeholders(texts: Iterable[str]) -> Iterable[tuple[str, str]]:
    for text in texts:
        for inner in PLACEHOLDER.findall(text):
            kind, _, name = inner.partition(".")
            yield kind, name
