"""Which kind of agent under which provider can discharge which obligation: the table people plan by."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent_litmus.records.effect import ContainmentState, ProviderReport
from agent_litmus.records.finding import Obligation

TARGET_KINDS = ("command", "remote")
"""Kinds of agent: a command that is run here, and an endpoint that runs elsewhere."""

_COMMON: Mapping[Obligation, str] = {
    Obligation.FRESHNESS: "the session's own tokens come back; else they stand in requests and responses vary",
    Obligation.DELIVERY: "the services see the injection being sent, or its token in a model request",
    Obligation.ACCOUNTING: "plan, journal, gateway and tool server are counted against each other",
    Obligation.REPLICATION: "responses vary over two seeds; a deterministic agent: repeats with own tokens",
}

HOW: Mapping[str, Mapping[Obligation, str]] = {
    "command": {
        **_COMMON,
        Obligation.IDENTITY: "the snapshot is hashed at mount and the exec witness sees it run",
        Obligation.ISOLATION: "a fresh process and workspace are witnessed and the base is verified afterwards",
        Obligation.EFFECTS: "every channel the suite's checks need is observed",
    },
    "remote": {
        **_COMMON,
        Obligation.IDENTITY: "the endpoint gives its digest with every response, and every replica at both ends",
        Obligation.ISOLATION: "ten leak pairs or more come back clean",
        Obligation.EFFECTS: "the suite checks tools and answers alone, and tool watermarks come back",
    },
}
"""Kind of agent to how each obligation is discharged."""

_PROCESS: Mapping[Obligation, str] = {
    Obligation.IDENTITY: "it has no exec witness, so nothing shows that the snapshot ran",
    Obligation.ISOLATION: "an agent of the same user can reach beyond its workspace and leave processes behind",
    Obligation.EFFECTS: "files, programs and connections outside the workspace are not observed",
}
_UNABLE: Mapping[str, Mapping[str, Mapping[Obligation, str]]] = {
    "command": {"bubblewrap": {}, "process": _PROCESS},
    # Nothing of a remote agent runs in a provider, so none of its proofs rest on one.
    "remote": {"remote": {}},
}
PROVIDERS = tuple(_UNABLE["command"])
"""Built-in providers that run an agent here."""
EVERYWHERE = (*PROVIDERS, *_UNABLE["remote"])
"""Those, and what stands in their place for an agent that runs elsewhere."""


@dataclass(frozen=True, slots=True)
class Ability:
    """One row: whether an obligation can be discharged, and how, or why not."""

    obligation: Obligation
    target: str
    provider: str
    able: bool
    why: str


def unable(provider: ProviderReport, obligation: Obligation, target: str = "command") -> str:
    """Why an agent of kind ``target`` under ``provider`` cannot discharge ``obligation``; empty if it can.

    A provider from outside is taken at its report's word, but isolation needs an enforced ``filesystem``.
    """
    kinds = _UNABLE.get(target)
    if kinds is None:
        return f"{target!a} is no kind of agent: {', '.join(TARGET_KINDS)}"
    known = kinds.get(provider.name)
    if known is not None:
        return known.get(obligation, "")
    enforced = any(
        r.property == "filesystem" and r.state is ContainmentState.ENFORCED for r in provider.containment
    )
    if target == "command" and obligation is Obligation.ISOLATION and not enforced:
        return f"provider {provider.name!r} does not report an enforced filesystem"
    return ""


def obligation_table(
    providers: Iterable[str] = EVERYWHERE, targets: Iterable[str] = TARGET_KINDS
) -> tuple[Ability, ...]:
    """Every obligation for every pair of target kind and built-in provider; an unknown name has no rows."""
    named = tuple(providers)
    rows = []
    for target in (t for t in targets if t in TARGET_KINDS):
        for provider in (p for p in named if p in _UNABLE[target]):
            for obligation in Obligation:
                why = _UNABLE[target][provider].get(obligation, "")
                rows.append(Ability(obligation, target, provider, not why, why or HOW[target][obligation]))
    return tuple(rows)


def can_pass(provider: str, target: str = "command") -> bool:
    """Whether every obligation can be discharged at all; without it a PASS is out of reach before anything runs."""
    rows = obligation_table((provider,), (target,))
    return bool(rows) and all(row.able for row in rows)


def render_markdown(rows: Iterable[Ability]) -> str:
    """The table as Markdown, for the reference pages."""
    lines = ["| agent | provider | obligation | can be proven | by, or why not |", "|---|---|---|---|---|"]
    lines += [
        f"| {r.target} | {r.provider} | {r.obligation} | {'yes' if r.able else '**no**'} | {r.why} |" for r in rows
    ]
    return "\n".join(lines) + "\n"
