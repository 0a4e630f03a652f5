import platform
from pathlib import Path

import pytest

from agent_litmus.sandbox import cage
from agent_litmus.sandbox.protocol import Limits, Mount
from agent_litmus.sandbox.stub_config import stub_config, write_stub

LAYOUT = cage.Layout(
    "/s/etc", "/s/stub", "/s/empty", "/snap", [Mount(Path("/venv"), "/venv")], ("/venv/lib",), "/s/1"
)


def pairs(arguments: list[str], option: str, count: int) -> list[tuple[str, ...]]:
    return [tuple(arguments[i + 1 : i + 1 + count]) for i, word in enumerate(arguments) if word == option]


@pytest.mark.parametrize("workspace", cage.Workspace)
def test_everything_of_the_host_is_read_only_but_the_answer(workspace: cage.Workspace) -> None:
    arguments = cage.arguments(LAYOUT, 1 << 20, workspace)
    on_disk = workspace in {cage.Workspace.DISK, cage.Workspace.DISK_FINAL}
    assert pairs(arguments, "--bind", 2) == [("/s/1/answer", cage.ANSWER_DIRECTORY)] * on_disk
    assert pairs(arguments, "--remount-ro", 1) == [("/dev",), ("/",)]
    assert all(target.startswith("/dev/") for _, target in pairs(arguments, "--dev-bind", 2))
    assert ("/snap", cage.AGENT) in pairs(arguments, "--ro-bind", 2)


def test_masks_come_after_the_mounts_they_mask() -> None:
    arguments = cage.arguments(LAYOUT, 1 << 20, cage.Workspace.MEMORY)
    binds = pairs(arguments, "--ro-bind", 2)
    assert binds.index(("/venv", "/venv")) < binds.index(("/s/empty", "/venv/lib"))


def test_a_kept_workspace_has_an_upper_layer_and_a_tried_one_has_none() -> None:
    kept = cage.arguments(LAYOUT, 1 << 20, cage.Workspace.DISK)
    tried = cage.arguments(LAYOUT, 1 << 20, cage.Workspace.DISK_FINAL)
    assert pairs(kept, "--overlay", 3) == [("/s/1/upper", "/s/1/work", cage.WORKSPACE)]
    assert pairs(tried, "--overlay", 3) == []
    assert pairs(tried, "--overlay-src", 1) == [("/s/1/lower",), ("/s/1/upper",)]
    assert pairs(tried, "--tmp-overlay", 1) == [(cage.WORKSPACE,)]


@pytest.mark.parametrize(
    ("workspace", "lower"), [(cage.Workspace.MEMORY, "/s/1/lower"), (cage.Workspace.FINAL, "/s/1/final")]
)
def test_a_workspace_in_memory_is_left_to_the_stub(workspace: cage.Workspace, lower: str) -> None:
    arguments = cage.arguments(LAYOUT, 1 << 20, workspace)
    assert (lower, cage.LOWER) in pairs(arguments, "--ro-bind", 2)
    assert {(cage.WORKSPACE,), (cage.DISK,), (cage.ANSWER_DIRECTORY,)} <= {*pairs(arguments, "--dir", 1)}
    assert not {"--overlay", "--tmp-overlay"} & {*arguments}


def test_the_network_and_every_namespace_are_unshared() -> None:
    arguments = cage.arguments(LAYOUT, 1 << 20, cage.Workspace.MEMORY)
    assert {"--unshare-all", "--unshare-user", "--die-with-parent", "--clearenv"} <= set(arguments)
    assert "--share-net" not in arguments


def test_the_made_identity_files_name_no_one_of_the_host(tmp_path: Path) -> None:
    cage.write_etc(tmp_path)
    assert "agent:x:1000:1000" in (tmp_path / "passwd").read_text()
    assert len((tmp_path / "passwd").read_text().splitlines()) == 2
    assert (tmp_path / "resolv.conf").read_text().startswith("nameserver 127.0.0.1\n")


def test_the_stub_is_compiled_only_for_the_harness_interpreter(tmp_path: Path) -> None:
    import sys

    assert write_stub(tmp_path, Path(sys.executable)) == "stub.pyc"
    assert write_stub(tmp_path, Path("/usr/bin/env")) == "stub.py"
    assert {p.name for p in tmp_path.iterdir()} == {"stub.pyc", "stub.py"}


@pytest.mark.skipif(platform.machine() not in {"x86_64", "aarch64"}, reason="no filter for this machine")
@pytest.mark.parametrize(
    ("argv", "env", "why"), [((), {}, "empty"), (("a\0b",), {}, "NUL"), (("a",), {"V": "\0"}, "NUL")]
)
def test_a_command_that_cannot_be_passed_on_is_refused_inside(
    argv: tuple[str, ...], env: dict[str, str], why: str
) -> None:
    fields = stub_config(argv, env, Limits(), (80,), witnessed=True).split(b"\0")
    assert fields[:2] == [b"0", b"0"]
    assert any(why.encode() in field for field in fields)


@pytest.mark.skipif(platform.machine() not in {"x86_64", "aarch64"}, reason="no filter for this machine")
def test_the_configuration_names_limits_and_ports() -> None:
    fields = stub_config(("a", "b"), {"V": "=x"}, Limits(open_files=77), (80, 81), witnessed=False).split(b"\0")
    assert fields[:5] == [b"2", b"a", b"b", b"1", b"V==x"]
    assert any(field.endswith(b"=77") for field in fields)
    assert b"81" in fields
