"""An agent behind a URL: what it is asked in a session."""

import secrets
from dataclasses import dataclass

from agent_litmus.receipts import NONCE
from agent_litmus.sandbox.protocol import Launch
from agent_litmus.targets.protocol import LaunchContext
from agent_litmus.targets.wire import question


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """Posts the prompt to ``url``; :class:`agent_litmus.targets.remote.RemoteProvider` carries it there."""

    url: str

    @property
    def executes_snapshot(self) -> bool:
        """Nothing of a remote agent is run here."""
        return False

    def launch(self, context: LaunchContext) -> Launch:
        """The request: its method and URL in place of a command, its nonce in place of an environment."""
        nonce = secrets.token_hex(16)
        body = question(
            prompt=context.prompt,
            session=context.session_id,
            nonce=nonce,
            seed=context.seed,
            tools_url=context.paths.tools_url,
        )
        return Launch(argv=("POST", self.url), env={NONCE: nonce}, stdin=body)
