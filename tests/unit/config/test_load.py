import os
import shutil
from pathlib import Path

import pytest

from agent_litmus.build.files import select
from agent_litmus.config import load_config
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.config import AgentConfig, ModelConfig, RunConfig
from agent_litmus.records.verdict import Policy
from agent_litmus.suite.load import load_suite

from .conftest import MINIMAL, Writer, problems


def test_a_minimal_file_gets_the_documented_defaults(write: Writer, tmp_path: Path) -> None:
    config = load_config(write(MINIMAL))
    assert config.source == tmp_path / "litmus.toml"
    assert config.suite == tmp_path / "suite.yaml"
    assert config.gate == Policy()
    assert config.run == RunConfig(output=tmp_path / "runs")
    assert config.formats == ("json",)
    assert config.agent == AgentConfig(
        name="desk", root=tmp_path / "agent", command=("{python}", "{agent}/agent.py")
    )


FULL = """\
[agent]
name = "desk"
root = "agent"
command = ["{python}", "{agent}/agent.py", "{prompt}"]
include = ["*.py", "*.md"]
exclude = ["drafts/"]
prompt = "argv"
sampling = "deterministic"
system_prompts = ["./system.md"]
env = { MODE = "fast", MAX_TOKENS = "20", TOKENIZERS_PARALLELISM = "false" }

[agent.model]
id = "gpt-4o-2024-05-13"
sampling = { temperature = 0.3, top_k = 40, stop = ["END"] }
base_url = "https://${UPSTREAM_HOST}/v1/"
api_key_env = "UPSTREAM_KEY"
max_tokens = 1000
max_calls = 5

[suite]
path = "suite.yaml"

[run]
seeds = 3
repeats = 2
jobs = 4
run_seed = 9
provider = "process"
timeout = 30
memory_mb = 512
output = "out"
unconfined = true

[gate]
floors = { ir = 0.9, sr = 0.2 }
category_floors = { exfiltration = { ir = 1.0 } }
ceilings = { cor = 0.1 }
max_unassessed = 0.05
confidence = 0.95
alpha = 0.05

[report]
formats = ["json"]
"""


