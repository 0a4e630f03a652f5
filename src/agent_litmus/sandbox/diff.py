"""What an agent did to its workspace: the difference of two trees as effects."""

from collections.abc import Iterator

from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.sandbox.tree import Node, Tree


def file_effects(before: Tree, after: Tree, at: float) -> tuple[Effect, ...]:
    """Creations, modifications, deletions, mode changes and links, sorted by path.

    A rename is a deletion and a creation, and so is a change of kind (a file that became a directory). Content is
    compared, so writing the same bytes again is no effect.

    Args:
        before: The workspace at the start.
        after: The workspace at the end.
        at: Seconds since the session's start to stamp them with: when they were seen, not when they happened.
    """
    found = []
    for path in sorted(before.nodes.keys() | after.nodes.keys()):
        for action, node in _actions(before.nodes.get(path), after.nodes.get(path)):
            found.append(Effect(Channel.FILES, action, Outcome.EXECUTED, _detail(path, node), at))
    return tuple(found)


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


def _detail(path: str, node: Node) -> dict[str, object]:
    return {
        "path": path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"),
        "size": node.size,
        "sha256": node.sha256,
        "kind": node.kind,
        "mode": f"{node.mode:04o}",
    }
