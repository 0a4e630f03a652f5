"""What a stranger sees first: the help of the command and of its groups, and the version."""

from itertools import takewhile

import pytest

from agent_litmus import __version__
from agent_litmus.cli.main import invoke

GROUPS = ["", "suite", "report", "history", "import", "judge", "sandbox"]


@pytest.mark.parametrize("group", GROUPS)
def test_the_list_of_verbs_is_whole_sentences_at_80_columns(
    group: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert invoke([*group.split(), "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    verbs = list(takewhile(str.strip, lines[lines.index("Commands:") + 1 :]))
    assert verbs
    assert all(line.endswith(".") and not line.endswith("...") and len(line) <= 80 for line in verbs)


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["--version"]) == 0
    assert capsys.readouterr().out == f"litmus {__version__}\n"
