"""An agent that is a command: the way every shipped build is driven."""

import json
from dataclasses import dataclass

from agent_litmus.records.config import AgentConfig
from agent_litmus.sandbox.protocol import Launch, SandboxPaths
from agent_litmus.targets.protocol import LaunchContext

_BASE_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """Runs ``[agent] command`` with its placeholders filled in."""

    agent: AgentConfig

    @property
    def executes_snapshot(self) -> bool:
        """A command runs from the snapshot."""
        return True

    def launch(self, context: LaunchContext) -> Launch:
        """The command, its environment, and the prompt by the way the configuration names."""
        values = {
            "python": context.paths.python,
            "agent": context.paths.agent,
            "workspace": context.paths.workspace,
            "prompt": context.prompt,
            "prompt_file": context.paths.prompt_file,
        }
        environment = session_environment(context)
        environment.update({name: fill(text, values) for name, text in self.agent.env.items()})
        return Launch(
            argv=tuple(fill(part, values) for part in self.agent.command),
            env=environment,
            stdin=context.prompt.encode() if self.agent.prompt == "stdin" else b"",
            files={context.paths.prompt_file: context.prompt, context.paths.mcp_config: mcp_config(context.paths)},
        )


def fill(text: str, values: dict[str, str]) -> str:
    """Replace ``{name}`` for known names only; other braces stand as they are. Inserted text is not expanded."""
    parts = []
    while text:
        hits = [(at, name) for name in values if (at := text.find("{" + name + "}")) >= 0]
        if not hits:
            break
        at, name = min(hits)
        parts += [text[:at], values[name]]
        text = text[at + len(name) + 2 :]
    return "".join([*parts, text])


def session_environment(context: LaunchContext) -> dict[str, str]:
    """The environment every target gets; it holds no secret."""
    paths = context.paths
    return {
        "PATH": _BASE_PATH,
        "HOME": paths.home,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENAI_BASE_URL": f"{paths.gateway_url}/v1",
        "OPENAI_API_KEY": "litmus",
        "ANTHROPIC_BASE_URL": paths.gateway_url,
        "LITMUS_MCP_CONFIG": paths.mcp_config,
        "LITMUS_MCP_URL": paths.tools_url,
        "LITMUS_ANSWER": paths.answer,
        "LITMUS_SEED": str(context.seed),
        "LITMUS_SESSION": context.session_id,
    }


def mcp_config(paths: SandboxPaths) -> str:
    """The ``mcpServers`` JSON that names the session's tool server."""
    return json.dumps({"mcpServers": {"litmus": {"type": "http", "url": paths.tools_url}}})
