"""What becomes of the standard streams never turns a verdict: 1 is FAIL and nothing else."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from .conftest import Project

pytestmark = pytest.mark.e2e

PARTIAL = ("run", "--provider", "process", "--limit", "2")
INDETERMINATE = 75


def shell(
    project: Project, redirection: str, *arguments: str, env: dict[str, str] | None = None
) -> tuple[int, str]:
    """Exit code and standard error of ``litmus … <redirection>``."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *project.argv(*arguments)],
        cwd=project.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
        env=os.environ | (env or {}),
    )
    return done.returncode, done.stderr.decode()


def without_reader(project: Project, *arguments: str, both: bool = False) -> int:
    """Exit code of ``litmus …`` where nobody reads standard output (and error)."""
    read, write = os.pipe()
    os.close(read)
    try:
        error = write if both else subprocess.DEVNULL
        return subprocess.run(
            project.argv(*arguments), cwd=project.root, stdout=write, stderr=error, check=False
        ).returncode
    finally:
        os.close(write)


def one_report(project: Project) -> bool:
    (run,) = project.runs()
    return (run / "report.json").is_file()


@pytest.mark.parametrize("json", [(), ("--json",)])
@pytest.mark.parametrize("both", [False, True])
def test_a_closed_pipe_leaves_the_verdict_its_exit_code(
    project: Project, both: bool, json: tuple[str, ...]
) -> None:
    assert without_reader(project, *PARTIAL, *json, both=both) == INDETERMINATE
    assert one_report(project)


def test_a_reader_that_leaves_after_the_first_line_does_not_end_the_run(project: Project) -> None:
    with subprocess.Popen(
        project.argv(*PARTIAL), cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"litmus: run ")
        process.stdout.close()
    assert process.returncode == INDETERMINATE
    assert one_report(project)


@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_leave_the_verdict_its_exit_code(project: Project, redirection: str) -> None:
    code, said = shell(project, redirection, *PARTIAL)
    assert code == INDETERMINATE, said
    assert one_report(project)
    assert ("standard output is closed" in said) == (redirection == ">&-")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_standard_output_leaves_the_verdict_its_exit_code(project: Project) -> None:
    code, said = shell(project, ">/dev/full", *PARTIAL)
    assert code == INDETERMINATE, said
    assert "standard output cannot be written: No space left on device" in said
    assert said.rstrip().splitlines()[-1].startswith("litmus: INDETERMINATE")
    assert shell(project, "2>/dev/full", *PARTIAL)[0] == INDETERMINATE
    code, said = shell(project, ">/dev/full", "suite", "show")
    assert code == 70
    assert "error [output]" in said


def test_no_verb_answers_a_closed_pipe_with_1(project: Project) -> None:
    assert project.litmus(*PARTIAL).code == INDETERMINATE
    (run,) = project.runs()
    report = str(run / "report.json")
    for arguments in (("--help",), ("run", "--help"), ("suite", "schema"), ("doctor",), ("report", "show", report)):
        assert without_reader(project, *arguments) in {0, 70}
        assert without_reader(project, *arguments, both=True) in {0, 70}
    assert without_reader(project, "nonsense", both=True) == 2


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1:strict"},
    ],
)
def test_a_terminal_without_unicode_shows_escapes(project: Project, env: dict[str, str]) -> None:
    project.edit("litmus.toml", 'name = "', 'name = "\u2192 ')
    done = project.litmus(*PARTIAL, env=env)
    assert done.code == INDETERMINATE, done.stderr
    assert "\\u2192" in done.stdout
    assert done.last.startswith("litmus: INDETERMINATE")


def test_a_journal_line_that_nests_without_end_is_named(project: Project) -> None:
    assert project.litmus(*PARTIAL).code == INDETERMINATE
    (run,) = project.runs()
    whole = len((run / "journal.jsonl").read_bytes().splitlines())
    with (run / "journal.jsonl").open("ab") as journal:
        journal.write(b"[" * 100_000 + b"]" * 100_000 + b"\n")
    with suppress(FileNotFoundError):
        (run / "report.json").unlink()
    done = project.litmus(*PARTIAL, "--resume", str(run))
    assert done.code == 2
    assert "error [damaged-journal]" in done.stderr
    assert f"journal.jsonl:{whole + 1}:" in done.stderr
