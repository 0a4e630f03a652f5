"""What the schema cannot say: keys that depend on each other, on files and on the environment."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from agent_litmus.config.history_url import expanded_url
from agent_litmus.config.places import absolute, builtin_suites, expand, interpreter_path
from agent_litmus.config.remote import remote_problems
from agent_litmus.config.schema import AgentTable, HistoryTable, ModelTable, SuiteTable, WeightsFrom
from agent_litmus.config.weights import find_weights
from agent_litmus.located import KeyPath, suggest

Problem: TypeAlias = tuple[KeyPath, str]

PLACEHOLDERS = ("python", "agent", "workspace", "prompt", "prompt_file")
_WHOLE = re.compile(r"\{([A-Za-z_]+)\}(?:/.*)?")
_DATED = re.compile(
    r"(?:19|20)\d\d-?(?:0\d|1[0-2])-?[0-3]\d|-(?:0\d|1[0-2])[0-3]\d(?!\d)|-2\d(?:0[1-9]|1[0-2])(?!\d)"
)
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LONGEST_REF = 500
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/")


def agent_problems(agent: AgentTable, base: Path, environment: Mapping[str, str]) -> Iterator[Problem]:
    """Problems of ``[agent]`` without its model."""
    if agent.url is not None:
        yield from remote_problems(agent, environment)
    elif agent.command is not None:
        yield from _command_problems(agent, agent.command, base)


def _command_problems(agent: AgentTable, command: list[str], base: Path) -> Iterator[Problem]:
    root = absolute(base, agent.root)
    if not root.is_dir():
        yield ("agent", "root"), f"{root} is not a directory"
        return
    yield from _python_problems(agent, base)
    for number, part in enumerate(command):
        for problem in _part_problems(part, root, first=number == 0):
            yield ("agent", "command", number), problem
    yield from _prompt_problems(agent, command)
    for number, name in enumerate(agent.system_prompts):
        place = absolute(root, name)
        if not place.is_relative_to(root) or not place.is_file():
            yield ("agent", "system_prompts", number), f"{name!r} is not a file below {root}"


def _python_problems(agent: AgentTable, base: Path) -> Iterator[Problem]:
    if agent.python is None:
        return
    path = interpreter_path(base, agent.python)
    if path is None or not path.is_file() or not os.access(path, os.X_OK):
        where = path or "on PATH"
        yield (
            ("agent", "python"),
            f"there is no executable {agent.python!r} ({where}); make the environment, or correct it",
        )


def _part_problems(part: str, root: Path, *, first: bool) -> Iterator[str]:
    whole = _WHOLE.fullmatch(part)
    if whole and whole[1] not in PLACEHOLDERS:
        yield f"unknown placeholder {{{whole[1]}}}{suggest(whole[1], PLACEHOLDERS)}"
    elif part.startswith("{agent}/"):
        yield from _own_file_problems(part, root, first=first)
    elif "{" not in part and (inner := _below(root, part)):
        yield f"{part!r} is a file of the agent, which starts in its workspace; write '{{agent}}/{inner}'"
    elif first and "{" not in part:
        yield from _program_problems(part)


def _own_file_problems(part: str, root: Path, *, first: bool) -> Iterator[str]:
    place = root / part.removeprefix("{agent}/")
    if "{" in str(place.relative_to(root)):
        return
    if not place.exists():
        yield f"{place} does not exist"
    elif first and not os.access(place, os.X_OK):
        yield f"{place} is not executable; chmod +x it, or start it with its interpreter, such as '{{python}}'"


def _below(root: Path, part: str) -> str:
    place = absolute(root, part)
    try:
        inside = place != root and place.is_relative_to(root) and place.is_file()
    except (OSError, ValueError):  # too long or odd for a path, so it is none
        return ""
    return place.relative_to(root).as_posix() if inside else ""


def _program_problems(part: str) -> Iterator[str]:
    if part.startswith("/") and not part.startswith(_SYSTEM):
        yield f"{part} cannot be seen in the sandbox; put it in root and write '{{agent}}/…', or use '{{python}}'"
    elif shutil.which(part, path=_SYSTEM_PATH) is None:
        yield f"there is no program {part!r} in {_SYSTEM_PATH}"


def _prompt_problems(agent: AgentTable, command: list[str]) -> Iterator[Problem]:
    needs = {"argv": "{prompt}", "file": "{prompt_file}"}
    for way, placeholder in needs.items():
        stands = any(placeholder in part for part in command)
        if agent.prompt == way and not stands:
            yield ("agent", "command"), f"prompt = '{way}' needs {placeholder} in the command"
        if agent.prompt != way and stands:
            yield ("agent", "prompt"), f"the command holds {placeholder}, so this must be '{way}'"


def model_problems(model: ModelTable, base: Path, environment: Mapping[str, str]) -> Iterator[Problem]:
    """Problems of ``[agent.model]``."""
    at: KeyPath = ("agent", "model")
    if not model.id and (model.base_url or model.serve or model.weights or model.revision):
        yield at, "a model needs its 'id', as the agent asks for it"
    if model.id and not (model.revision or model.weights or _DATED.search(model.id)):
        yield (
            (*at, "id"),
            f"{model.id!r} may mean another model tomorrow; use a dated id, or say under 'revision' what pins it",
        )
    if model.base_url and model.serve:
        yield (*at, "serve"), "give 'base_url' or 'serve', not both"
    if model.serve and not any("{port}" in part for part in model.serve):
        yield (*at, "serve"), "the command needs {port}, the port to listen on"
    if model.base_url:
        yield from (((*at, "base_url"), text) for text in _url_problems(model.base_url, environment))
    if model.weights is not None:
        yield from (((*at, "weights"), text) for text in _weights_problems(model.weights, base))
    elif any("{weights}" in part for part in model.serve):
        yield (*at, "serve"), "{weights} needs the key 'weights'"


def _url_problems(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    try:
        url = urlsplit(expand(text, environment))
        host, _ = url.hostname, url.port
    except ValueError as error:
        yield str(error)
        return
    if url.scheme not in {"http", "https"} or not host:
        yield "must start with http:// or https:// and name a host"
    if url.username or url.password:
        yield "must hold no user or password; name the key's variable under 'api_key_env'"
    if url.query or url.fragment:
        yield "must end with its path, such as /v1"


def _weights_problems(weights: str | WeightsFrom, base: Path) -> Iterator[str]:
    if isinstance(weights, str):
        if not absolute(base, weights).is_file():
            yield f"{absolute(base, weights)} is not a file"
        return
    try:
        find_weights(weights)
    except ValueError as error:
        yield str(error)


def suite_problems(suite: SuiteTable, base: Path) -> Iterator[Problem]:
    """Problems of ``[suite]``."""
    if (suite.path is None) == (suite.builtin is None):
        yield ("suite",), "give exactly one of 'path' and 'builtin'"
    elif suite.path is not None and not absolute(base, suite.path).exists():
        yield ("suite", "path"), f"{absolute(base, suite.path)} does not exist"
    elif suite.builtin is not None and suite.builtin not in builtin_suites():
        yield (
            ("suite", "builtin"),
            f"no suite {suite.builtin!r} comes with litmus{suggest(suite.builtin, builtin_suites())}",
        )


def history_problems(history: HistoryTable, base: Path, environment: Mapping[str, str]) -> Iterator[Problem]:
    """Problems of ``[history]``."""
    try:
        expanded_url(history.url, base, environment)
    except ValueError as error:
        yield ("history", "url"), str(error)
    try:
        ref = expand(history.ref, environment)
    except ValueError as error:
        yield ("history", "ref"), str(error)
        return
    if not ref.isprintable() or len(ref) > _LONGEST_REF:
        yield ("history", "ref"), f"is no name of a branch or tag: {ref[:40]!r}"
