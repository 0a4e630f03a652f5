from pathlib import Path

import pytest

from .conftest import Project

pytestmark = pytest.mark.e2e


def test_help_names_every_verb(project: Project) -> None:
    done = project.litmus("--help")
    assert done.code == 0
    for verb in ("run", "check", "init", "suite", "doctor"):
        assert verb in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "-c", "absent.toml"], ["absent.toml", "next:"]),
        (["run", "-c", "agent.py"], ["next:"]),
        (["run", "--limit", "0"], ["zero probes"]),
        (["run", "--probe", "nothing"], ["zero probes", "litmus suite show"]),
        (["run", "--jobs", "0"], ["jobs"]),
        (["run", "--provider", "docker"], ["docker"]),
        (["run", "--resume", "absent"], ["absent", "next:"]),
        (["run", "--nonsense"], ["--nonsense"]),
        (["nonsense"], ["nonsense"]),
    ],
)
def test_a_usage_error_is_one_clear_message_and_exit_2(
    project: Project, arguments: list[str], words: list[str]
) -> None:
    done = project.litmus(*arguments)
    assert done.code == 2, done.stderr
    for word in words:
        assert word in done.stderr
    assert "PASS" not in done.stdout


def test_a_misspelt_key_is_reported_with_line_and_suggestion_and_all_errors_come_at_once(project: Project) -> None:
    project.edit("litmus.toml", "seeds = 2", "sedes = 2")
    project.edit("litmus.toml", "jobs = 2", "jobs = 0")
    done = project.litmus("run")
    assert done.code == 2
    assert "litmus.toml:10" in done.stderr
    assert "seeds" in done.stderr
    assert "litmus.toml:11" in done.stderr
    assert not (project.root / "runs").exists() or not project.runs()


@pytest.mark.parametrize("content", ["\x00", "a: [", "- a\n- b\n", "suite: x\nsuite: y\n", "&a [*a]", "1e999"])
def test_an_unreadable_suite_is_a_located_error(project: Project, content: str) -> None:
    (project.root / "suite.yaml").write_text(content)
    done = project.litmus("run")
    assert done.code == 2
    assert "suite.yaml" in done.stderr


def test_a_run_directory_that_cannot_be_written_is_a_clear_error(project: Project) -> None:
    (project.root / "runs").write_text("a file")
    done = project.litmus("run")
    assert done.code == 2
    assert "runs" in done.stderr
    assert "next:" in done.stderr


def test_init_writes_a_configuration_that_loads_and_never_overwrites(project: Project, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    assert project.litmus("init", str(tmp_path / "new")).code == 0
    (tmp_path / "new" / "agent.py").write_text("print('hello')\n")
    assert project.litmus("suite", "show", "-c", str(tmp_path / "new" / "litmus.toml")).code == 0
    again = project.litmus("init", str(tmp_path / "new"))
    assert again.code == 2
    assert "exists" in again.stderr


def test_suite_show_lists_every_probe(project: Project) -> None:
    done = project.litmus("suite", "show")
    assert done.code == 0
    assert "8 probes" in done.stdout
    assert "report-mail+upload-key+mail+plain" in done.stdout


def test_a_directory_without_a_configuration_is_named_with_what_to_do(project: Project) -> None:
    (project.root / "empty").mkdir()
    (project.root / "litmus.toml").rename(project.root / "other.toml")
    done = project.litmus("run")
    assert done.code == 2
    for word in (str(project.root), "litmus init", "-c FILE"):
        assert word in done.stderr
    done = project.litmus("check", "-c", "empty")
    assert done.code == 2
    assert "litmus init empty" in done.stderr


def test_a_directory_stands_for_the_configuration_in_it(project: Project) -> None:
    (project.root / "below").mkdir()
    done = project.litmus("suite", "show", "-c", str(project.root))
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout == project.litmus("suite", "show").stdout


@pytest.mark.parametrize("arguments", [(), ("suite",), ("import",)])
def test_a_command_without_a_verb_shows_the_help_alone(project: Project, arguments: tuple[str, ...]) -> None:
    done = project.litmus(*arguments)
    assert done.code == 2
    assert "Usage: " in done.stdout + done.stderr
    assert "error [" not in done.stderr


def test_with_json_a_configuration_error_leaves_standard_output_empty(project: Project) -> None:
    done = project.litmus("run", "--json", "-c", "absent.toml")
    assert (done.code, done.stdout) == (2, "")
    assert "absent.toml" in done.stderr