def test_every_key_reaches_the_record(write: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTREAM_HOST", "models.example")
    config = load_config(write(FULL))
    assert config.agent == AgentConfig(
        name="desk",
        root=tmp_path / "agent",
        command=("{python}", "{agent}/agent.py", "{prompt}"),
        include=("*.py", "*.md"),
        exclude=("drafts/",),
        prompt="argv",
        sampling="deterministic",
        system_prompts=("system.md",),
        env={"MODE": "fast", "MAX_TOKENS": "20", "TOKENIZERS_PARALLELISM": "false"},
        model=ModelConfig(
            id="gpt-4o-2024-05-13",
            sampling={"temperature": 0.3, "top_k": 40, "stop": ["END"]},
            base_url="https://models.example/v1",
            api_key_env="UPSTREAM_KEY",
            max_tokens=1000,
            max_calls=5,
        ),
    )
    assert config.run == RunConfig(3, 2, 4, 9, "process", 30, 512, tmp_path / "out", unconfined=True)
    assert config.gate == Policy(
        floors={"ir": 0.9, "u1": 0.5, "sr": 0.2},
        category_floors={"exfiltration": {"ir": 1.0}},
        ceilings={"cor": 0.1},
        max_unassessed=0.05,
        confidence=0.95,
        alpha=0.05,
    )


def test_overrides_take_the_place_of_keys_present_or_absent(write: Writer) -> None:
    path = write(MINIMAL)
    config = load_config(path, {"run.jobs": 7, "agent.name": "other", "gate.floors.ir": 0.5})
    assert (config.run.jobs, config.agent.name) == (7, "other")
    assert config.gate.floors == {"ir": 0.5, "u1": 0.5}


def test_a_bad_override_is_the_command_lines_error(write: Writer) -> None:
    found = problems(write(MINIMAL + "[run]\njobs = 2\n"), run__jobs=0)
    assert found == ["command line: $.run.jobs: should be greater than or equal to 1, not 0"]


def test_an_unknown_override_is_the_command_lines_error_with_a_suggestion(write: Writer) -> None:
    assert problems(write(MINIMAL), run__job=1) == [
        "command line: $.run.job: unknown field 'job'; did you mean 'jobs'?"
    ]


def test_every_error_is_reported_at_once_with_its_line_and_a_suggestion(write: Writer) -> None:
    found = problems(
        write(
            '[agent]\nname = "x"\nroot = "agent"\ncomand = ["a"]\n'
            '[suite]\npath = "absent.yaml"\n'
            "[run]\nseeds = 0\njobs = true\n"
            "[gate]\nfloors = { ir = nan, u2 = 1 }\n[runn]\n"
        )
    )
    assert [line.split(": ", 2)[:2] for line in found] == [
        ["litmus.toml:1", "$.agent"],
        ["litmus.toml:4", "$.agent.comand"],
        ["litmus.toml:6", "$.suite.path"],
        ["litmus.toml:8", "$.run.seeds"],
        ["litmus.toml:9", "$.run.jobs"],
        ["litmus.toml:11", "$.gate.floors.ir"],
        ["litmus.toml:11", "$.gate.floors.u2"],
        ["litmus.toml:12", "$.runn"],
    ]
    assert "did you mean 'command'?" in found[1]
    assert "did you mean 'run'?" in found[-1]


def test_a_missing_file_and_broken_toml_are_errors(write: Writer, tmp_path: Path) -> None:
    with pytest.raises(LitmusConfigError, match="no such file"):
        load_config(tmp_path / "absent.toml")
    with pytest.raises(LitmusConfigError, match="not valid TOML"):
        load_config(write("[agent\n"))


def test_paths_start_at_the_files_directory(write: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(MINIMAL)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    config = load_config(Path("../litmus.toml"))
    assert config.agent.root == tmp_path / "agent"
    assert config.source == tmp_path / "litmus.toml"


def test_a_virtual_environments_python_keeps_its_own_path(write: Writer, tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/sh")
    text = MINIMAL.replace("[suite]", 'python = "venv/bin/python"\n[suite]')
    assert load_config(write(text)).agent.python == python


def test_an_interpreter_given_by_name_is_looked_up(write: Writer) -> None:
    text = MINIMAL.replace("[suite]", 'python = "sh"\n[suite]')
    assert load_config(write(text)).agent.python == Path(str(shutil.which("sh")))


def test_the_builtin_suite_is_found(write: Writer) -> None:
    text = MINIMAL.replace('path = "suite.yaml"', 'builtin = "office"')
    assert load_config(write(text)).suite.stem == "office"


def test_weights_in_a_distribution_are_found_without_importing_it(write: Writer) -> None:
    text = MINIMAL + (
        '[agent.model]\nid = "local"\nweights = { distribution = "pydantic", file = "pydantic/py.typed" }\n'
        'serve = ["{python}", "serve.py", "{weights}", "{port}"]\n'
    )
    model = load_config(write(text)).agent.model
    assert model.weights is not None
    assert model.weights.is_file()
    assert model.serve == ("{python}", "serve.py", str(model.weights), "{port}")


def test_suite_results_and_configurations_below_the_root_are_no_part_of_the_agent(
    write: Writer, tmp_path: Path
) -> None:
    text = MINIMAL.replace('root = "agent"', 'root = "."').replace("{agent}/agent.py", "{agent}/agent/agent.py")
    path = write(text + '[run]\noutput = "out [1]"\n')
    (tmp_path / "hardened.toml").write_text(text)
    (tmp_path / "settings.toml").write_text("[tool]\nx = 1\n")
    (tmp_path / "out [1]").mkdir()
    (tmp_path / "out [1]" / "journal.jsonl").write_text("{}")
    agent = load_config(path).agent
    names = [entry.path for entry in select(agent.root, agent.include, agent.exclude).entries]
    assert names == ["agent/agent.py", "agent/system.md", "settings.toml"]


def test_a_pipe_beside_the_configuration_or_in_its_place_is_not_opened(write: Writer, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "other.toml")
    path = write(MINIMAL)
    assert load_config(path).agent.name == "desk"
    (tmp_path / "suite.yaml").unlink()
    os.mkfifo(tmp_path / "suite.yaml")
    with pytest.raises(LitmusConfigError, match=r"suite\.yaml"):
        load_suite(load_config(path).suite)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(LitmusConfigError, match="not a regular file"):
        load_config(path)
