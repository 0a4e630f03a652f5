"""Laws of trees, differences and filters."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.sandbox.diff import file_effects
from agent_litmus.sandbox.memory import parse_address, text
from agent_litmus.sandbox.tree import Node, Tree

NODES = st.builds(
    Node,
    kind=st.sampled_from(["file", "directory", "symlink", "other"]),
    mode=st.sampled_from([0o644, 0o755, 0]),
    size=st.integers(0, 3),
    sha256=st.sampled_from(["", "aa", "bb"]),
)
TREES = st.dictionaries(st.text("ab/\udcff", min_size=1, max_size=4), NODES, max_size=6).map(Tree)


@given(TREES)
def test_a_tree_does_not_differ_from_itself(tree: Tree) -> None:
    assert file_effects(tree, tree, 0.0) == ()


@given(TREES, TREES)
def test_creations_there_are_deletions_back(before: Tree, after: Tree) -> None:
    def gone(effects: tuple[object, ...]) -> int:
        return sum(getattr(e, "action", "") == "delete" for e in effects)

    def made(effects: tuple[object, ...]) -> int:
        return sum(getattr(e, "action", "") in {"create", "symlink"} for e in effects)

    there, back = file_effects(before, after, 0.0), file_effects(after, before, 0.0)
    links = sum(
        n.kind == "symlink"
        and before.nodes.get(p, n).kind == "symlink"
        and before.nodes.get(p, n).sha256 != n.sha256
        for p, n in after.nodes.items()
    )
    assert made(there) - links == gone(back)


@given(TREES, TREES)
def test_every_effect_can_be_printed(before: Tree, after: Tree) -> None:
    for effect in file_effects(before, after, 0.0):
        effect.detail["path"].encode("utf-8")


@given(st.binary(max_size=130))
def test_any_address_is_told_or_not_but_never_an_error(data: bytes) -> None:
    address = parse_address(data)
    assert (address is None) == (len(data) < 2)
    if address is not None:
        address.address.encode("utf-8")
        assert 0 <= address.port <= 65535


@given(st.binary(min_size=22, max_size=22))
def test_an_address_of_a_known_family_keeps_its_port(rest: bytes) -> None:
    for family in (2, 10):
        address = parse_address(struct.pack("H", family) + rest)
        assert address is not None
        assert address.port == int.from_bytes(rest[:2], "big")


@given(st.binary())
def test_text_from_bytes_can_always_be_printed(data: bytes) -> None:
    text(data).encode("utf-8")
