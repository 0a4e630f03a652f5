"""From what the configuration says the agent is made of to its digest."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec

from agent_litmus.build.editable import EditableTree, editable_trees
from agent_litmus.build.environment import distribution_components, runtime_components
from agent_litmus.build.files import Selection, entry_digest, hash_file, select, unreadable
from agent_litmus.build.git import git_state
from agent_litmus.build.interpreter import Interpreter, inspect_interpreter
from agent_litmus.build.secrets import find_secret
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.config import AgentConfig, ModelConfig
from agent_litmus.records.digest import digest_of

SCHEMA_VERSION = 1


def compute_build(agent: AgentConfig, interpreter: Interpreter | None = None) -> AgentBuild:
    """The identity of the agent as it lies on disk now.

    No times, absolute paths or secrets enter the digest: touching files, moving the checkout or computing it again
    gives the same one.

    Args:
        agent: What the agent is made of.
        interpreter: The result of ``inspect_interpreter(agent.python)``, where it is known already.

    Raises:
        LitmusConfigError: A file of the agent is missing, unreadable, of a kind that cannot be copied, or holds a
            secret; or its interpreter cannot be used.
    """
    try:
        return _compute(agent, interpreter or inspect_interpreter(agent.python))
    except OSError as error:  # a file vanished or cannot be read
        raise unreadable(Path(error.filename or agent.root), error) from error


def _compute(agent: AgentConfig, interpreter: Interpreter) -> AgentBuild:
    _refuse_spoken_secrets(agent)
    selection = agent_files(agent)
    _refuse_missing_prompts(agent, selection)
    trees = editable_trees(interpreter)
    components = tree_components("files", selection)
    for tree in trees:
        components |= tree_components(editable_prefix(tree), editable_files(agent, tree))
    weights = _weights_digest(agent.model)
    components |= declared_components(agent, weights)
    components |= runtime_components(interpreter)
    components |= distribution_components(interpreter, trees)
    return AgentBuild(
        digest=build_digest(components),
        components=components,
        model=_model_facts(agent.model, weights),
        git=git_state(agent.root),
        schema_version=SCHEMA_VERSION,
    )


def build_digest(components: Mapping[str, str]) -> str:
    """The digest over component digests."""
    return digest_of({"schema": SCHEMA_VERSION, "components": dict(components)})


def agent_files(agent: AgentConfig) -> Selection:
    """The agent's own files; raises as :func:`compute_build` does."""
    if not agent.root.is_dir():
        raise LitmusConfigError(
            f"[agent] root: {agent.root} is not a directory", hint="correct the path", slug="build-root"
        )
    return select(agent.root, agent.include, agent.exclude)


def editable_files(agent: AgentConfig, tree: EditableTree) -> Selection:
    """The files of an editable install's tree; ``[agent] exclude`` counts where the tree lies below the root."""
    return select(tree.path, skip=_excluded(agent))


def editable_prefix(tree: EditableTree) -> str:
    """Component prefix of a tree's files."""
    return f"editable/{tree.name}"


def tree_components(prefix: str, selection: Selection) -> dict[str, str]:
    """``<prefix>/<path>`` to digest for each entry."""
    return {f"{prefix}/{entry.path}": entry_digest(selection.root, entry) for entry in selection.entries}


def declared_components(agent: AgentConfig, weights: str | None = None) -> dict[str, str]:
    """Digests of what the configuration says; ``weights`` is the digest of the model's weights file."""
    model = agent.model
    return {
        "command": digest_of([_portable(part, agent) for part in agent.command]),
        "prompt": digest_of({"mode": agent.prompt, "system_prompts": list(agent.system_prompts)}),
        "env": digest_of({name: _portable(value, agent) for name, value in agent.env.items()}),
        "sampling": digest_of(agent.sampling),
        "model": digest_of(
            {
                "id": model.id,
                "revision": model.revision,
                "sampling": _sampling(model),
                "weights": weights,
            }
        ),
    }


def _portable(text: str, agent: AgentConfig) -> str:
    """``text`` without the place the agent happens to lie at."""
    places = ((agent.python, "{python}"), (agent.root, "{agent}"))
    for place, placeholder in places:
        if place is not None:
            text = re.sub(re.escape(str(place)) + r"(?![\w.-])", placeholder, text)
    return text


def _sampling(model: ModelConfig) -> dict[str, Any]:
    return {str(name): value for name, value in model.sampling.items()}


def _weights_digest(model: ModelConfig) -> str | None:
    if model.weights is None:
        return None
    try:
        return hash_file(model.weights)
    except OSError as error:
        raise unreadable(model.weights, error) from error


def _model_facts(model: ModelConfig, weights: str | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"id": model.id, "revision": model.revision, "sampling": _sampling(model)}
    if model.weights is not None and weights is not None:
        # The id is only an alias for these bytes: anyone may name another file the same.
        facts |= {"alias": model.id, "weights": model.weights.name, "weights_digest": weights}
    return facts


def _excluded(agent: AgentConfig) -> Callable[[Path], bool]:
    spec = GitIgnoreSpec.from_lines(agent.exclude)
    root = agent.root.resolve()
    return lambda path: path.is_relative_to(root) and spec.match_file(path.relative_to(root).as_posix())


def _refuse_missing_prompts(agent: AgentConfig, selection: Selection) -> None:
    held = {entry.path for entry in selection.entries}
    for name in agent.system_prompts:
        if name not in held:
            raise LitmusConfigError(
                f"[agent] system_prompts: {name!r} is not among the agent's files below {agent.root}",
                hint="correct the name, or let include and exclude keep the file",
                slug="build-system-prompt",
            )


def _refuse_spoken_secrets(agent: AgentConfig) -> None:
    for where, value in (("env", dict(agent.env)), ("command", list(agent.command))):
        rule = find_secret(json.dumps(value).encode())
        if rule:
            raise LitmusConfigError(
                f"[agent] {where}: holds what looks like a secret (rule {rule})",
                hint="revoke it; the gateway adds the model key itself: name its variable under "
                "[agent.model] api_key_env",
                slug="build-secret",
            )
