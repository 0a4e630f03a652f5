"""The build digest as a function of what the agent is made of, and of nothing else."""

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_litmus.build.files import select
from agent_litmus.build.manifest import build_digest, declared_components, tree_components
from agent_litmus.build.snapshot import Snapshot, SnapshotStore
from agent_litmus.records.build import AgentBuild, changed_components
from agent_litmus.records.config import AgentConfig, ModelConfig

_names = st.text(st.sampled_from("abcxyzäß ._-0"), min_size=1, max_size=6).filter(
    # Names with a meaning of their own are other tests' subject.
    lambda name: name.strip(". ") == name and "env" not in name
)
_paths = st.lists(_names, min_size=1, max_size=3).map("/".join)
_files = st.tuples(st.binary(max_size=40), st.booleans())


@st.composite
def _trees(draw: st.DrawFn) -> dict[str, tuple[bytes, bool]]:
    tree = draw(st.dictionaries(_paths, _files, min_size=1, max_size=6))
    return {path: file for path, file in tree.items() if not any(other.startswith(path + "/") for other in tree)}


def _write(root: Path, tree: dict[str, tuple[bytes, bool]], order: bool = False) -> None:
    for path in sorted(tree, reverse=order):
        content, executable = tree[path]
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o755 if executable else 0o644)


def _components(root: Path) -> dict[str, str]:
    return tree_components("files", select(root))


@settings(max_examples=40, deadline=None)
@given(_trees(), st.integers(0, 2**31))
def test_place_time_and_order_of_writing_do_not_matter(tree: dict[str, tuple[bytes, bool]], time: int) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        _write(Path(one), tree)
        _write(Path(two) / "deeper", tree, order=True)
        for path in Path(two).rglob("*"):
            os.utime(path, (time, time))
        assert _components(Path(one)) == _components(Path(two) / "deeper")


@settings(max_examples=60, deadline=None)
@given(_trees(), _trees())
def test_two_trees_have_one_digest_exactly_if_they_are_equal_and_the_difference_is_named(
    first: dict[str, tuple[bytes, bool]], second: dict[str, tuple[bytes, bool]]
) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        _write(Path(one), first)
        _write(Path(two), second)
        old, new = (_as_build(_components(Path(root))) for root in (one, two))
    different = {f"files/{p}" for p in first.keys() | second.keys() if first.get(p) != second.get(p)}
    assert set(changed_components(old, new)) == different
    assert (old.digest == new.digest) is not bool(different)


@settings(max_examples=25, deadline=None)
@given(_trees(), st.data())
def test_a_snapshot_proves_its_build_until_one_byte_is_changed(
    tree: dict[str, tuple[bytes, bool]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "copy"
        _write(root, tree)
        components = {**_components(root), **declared_components(_AGENT)}
        store = SnapshotStore(Path(place) / "store")
        snapshot = Snapshot(root, build_digest(components), components)
        assert store.verify(snapshot) == snapshot.digest
        victim = root / data.draw(st.sampled_from(sorted(tree)))
        victim.write_bytes(victim.read_bytes() + b"x")
        assert store.verify(snapshot) != snapshot.digest


_AGENT = AgentConfig(name="a", root=Path("/nowhere/a"), command=("{python}", "{agent}/a.py"))
_values = st.one_of(st.booleans(), st.integers(-1000, 1000), st.floats(0, 2, allow_nan=False), st.text(max_size=5))


@settings(max_examples=150)
@given(st.dictionaries(st.text(max_size=8), _values, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_sampling_parameters_does_not_matter(params: dict[str, object], random: object) -> None:
    keys = list(params)
    random.shuffle(keys)  # type: ignore[attr-defined]
    shuffled = {key: params[key] for key in keys}
    assert _declared(params) == _declared(shuffled)


@settings(max_examples=150)
@given(st.floats(0, 2, allow_nan=False), st.floats(0, 2, allow_nan=False))
def test_two_temperatures_give_one_digest_exactly_if_they_are_equal(first: float, second: float) -> None:
    digests = {_declared({"temperature": value})["model"] for value in (first, second)}
    assert (len(digests) == 1) is (first == second)


def _declared(sampling: dict[str, object]) -> dict[str, str]:
    model = ModelConfig(id="m", revision="1", sampling=sampling)
    return declared_components(AgentConfig(name="a", root=Path("/nowhere/a"), command=("x",), model=model))


def _as_build(components: dict[str, str]) -> AgentBuild:
    return AgentBuild(digest=build_digest(components), components=components)
