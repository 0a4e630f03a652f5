import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_litmus.build.manifest import compute_build
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.build import changed_components
from agent_litmus.records.config import AgentConfig, ModelConfig
from agent_litmus.records.digest import is_digest


def test_every_digest_is_well_formed(agent: AgentConfig) -> None:
    build = compute_build(agent)
    assert is_digest(build.digest)
    assert all(is_digest(digest) for digest in build.components.values())


def _edit(name: str) -> Callable[[AgentConfig], AgentConfig]:
    def edit(agent: AgentConfig) -> AgentConfig:
        path = agent.root / name
        path.write_text(path.read_text() + "# changed\n")
        return agent

    return edit


def _model(**changes: object) -> Callable[[AgentConfig], AgentConfig]:
    return lambda agent: replace(agent, model=replace(agent.model, **changes))  # type: ignore[arg-type]


CHANGES: dict[str, tuple[Callable[[AgentConfig], AgentConfig], tuple[str, ...]]] = {
    "helper module": (_edit("helper.py"), ("files/helper.py",)),
    "prompt file": (_edit("prompts/system.md"), ("files/prompts/system.md",)),
    "tool description": (_edit("tools/send.json"), ("files/tools/send.json",)),
    "model id": (_model(id="other-2024-01-01"), ("model",)),
    "model revision": (_model(revision="r2"), ("model",)),
    "temperature": (_model(sampling={"temperature": 0.4}), ("model",)),
    "command": (lambda a: replace(a, command=(*a.command, "--fast")), ("command",)),
    "environment": (lambda a: replace(a, env={"MODE": "fast"}), ("env",)),
    "prompt mode": (lambda a: replace(a, prompt="file"), ("prompt",)),
    "sampling kind": (lambda a: replace(a, sampling="deterministic"), ("sampling",)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_what_the_agent_is_made_of_changes_the_digest_and_is_named(
    agent: AgentConfig, name: str
) -> None:
    change, named = CHANGES[name]
    before = compute_build(agent)
    after = compute_build(change(agent))
    assert before.digest != after.digest
    assert changed_components(before, after) == named


def test_the_executable_bit_is_part_of_the_digest(agent: AgentConfig) -> None:
    before = compute_build(agent)
    (agent.root / "helper.py").chmod(0o755)
    assert changed_components(before, compute_build(agent)) == ("files/helper.py",)


def test_an_added_file_and_a_removed_file_are_named(agent: AgentConfig) -> None:
    before = compute_build(agent)
    (agent.root / "new.py").write_text("")
    (agent.root / "helper.py").unlink()
    assert changed_components(before, compute_build(agent)) == ("files/helper.py", "files/new.py")


def test_touching_times_changes_nothing(agent: AgentConfig) -> None:
    before = compute_build(agent)
    for path in agent.root.rglob("*"):
        os.utime(path, (1, 1))
    assert compute_build(agent) == before


def test_computing_it_twice_gives_the_same(agent: AgentConfig) -> None:
    assert compute_build(agent) == compute_build(agent)


def test_moving_the_checkout_changes_nothing(agent: AgentConfig, tmp_path: Path) -> None:
    agent = replace(agent, env={"DATA": f"{agent.root}/tools"}, command=(*agent.command, f"{agent.root}/helper.py"))
    before = compute_build(agent)
    moved = tmp_path / "elsewhere" / "deep"
    shutil.move(agent.root, moved)
    old = str(agent.root)
    after = replace(
        agent,
        root=moved,
        env={"DATA": agent.env["DATA"].replace(old, str(moved))},
        command=tuple(part.replace(old, str(moved)) for part in agent.command),
    )
    assert compute_build(after).digest == before.digest


def test_working_directory_and_umask_change_nothing(
    agent: AgentConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = compute_build(agent)
    other = tmp_path / "copy"
    monkeypatch.chdir(tmp_path)
    old = os.umask(0o077)
    try:
        for path in sorted(agent.root.rglob("*")):
            target = other / path.relative_to(agent.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_file():
                target.write_bytes(path.read_bytes())
    finally:
        os.umask(old)
    assert compute_build(replace(agent, root=other)).digest == before.digest


def test_an_env_file_is_never_a_component(agent: AgentConfig) -> None:
    assert not [name for name in compute_build(agent).components if ".env" in name]


def test_weights_are_known_by_their_bytes_and_the_id_is_an_alias(agent: AgentConfig, tmp_path: Path) -> None:
    weights = tmp_path / "w.gguf"
    weights.write_bytes(b"GGUF1")
    agent = replace(agent, model=ModelConfig(id="local", weights=weights))
    before = compute_build(agent)
    assert before.model["alias"] == "local"
    assert is_digest(before.model["weights_digest"])
    weights.write_bytes(b"GGUF2")
    assert changed_components(before, compute_build(agent)) == ("model",)


def test_missing_weights_are_an_error_that_names_the_file(agent: AgentConfig, tmp_path: Path) -> None:
    with pytest.raises(LitmusConfigError, match=r"absent\.gguf"):
        compute_build(replace(agent, model=ModelConfig(id="local", weights=tmp_path / "absent.gguf")))


def test_a_missing_root_is_an_error(agent: AgentConfig, tmp_path: Path) -> None:
    with pytest.raises(LitmusConfigError, match="is not a directory"):
        compute_build(replace(agent, root=tmp_path / "absent"))


def test_a_system_prompt_outside_the_snapshot_is_an_error(agent: AgentConfig) -> None:
    with pytest.raises(LitmusConfigError, match=r"prompts/system\.md"):
        compute_build(replace(agent, exclude=("prompts/",)))


def test_a_secret_in_the_environment_or_command_is_refused(agent: AgentConfig) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    with pytest.raises(LitmusConfigError, match="aws-access-key"):
        compute_build(replace(agent, env={"X": key}))
    with pytest.raises(LitmusConfigError, match="aws-access-key"):
        compute_build(replace(agent, command=("run", key)))


def test_a_path_that_only_begins_like_the_root_stays_as_it_is(agent: AgentConfig) -> None:
    plain = compute_build(replace(agent, env={"DIR": f"{agent.root}-other"}))
    placeholder = compute_build(replace(agent, env={"DIR": "{agent}-other"}))
    assert plain.digest != placeholder.digest


def test_git_state_stands_beside_the_digest_and_not_in_it(agent: AgentConfig) -> None:
    build = compute_build(agent)
    assert build.git is None
    assert not [name for name in build.components if "git" in name]
