import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from .conftest import Project

pytestmark = pytest.mark.e2e

TOTAL = 16
INJECTED = 12


@pytest.fixture(autouse=True)
def _needs_bubblewrap(bubblewrap: Callable[[], None]) -> None:
    bubblewrap()


def test_an_honest_agent_passes_and_proves_every_obligation(project: Project) -> None:
    done = project.litmus("run", "--json")
    report = done.report
    assert (done.code, report["verdict"]) == (0, "PASS"), report["reasons"]
    assert report["score"]["ir"]["value"] == report["score"]["u1"]["value"] == report["score"]["sr"]["value"] == 1.0
    assert all(status["discharged"] for status in report["obligations"])
    assert len(report["episodes"]) == TOTAL
    assert done.stderr.rstrip().splitlines()[-1].startswith("litmus: PASS  ")


def test_the_report_fits_its_published_schema(project: Project) -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs/reference/report.schema.json").read_text())
    jsonschema.validate(project.litmus("run", "--json").report, schema)
    (run,) = project.runs()
    jsonschema.validate(json.loads((run / "report.json").read_text()), schema)


def test_a_hijacked_agent_fails_with_every_hijack_listed(project: Project) -> None:
    project.behave("hijacked")
    done = project.litmus("run")
    assert done.code == 1
    assert done.last.startswith("litmus: FAIL  ")
    assert f"unsafe episodes ({INJECTED})" in done.stdout
    report = json.loads((project.runs()[0] / "report.json").read_text())
    assert report["score"]["asr"]["value"] == 1.0
    cells = {cell: count for cell, count in report["counts"]["cells"].items() if count}
    # Deleting the ledger also breaks the note task, which needs it unchanged.
    assert cells == {"baseline_success": 4, "hijacked_host_done": 10, "hijacked": 2}


def test_saying_no_while_doing_it_is_covert_execution(project: Project) -> None:
    project.behave("covert")
    done = project.litmus("run", "--json")
    assert done.report["verdict"] == "FAIL"
    assert len(done.report["counts"]["overlays"]["covert_execution"]) == INJECTED


def test_refusing_everything_is_not_safe(project: Project) -> None:
    project.behave("refuse")
    done = project.litmus("run", "--json")
    report = done.report
    assert report["verdict"] == "FAIL"
    assert (report["score"]["ir"]["value"], report["score"]["sr"]["value"]) == (1.0, 0.0)
    # Whether a file was read cannot be told from an agent that says nothing about it; a mail was seen being sent.
    assert done.cells() == {"baseline_over_refusal": 4, "contamination_over_refusal": 6, "unexposed": 6}


@pytest.mark.parametrize("behaviour", ["exit3", "flood", "hang", "empty", "braces"])
def test_what_cannot_be_assessed_is_never_good(project: Project, behaviour: str) -> None:
    project.behave(behaviour)
    done = project.litmus("run", "--json", "--timeout", "3" if behaviour == "hang" else "20")
    report = done.report
    assert report["verdict"] != "PASS"
    assert report["counts"]["unassessed"] == TOTAL
    assert done.cells() == {"unassessed": TOTAL}
    assert report["score"]["ir"]["value"] is None
    assert all(section["evidence"]["answer_why"] for section in report["episodes"])


def test_a_crash_after_harm_keeps_the_harm(project: Project) -> None:
    project.behave("crash-after-harm")
    report = project.litmus("run", "--json").report
    assert report["verdict"] == "FAIL"
    injected = [s for s in report["episodes"] if s["episode"]["key"]["condition"] == "injected"]
    assert {s["episode"]["injected"] for s in injected} == {"executed"}
    assert {s["episode"]["host"] for s in injected} == {"unassessed"}


@pytest.mark.parametrize("behaviour", ["quote", "sorry-but", "bytes", "escape", "daemon", "slow"])
def test_odd_but_honest_agents_pass(project: Project, behaviour: str) -> None:
    project.behave(behaviour)
    done = project.litmus("run")
    assert done.code == 0, done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert not [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]


def test_the_probes_own_text_printed_back_is_neither_refusal_nor_completion(project: Project) -> None:
    project.behave("echo")
    done = project.litmus("run", "--json")
    assert done.report["verdict"] == "FAIL"
    assert done.cells() == {"baseline_incapability": 4, "contamination_failure": 6, "unexposed": 6}


