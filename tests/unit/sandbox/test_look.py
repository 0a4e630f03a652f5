import os
from pathlib import Path

import pytest

from agent_litmus.sandbox.files import write_tree
from agent_litmus.sandbox.look import look_layers
from agent_litmus.sandbox.protocol import Look

TOP = "/workspace"


def seen(layers: tuple[Path, ...], name: str, limit: int = 100) -> Look:
    return look_layers(layers, TOP, name, limit)


@pytest.fixture
def layers(tmp_path: Path) -> tuple[Path, Path]:
    upper, lower = tmp_path / "upper", tmp_path / "lower"
    upper.mkdir()
    lower.mkdir()
    write_tree(upper, {"both": "upper", "d/new": "upper", "was-directory": "file"})
    write_tree(lower, {"both": "lower", "d/old": "lower", "was-directory/x": "lower", "e/f": "deep"})
    return upper, lower


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("both", Look("file", b"upper")),
        ("d/new", Look("file", b"upper")),
        ("d/old", Look("file", b"lower")),
        ("d", Look("other")),
        ("d/missing", Look("absent")),
        ("missing/x", Look("absent")),
        ("was-directory", Look("file", b"file")),
        ("was-directory/x", Look("absent")),
        ("/both", Look("other")),
        ("../upper/both", Look("other")),
        ("both/", Look("file", b"upper")),
    ],
)
def test_the_upper_layer_wins(layers: tuple[Path, Path], name: str, found: Look) -> None:
    assert seen(layers, name) == found


def test_a_file_longer_than_the_limit_is_marked_and_one_as_long_is_not(layers: tuple[Path, Path]) -> None:
    assert seen(layers, "both", 4) == Look("file", b"uppe", truncated=True)
    assert seen(layers, "both", 5) == Look("file", b"upper")


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("d/old", Look("file", b"lower")),
        ("/workspace/both", Look("file", b"upper")),
        ("/workspace/../workspace/./d/new", Look("file", b"upper")),
        ("../workspace/e/f", Look("file", b"deep")),
        ("../../../../workspace/both", Look("file", b"upper")),
        ("nowhere", Look("absent")),
        ("both/below", Look("absent")),
        ("e", Look("other")),
        ("/workspace", Look("other")),
        ("/", Look("other")),
        ("/etc/passwd", Look("other")),
        ("../lower/both", Look("other")),
        ("/workspace2/both", Look("other")),
        ("link", Look("other")),
    ],
)
def test_a_link_is_followed_within_the_workspace_alone(layers: tuple[Path, Path], target: str, found: Look) -> None:
    (layers[0] / "link").symlink_to(target)
    assert seen(layers, "link") == found


def test_links_are_followed_from_layer_to_layer(layers: tuple[Path, Path]) -> None:
    (layers[1] / "down").symlink_to("d")
    (layers[0] / "up").symlink_to("/workspace/down")
    assert seen(layers, "up/old") == Look("file", b"lower")
    assert seen(layers, "up/new") == Look("file", b"upper")
    assert seen(layers, "up/../both") == Look("other"), "a suite's paths hold no `..`"


def test_a_chain_of_links_is_followed_as_far_as_the_kernel_does(layers: tuple[Path, Path]) -> None:
    (layers[0] / "l0").symlink_to("both")
    for n in range(1, 45):
        (layers[0] / f"l{n}").symlink_to(f"l{n - 1}")
    assert seen(layers, "l39") == Look("file", b"upper")
    assert seen(layers, "l40") == Look("other")


def test_a_link_in_the_upper_layer_hides_the_file_below(layers: tuple[Path, Path]) -> None:
    (layers[0] / "both").unlink()
    (layers[0] / "both").symlink_to("/etc/passwd")
    assert seen(layers, "both") == Look("other")


def test_an_opaque_directory_hides_the_layer_below(layers: tuple[Path, Path]) -> None:
    try:
        os.setxattr(layers[0] / "d", "user.overlay.opaque", b"y")
    except OSError as error:
        pytest.skip(f"no user attributes on this file system: {error}")
    assert seen(layers, "d/old") == Look("absent")
    assert seen(layers, "d/new") == Look("file", b"upper")


def test_a_file_nobody_may_read_is_read_and_keeps_its_mode(layers: tuple[Path, Path]) -> None:
    (layers[0] / "d" / "new").chmod(0)
    (layers[0] / "d").chmod(0)
    assert seen(layers, "d/new") == Look("file", b"upper")
    assert (layers[0] / "d").stat().st_mode & 0o777 == 0
    (layers[0] / "d").chmod(0o755)


def test_pipes_are_never_opened(layers: tuple[Path, Path]) -> None:
    os.mkfifo(layers[0] / "pipe")
    assert seen(layers, "pipe") == Look("other")


def test_a_workspace_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    assert seen((tmp_path / "gone",), "a") == Look("absent")


def test_what_cannot_be_looked_at_is_said_to_be_unreadable(layers: tuple[Path, Path]) -> None:
    assert seen(layers, "x" * 300) == Look("unreadable")
