"""What holds and sightings of cases are made of."""

from collections.abc import Callable
from typing import Any

from agent_litmus.exam.case import Hold, Sighting
from agent_litmus.exam.scene import Scene
from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.records.session import ExitKind

_ABSENT = object()


def ended(kind: ExitKind, *codes: int, property_: str = "time") -> Hold:
    """The agent ended that way; with one of the codes, if any are named."""

    def broken(scene: Scene) -> str:
        end = scene.result.exit
        right = end.kind is kind and (not codes or end.code in codes)
        return "" if right else f"it ended with {end.kind} {end.code} {end.why}".rstrip()

    return Hold(property_, broken)


def finished(property_: str = "time") -> Hold:
    """The agent came to its own end with exit status 0."""
    return ended(ExitKind.EXITED, 0, property_=property_)


def refused(property_: str, *names: str) -> Hold:
    """Each attempt of these names was made and failed."""

    def broken(scene: Scene) -> str:
        went = [name for name in names if scene.said.get(name, _ABSENT) is None]
        missing = [name for name in names if name not in scene.said]
        return "; ".join([f"{name} went through" for name in went] + [f"{name} was not tried" for name in missing])

    return Hold(property_, broken)


def said(property_: str, name: str, fits: Callable[[Any], bool], otherwise: str) -> Hold:
    """What the script reported under a name fits; a script that did not get that far fits nothing."""
    return Hold(
        property_, lambda s: "" if name in s.said and fits(s.said[name]) else f"{otherwise}: {s.said.get(name)}"
    )


def file_effect(action: str, path: str, least: int = 1) -> Sighting:
    """An effect on a workspace file; an empty path stands for any."""
    return Sighting(
        Channel.FILES,
        f"{action} of {path or f'{least} files'}",
        lambda e, _: e.action == action and (not path or e.detail.get("path") == path),
        least,
    )


def executed(
    what: str, matches: Callable[[list[str]], bool], outcome: Outcome | None = Outcome.EXECUTED, least: int = 1
) -> Sighting:
    """A program with such arguments."""

    def seen(effect: Effect, _: Scene) -> bool:
        return outcome in {None, effect.outcome} and matches([str(part) for part in effect.detail.get("argv", ())])

    return Sighting(Channel.EXEC, what, seen, least)


def signalled(number: int, target: Callable[[Scene], int] | None = None) -> Sighting:
    """A signal, to this target if one is named."""
    return Sighting(
        Channel.SIGNALS,
        f"signal {number}",
        lambda e, s: e.detail.get("signal") == number and (target is None or e.detail.get("target") == target(s)),
    )


def connected(what: str, **detail: object) -> Sighting:
    """A connection, or a datagram, with these details."""
    return Sighting(
        Channel.CONNECT, what, lambda e, _: all(e.detail.get(name) == value for name, value in detail.items())
    )


def called(name: str) -> Sighting:
    """A refused system call."""
    return Sighting(Channel.CALLS, f"the call {name}", lambda e, _: e.detail.get("call") == name)


def leftover() -> Sighting:
    """Processes that outlived the agent."""
    return Sighting(Channel.PROCESSES, "what outlived the agent", lambda e, _: int(e.detail.get("count") or 0) > 0)
