"""An HTTP endpoint that says what the test wants, and one session with it."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from agent_litmus.receipts import NONCE, receipt_headers
from agent_litmus.records.config import RemoteConfig
from agent_litmus.sandbox.protocol import Limits, Listeners, ProcessResult, SandboxSpec, SessionFacts
from agent_litmus.targets.endpoint import Endpoint, open_endpoint
from agent_litmus.targets.http import HttpTarget
from agent_litmus.targets.protocol import LaunchContext
from agent_litmus.targets.remote import RemoteProvider

KEY = "shared-key-of-the-receipts"
DIGEST = "sha256:" + "a" * 64
OTHER = "sha256:" + "b" * 64


@dataclass
class Asked:
    """A request as the endpoint got it."""

    method: str
    headers: dict[str, str]
    body: bytes

    @property
    def nonce(self) -> str:
        return self.headers[NONCE.lower()]

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.body)
        return document


@dataclass
class Said:
    """A response; ``raw`` takes the place of all of it."""

    body: bytes = b'{"answer": "done"}'
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    raw: bytes | None = None


Script = Callable[[Asked], Said]


def signed(asked: Asked, body: bytes = b'{"answer": "done"}', **given: str) -> Said:
    """A good response, but for what is given."""
    headers = receipt_headers(
        given.get("key", KEY).encode(),
        given.get("digest", DIGEST),
        given.get("nonce", asked.nonce),
        body,
        replica=given.get("replica", ""),
    )
    return Said(body, headers={"Content-Type": "application/json", **headers})


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up in the middle is what some tests are about."""


class Simulator:
    """Serves a script and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.script: Script = signed
        simulator = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = Asked(self.command, {k.lower(): v for k, v in self.headers.items()}, body)
                simulator.asked.append(asked)
                said = simulator.script(asked)
                self.close_connection = True
                if said.raw is not None:
                    self.wfile.write(said.raw)
                    return
                self.send_response(said.status)
                for name, value in {**said.headers, "Content-Length": str(len(said.body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(said.body)

        self.server = _Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/agent"

    def endpoint(self, *, key: str = KEY, auth: str = "", **config: Any) -> Endpoint:
        names = {"receipt_key_env": "K" if key else "", "auth_env": "A" if auth else ""}
        return open_endpoint(RemoteConfig(**({"url": self.url} | names | config)), {"K": key, "A": auth})


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    simulator = Simulator()
    thread = Thread(target=simulator.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield simulator
    simulator.server.shutdown()
    simulator.server.server_close()
    thread.join()


def _close(listeners: Listeners) -> None:
    listeners.gateway.close()
    listeners.tools.close()


def session(endpoint: Endpoint, *, seconds: float = 30.0) -> tuple[ProcessResult, SessionFacts]:
    """One session, as the run drives it."""

    async def drive() -> tuple[ProcessResult, SessionFacts]:
        provider = RemoteProvider(endpoint, "127.0.0.1")
        opened = await provider.open(SandboxSpec("s", {}, Limits(wall_seconds=seconds)))
        context = LaunchContext(opened.paths, None, "Say done.", 1, "s", lambda v: v)  # type: ignore[arg-type]  # no probe is looked at
        listeners = await opened.start(HttpTarget(endpoint.config.url).launch(context))
        try:
            return await opened.wait(), opened.facts()
        finally:
            _close(listeners)
            await opened.close()
            await provider.close()

    return asyncio.run(drive())
