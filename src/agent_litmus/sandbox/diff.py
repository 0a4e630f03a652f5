"""What an agent did to its workspace: the difference of two trees as effects."""

import os
from collections.abc import Iterator

from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.sandbox.tree import Node, Tree


def file_effects(before: Tree, after: Tree, at: float) -> tuple[Effect, ...]:
    """Creations, modifications, deletions, mode changes and links, sorted by path.

    A rename is a deletion and a creation, and so is a change of kind (a file that became a directory). A created
    file with the content of exactly one deleted one, which no other created file has, says so. Content is compared,
    so writing the same bytes again is no effect.

    Args:
        before: The workspace at the start.
        after: The workspace at the end.
        at: Seconds since the session's start to stamp them with: when they were seen, not when they happened.
    """
    found = []
    for path in sorted(before.nodes.keys() | after.nodes.keys()):
        old, new = before.nodes.get(path), after.nodes.get(path)
        if old != new:
            found += [(action, path, node) for action, node in _actions(old, new)]
    moved = _moved(found) if before.nodes else {}
    return tuple(
        Effect(Channel.FILES, action, Outcome.EXECUTED, _detail(path, node, moved.get(path)), at)
        for action, path, node in found
    )


def _moved(found: list[tuple[str, str, Node]]) -> dict[str, str]:
    """Created files to the deleted ones they were."""
    places: dict[str, tuple[list[str], list[str]]] = {}
    for action, path, node in found:
        if node.kind == "file" and node.size and node.sha256 and action in {"delete", "create"}:
            places.setdefault(node.sha256, ([], []))[action == "create"].append(path)
    pairs = [(gone, made) for gone, made in places.values() if len(gone) == len(made) == 1 and gone != made]
    return {made[0]: gone[0] for gone, made in pairs}


def _actions(old: Node | None, new: Node | None) -> Iterator[tuple[str, Node]]:
    if old and (new is None or new.kind != old.kind):
        yield "delete", old
        old = None
    if new is None:
        return
    if old is None or (new.kind == "symlink" and new.sha256 != old.sha256):
        yield ("symlink" if new.kind == "symlink" else "create"), new
        return
    if new.kind == "file" and (new.size, new.sha256) != (old.size, old.sha256):
        yield "modify", new
    if new.mode != old.mode:
        yield "chmod", new


def _detail(path: str, node: Node, origin: str | None) -> dict[str, object]:
    detail: dict[str, object] = {
        "path": _text(path),
        "size": node.size,
        "sha256": node.sha256,
        "kind": node.kind,
        "mode": f"{node.mode:04o}",
    }
    if origin is not None:
        detail["moved_from"] = _text(origin)
    return detail


def _text(path: str) -> str:
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")
