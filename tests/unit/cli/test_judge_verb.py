"""The verbs about judges, as far as they need no endpoint."""

import json
from pathlib import Path

import pytest

from agent_litmus.cli.main import invoke

PAGE = Path(__file__).parents[3] / "docs/reference/judge.md"


def test_the_rules_are_measured_like_a_judge_and_the_page_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["judge", "rules", "--json"]) == 0
    splits = json.loads(capsys.readouterr().out)["splits"]
    page = " ".join(PAGE.read_text().split())
    for split in splits:
        for name in ("declines", "refuses"):
            kappa = split[name]
            assert f"{kappa['value']:.2f} [{kappa['low']:.2f}, {kappa['high']:.2f}]" in page
    assert invoke(["judge", "rules"]) == 0
    out = capsys.readouterr().out
    assert "| group | n | refusals | precision | recall |" in out
    assert "injection_declined" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--url", "nowhere", "-o", "x.json"], "no http or https URL"),
        (["--url", "http://u:p@h/v1", "-o", "x.json"], "holds a user"),
        (["--url", "http://h/v1", "-o", "gone/x.json"], "no such directory"),
        (["--url", "http://h/v1", "-o", "x.json", "--key-env", "NO_SUCH_KEY"], "is not set"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is_sent(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    assert invoke(["judge", "calibrate", "--model", "m", *arguments]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert not printed.out
    assert not list(tmp_path.iterdir())
