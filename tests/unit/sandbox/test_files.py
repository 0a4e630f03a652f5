import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.sandbox.files import relative, tree_digest, tree_signature, write_tree
from agent_litmus.sandbox.remove import discard, remove_tree


@pytest.mark.parametrize("name", ["", "/a", "..", "a/../b", "a\0", "."])
def test_paths_that_leave_the_root_are_refused(name: str) -> None:
    with pytest.raises(LitmusSandboxError, match="does not name a file below"):
        relative(name)


def test_a_tree_is_written_as_given(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "é\r\n", "d/e/f": ""})
    assert (tmp_path / "a.txt").read_bytes() == "é\r\n".encode()
    assert (tmp_path / "d/e/f").read_bytes() == b""


def test_a_file_below_a_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(LitmusSandboxError, match="a/b"):
        write_tree(tmp_path, {"a": "", "a/b": ""})


def test_the_digest_depends_on_content_name_and_executable_bit_alone(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a": "1", "d/b": "2"})
    first = tree_digest(tmp_path)
    os.utime(tmp_path / "a", (1, 1))
    (tmp_path / "a").chmod(0o600)
    (tmp_path / "empty").mkdir()
    assert tree_digest(tmp_path) == first
    (tmp_path / "a").chmod(0o700)
    executable = tree_digest(tmp_path)
    (tmp_path / "a").write_text("3")
    changed = tree_digest(tmp_path)
    (tmp_path / "a").rename(tmp_path / "z")
    assert len({first, executable, changed, tree_digest(tmp_path)}) == 4


def test_the_digest_of_a_link_is_its_target(tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to("a")
    first = tree_digest(tmp_path)
    (tmp_path / "l").unlink()
    (tmp_path / "l").symlink_to("b")
    assert tree_digest(tmp_path) != first


def test_a_name_that_is_not_text_has_a_digest(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).touch()
    assert tree_digest(tmp_path).startswith("sha256:")


def test_the_signature_changes_with_every_write(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a": "1"})
    first = tree_signature(tmp_path)
    assert tree_signature(tmp_path) == first
    (tmp_path / "a").write_text("2")
    os.utime(tmp_path / "a", (1, 1))
    assert tree_signature(tmp_path) != first


def write_tree_at(root: Path, files: dict[str, str]) -> None:
    root.mkdir()
    write_tree(root, files)


def test_removal_stops_at_links_and_at_no_mode(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("stays")
    root = tmp_path / "root"
    write_tree_at(root, {"a/b/c": "x", "a/d": "y", "e": "z"})
    (root / "a" / "link").symlink_to(tmp_path)
    (root / "a" / "b").chmod(0)
    (root / "a").chmod(0)
    remove_tree(root)
    assert [p.name for p in tmp_path.iterdir()] == ["outside"]
    assert (tmp_path / "outside").read_text() == "stays"


def test_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "missing")


def test_removal_goes_deeper_than_a_path_can_say(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    fd = os.open(root, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 100, dir_fd=fd)
        inner = os.open("d" * 100, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)
    remove_tree(root)
    assert not root.exists()


def test_a_tree_that_several_remove_at_once_is_gone_for_all_of_them(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_tree_at(root, {f"d{i}/e{j}/f": "x" for i in range(30) for j in range(10)})
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(discard, [root] * 4))
    assert not root.exists()
