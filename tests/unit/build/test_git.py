import subprocess
from pathlib import Path

import pytest

from agent_litmus.build.git import git_state

pytestmark = pytest.mark.integration


def _git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, "-C", root, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "a.py").write_text("")
    (tmp_path / "readme").write_text("")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-q", "-m", "x")
    return tmp_path


def test_a_clean_checkout_gives_its_commit(repository: Path) -> None:
    state = git_state(repository / "agent")
    assert state is not None
    assert state.commit == _git(repository, "rev-parse", "HEAD")
    assert not state.dirty


def test_only_changes_below_the_root_make_it_dirty(repository: Path) -> None:
    (repository / "readme").write_text("changed")
    state = git_state(repository / "agent")
    assert state is not None
    assert not state.dirty
    (repository / "agent" / "new.py").write_text("")
    state = git_state(repository / "agent")
    assert state is not None
    assert state.dirty


def test_outside_a_repository_there_is_no_state(tmp_path: Path) -> None:
    assert git_state(tmp_path) is None


def test_a_repository_without_a_commit_has_no_state(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    assert git_state(tmp_path) is None


def test_without_git_there_is_no_state(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    assert git_state(repository) is None
