import hashlib
import os
from pathlib import Path

import pytest

from agent_litmus.sandbox import tree
from agent_litmus.sandbox.tree import Node, Tree, disk_usage, overlaid, read_tree


def test_every_kind_of_entry_is_read(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(mode=0o755)
    (tmp_path / "d" / "f").write_bytes(b"content")
    (tmp_path / "d" / "f").chmod(0o640)
    (tmp_path / "l").symlink_to("d/f")
    os.mkfifo(tmp_path / "p")
    found = read_tree(tmp_path)
    assert found.gaps == ()
    assert {path: node.kind for path, node in found.nodes.items()} == {
        "d": "directory",
        "d/f": "file",
        "l": "symlink",
        "p": "other",
    }
    assert (found.nodes["d/f"].mode, found.nodes["d/f"].size) == (0o640, 7)


def test_a_missing_root_is_empty(tmp_path: Path) -> None:
    assert read_tree(tmp_path / "missing") == Tree()


def test_a_root_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert read_tree(tmp_path / "link") == Tree({}, ("1 top directory was replaced by something else",))


def test_entries_beyond_the_limit_are_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_ENTRIES", 3)
    for name in "abcde":
        (tmp_path / name).touch()
    found = read_tree(tmp_path)
    assert len(found.nodes) == 3
    assert "beyond the first 3" in found.gaps[0]


def test_content_beyond_the_limit_is_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_HASHED_BYTES", 4)
    (tmp_path / "f").write_bytes(b"12345")
    found = read_tree(tmp_path)
    assert (found.nodes["f"].sha256, found.nodes["f"].size) == ("", 5)
    assert len(found.gaps) == 1


def test_what_may_not_be_read_is_read_and_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(b"x")
    (tmp_path / "d" / "f").chmod(0)
    (tmp_path / "d").chmod(0)
    found = read_tree(tmp_path)
    assert (found.gaps, found.nodes["d"].mode, found.nodes["d/f"].mode) == ((), 0, 0)
    assert found.nodes["d/f"].sha256 != ""
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0


def _opaque(path: Path) -> None:
    try:
        os.setxattr(path, "user.overlay.opaque", b"y")
    except OSError as error:
        pytest.skip(f"no user attributes on this file system: {error}")


def test_an_upper_layer_adds_and_replaces(tmp_path: Path) -> None:
    lower = Tree(
        {"a": Node("file", 0o644, 1, "x"), "d": Node("directory", 0o755), "d/b": Node("file", 0o644, 1, "x")}
    )
    (tmp_path / "d").mkdir(mode=0o755)
    (tmp_path / "d" / "c").write_bytes(b"c")
    (tmp_path / "a").mkdir()
    found = overlaid(lower, tmp_path)
    assert {path: node.kind for path, node in found.nodes.items()} == {
        "a": "directory",
        "d": "directory",
        "d/b": "file",
        "d/c": "file",
    }


def test_a_file_over_a_directory_hides_what_was_below(tmp_path: Path) -> None:
    lower = Tree({"d": Node("directory", 0o755), "d/b": Node("file", 0o644), "dd": Node("file", 0o644)})
    (tmp_path / "d").write_bytes(b"now a file")
    assert set(overlaid(lower, tmp_path).nodes) == {"d", "dd"}


def test_an_opaque_directory_hides_what_was_below(tmp_path: Path) -> None:
    lower = Tree({"d": Node("directory", 0o755), "d/b": Node("file", 0o644)})
    (tmp_path / "d").mkdir()
    _opaque(tmp_path / "d")
    (tmp_path / "d" / "c").touch()
    assert set(overlaid(lower, tmp_path).nodes) == {"d", "d/c"}


def test_disk_usage_counts_blocks_not_sizes(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as stream:
        stream.truncate(1 << 30)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "real").write_bytes(b"x" * 100_000)
    assert 100_000 <= disk_usage(tmp_path) < 1 << 20
    assert disk_usage(tmp_path / "missing") == 0


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 200_000])
def test_files_of_every_size_are_read_whole(tmp_path: Path, size: int) -> None:
    data = bytes(number % 251 for number in range(size))
    (tmp_path / "f").write_bytes(data)
    assert read_tree(tmp_path).nodes["f"] == Node("file", 0o644, size, hashlib.sha256(data).hexdigest())
