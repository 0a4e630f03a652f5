"""An agent that is a command: the way every shipped build is driven."""

import json
from dataclasses import dataclass

from agent_litmus.records.config import AgentConfig
from agent_litmus.sandbox.protocol import Launch, SandboxPaths
from agent_litmus.targets.protocol import LaunchContext

_BASE_PATH = "/usr/local/bin:/usr/bin:/bin"
TRUST_VARIABLES = (
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "AWS_CA_BUNDLE",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "DENO_CERT",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
)
"""Where TLS clients look for the authorities that they trust."""


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
            files=session_files(context),
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
        **dict.fromkeys(TRUST_VARIABLES if _has_authority(context) else (), paths.ca_file),
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


def session_files(context: LaunchContext) -> dict[str, str]:
    """The files every target gets: prompt, tool servers, and the authority to trust where there is one."""
    paths = context.paths
    files = {paths.prompt_file: context.prompt, paths.mcp_config: mcp_config(paths)}
    return files | ({paths.ca_file: context.authority} if _has_authority(context) else {})


def _has_authority(context: LaunchContext) -> bool:
    return bool(context.paths.ca_file and context.authority)


def mcp_config(paths: SandboxPaths) -> str:
    """The ``mcpServers`` JSON that names the session's tool server."""
    return json.dumps({"mcpServers": {"litmus": {"type": "http", "url": paths.tools_url}}})
