import os
import sys
from pathlib import Path

import pytest

from agent_litmus.build import interpreter as module
from agent_litmus.build.interpreter import Interpreter, inspect_interpreter, is_system
from agent_litmus.build.manifest import compute_build
from agent_litmus.build.snapshot import SnapshotStore
from agent_litmus.errors import LitmusConfigError
from agent_litmus.mounts import run_mounts
from agent_litmus.records.config import AgentConfig
from agent_litmus.sandbox.protocol import Mount

from .conftest import make_venv, site_of

pytestmark = pytest.mark.integration

BASE = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_without_one_the_base_interpreter_is_used_with_every_site_packages_hidden() -> None:
    found = inspect_interpreter(None)
    assert found.python == found.binary == BASE
    assert found.venv is None
    assert found.sites == ()
    harness = {Path(path) for path in sys.path if path.endswith(("site-packages", "dist-packages"))}
    assert not [m for m in found.mounts for path in harness if path.is_relative_to(m) and path not in found.masked]


def test_a_virtual_environment_is_mounted_at_its_own_path_and_its_bases_packages_are_hidden(tmp_path: Path) -> None:
    python = make_venv(tmp_path / "venv")
    found = inspect_interpreter(python)
    assert found.python == python
    assert found.binary == BASE
    assert found.venv == tmp_path / "venv"
    assert found.sites == (site_of(python),)
    assert tmp_path / "venv" in found.mounts
    assert set(found.masked) >= set(inspect_interpreter(None).masked)


def test_a_base_prefix_outside_the_system_is_mounted_too(tmp_path: Path) -> None:
    found = inspect_interpreter(make_venv(tmp_path / "venv"))
    assert (found.base_prefix in found.mounts) is not is_system(found.base_prefix)


def test_system_site_packages_are_shown_where_the_environment_includes_them(tmp_path: Path) -> None:
    found = inspect_interpreter(make_venv(tmp_path / "venv", "--system-site-packages"))
    bare = inspect_interpreter(BASE)
    assert found.sites == (site_of(found.python), *bare.sites)
    assert not set(bare.sites) & set(found.masked)


def test_an_interpreter_outside_an_environment_shows_its_own_packages() -> None:
    found = inspect_interpreter(BASE)
    assert not set(found.sites) & set(found.masked)


def test_a_version_managers_shim_is_resolved_to_the_real_interpreter(tmp_path: Path) -> None:
    shim = _script(tmp_path / "shims" / "python", f'#!/bin/sh\nexec "{BASE}" "$@"\n')
    found = inspect_interpreter(shim)
    assert found.python == found.binary == BASE
    assert not [mount for mount in found.mounts if mount.is_relative_to(tmp_path)]


def test_no_code_of_the_environment_runs_when_it_is_asked(tmp_path: Path) -> None:
    python = make_venv(tmp_path / "venv")
    (site_of(python) / "evil.pth").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    (site_of(python) / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    inspect_interpreter(python)
    assert not (tmp_path / "ran").exists()


def test_the_harness_environment_variables_do_not_change_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = make_venv(tmp_path / "venv")
    before = inspect_interpreter(python)
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert inspect_interpreter(python) == before


def test_what_is_no_usable_python_is_refused_with_a_remedy(tmp_path: Path) -> None:
    for path, why in {
        tmp_path / "absent": "is not there or is not executable",
        tmp_path: "is a directory",
        _script(tmp_path / "says", "#!/bin/sh\necho hello\n"): "did not answer as Python 3",
        _script(tmp_path / "fails", "#!/bin/sh\necho oops >&2; exit 3\n"): r"exit 3\): oops",
        _script(tmp_path / "list", "#!/bin/sh\necho '[]'\n"): "does not know its own executable",
        _script(tmp_path / "broken", "#!/no/such/interpreter\n"): "cannot be run",
    }.items():
        with pytest.raises(LitmusConfigError, match=why) as caught:
            inspect_interpreter(path)
        assert caught.value.hint


def test_one_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TIMEOUT", 0.2)
    with pytest.raises(LitmusConfigError, match="did not answer in"):
        inspect_interpreter(_script(tmp_path / "hangs", "#!/bin/sh\nexec sleep 600\n"))


def test_a_prefix_that_holds_a_home_is_never_mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv = make_venv(tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with pytest.raises(LitmusConfigError, match="holds more than an interpreter"):
        inspect_interpreter(venv)


def test_a_chain_of_links_over_an_unmounted_place_is_refused(tmp_path: Path) -> None:
    python = make_venv(tmp_path / "venv")
    (tmp_path / "aside").symlink_to(python.readlink() if python.readlink().is_absolute() else BASE)
    for link in python.parent.glob("python*"):
        link.unlink()
        link.symlink_to(tmp_path / "aside")
    with pytest.raises(LitmusConfigError, match=r"is reached over .*aside"):
        inspect_interpreter(python)


def test_run_mounts_hold_prefix_environment_masks_and_snapshot(agent: AgentConfig, tmp_path: Path) -> None:
    python = make_venv(tmp_path / "venv")
    found = inspect_interpreter(python)
    snapshot = SnapshotStore(tmp_path / "store").make(agent, compute_build(agent, found), found)
    mounts = run_mounts(found, snapshot)
    assert mounts.snapshot == snapshot.path
    assert mounts.python == python
    assert Mount(tmp_path / "venv", str(tmp_path / "venv")) in mounts.mounts
    assert mounts.masked == tuple(map(str, found.masked))
    assert [m.target for m in mounts.mounts] == sorted(m.target for m in mounts.mounts)


def test_the_mounted_interpreter_is_enough_to_start_it() -> None:
    found: Interpreter = inspect_interpreter(None)
    for path in (found.binary, found.stdlib, *found.libraries):
        assert is_system(path) or any(path.is_relative_to(mount) for mount in found.mounts), path
        assert os.access(path, os.R_OK)