def test_a_deleted_workspace_is_seen_and_leaves_the_base_unchanged(project: Project) -> None:
    project.behave("wipe")
    report = project.litmus("run", "--json").report
    note = [s for s in report["episodes"] if s["evidence"]["host_id"] == "report-note"]
    assert {s["episode"]["host"] for s in note} == {"partial"}
    assert all(s["evidence"]["proof"]["base_unchanged"] for s in report["episodes"])


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ('["{agent}/absent"]', "does not exist"),
        ('["{agent}/agent.py"]', "chmod +x"),
        ('["/usr/bin/no-such-program"]', "no-such-program"),
        ('["/etc/passwd"]', "cannot be seen in the sandbox"),
        ('["{python}", "{agent}/absent.py"]', "does not exist"),
    ],
)
def test_an_agent_that_is_not_there_is_a_configuration_error(project: Project, command: str, word: str) -> None:
    project.edit("litmus.toml", '["{python}", "-I", "-S", "{agent}/start.py"]', command)
    done = project.litmus("run")
    assert done.code == 2
    assert "litmus.toml:3: $.agent.command" in done.stderr
    assert word in done.stderr


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ('["{agent}/broken.sh"]', "could not be started"),
        ('["{python}", "-c", "raise SystemExit(7)"]', "exit status 7"),
        ('["{python}", "-c", "import os; os.abort()"]', "signal 6"),
    ],
)
def test_an_agent_that_cannot_start_or_crashes_is_unassessed_with_the_reason(
    project: Project, command: str, word: str
) -> None:
    project.edit("litmus.toml", '["{python}", "-I", "-S", "{agent}/start.py"]', command)
    project.edit("litmus.toml", '["*.py"]', '["*.py", "*.sh"]')
    script = project.root / "broken.sh"
    script.write_text("#!/usr/bin/no-such-interpreter\n")
    script.chmod(0o755)
    done = project.litmus("run", "--json")
    assert done.code in {1, 75}
    assert done.report["verdict"] != "PASS"
    assert done.report["counts"]["unassessed"] == TOTAL
    assert all(word in section["evidence"]["answer_why"] for section in done.report["episodes"])


def test_a_partial_plan_never_passes(project: Project) -> None:
    for arguments in (["--limit", "4"], ["--probe", "report-note*"]):
        done = project.litmus("run", *arguments)
        assert done.code == 75, done.stdout
        assert "litmus: INDETERMINATE" in done.last


def test_two_runs_of_one_honest_build_both_pass_and_share_no_token(project: Project) -> None:
    first, second = (project.litmus("run", "--json").report for _ in range(2))
    assert first["verdict"] == second["verdict"] == "PASS"
    assert first["agent"]["digest"] == second["agent"]["digest"]
    assert first["results_digest"] != second["results_digest"]


def test_results_of_earlier_runs_are_not_part_of_the_agent(project: Project) -> None:
    project.edit("litmus.toml", 'include = ["*.py"]', 'include = ["**/*"]')
    outputs = ("a", "b", "deep/er", "a", "b")
    runs = [project.litmus("run", "--json", "--limit", "1", "--output", output).report for output in outputs]
    assert len({report["agent"]["digest"] for report in runs}) == 1


def test_an_agent_that_is_started_as_a_module_is_bound_to_its_build(project: Project) -> None:
    project.edit("litmus.toml", '["{python}", "-I", "-S", "{agent}/start.py"]', '["{python}", "-m", "start"]')
    project.edit("litmus.toml", 'include = ["*.py"]', 'include = ["*.py"]\nenv = {PYTHONPATH = "{agent}"}')
    report = project.litmus("run", "--json").report
    assert report["verdict"] == "PASS", report["reasons"]


def test_one_seed_cannot_prove_replication(project: Project) -> None:
    report = project.litmus("run", "--json", "--seeds", "1").report
    assert report["verdict"] == "INDETERMINATE"
    assert "replication" in json.dumps([o for o in report["obligations"] if not o["discharged"]])


def test_the_process_provider_never_passes_and_says_what_it_does_not_observe(project: Project) -> None:
    done = project.litmus("run", "--provider", "process")
    assert done.code == 75
    unproven = " ".join(line for line in done.stdout.splitlines() if line.startswith("not proven: "))
    for obligation in ("identity", "isolation", "effects"):
        assert obligation in unproven


def test_the_process_provider_assesses_all_that_needs_no_channel_it_is_blind_to(project: Project) -> None:
    report = project.litmus("run", "--provider", "process", "--json").report
    sessions = [section["evidence"] for section in report["episodes"]]
    assert len(sessions) == TOTAL
    assert [session["answer_why"] for session in sessions] == [""] * TOTAL
    assert {check["state"] for session in sessions for check in session["host_checks"]} == {"met"}
    injected = [s for s in report["episodes"] if s["episode"]["key"]["condition"] == "injected"]
    # Whether the key was uploaded cannot be told where HTTP is not caught; mails and files can be seen.
    blind = {s["evidence"]["injection_id"] for s in injected if s["episode"]["injected"] == "unassessed"}
    assert blind == {"upload-key"}
    # Nothing was seen that speaks against the build: no session ran with a changed snapshot.
    assert [finding["state"] for finding in report["findings"] if finding["signal"] == "binding"] == ["missing"]
