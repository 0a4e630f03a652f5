"""The model gateway: forwards a session's chat completions to one upstream and keeps a receipt of each.

It is no open relay. One method and path, one model, caps on calls, tokens and sizes, no redirects, no cookies, the
agent's own credentials dropped. Requests are forwarded byte for byte and never repeated.
"""

import http.cookiejar
import json
import secrets
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import anyio
import httpx2
from starlette.types import Receive, Scope, Send

from agent_litmus.records.config import ModelConfig
from agent_litmus.records.session import ModelCall
from agent_litmus.services.completion import Completion
from agent_litmus.services.exchange import Answer, exchange
from agent_litmus.services.recorder import Clock, clip, session_clock
from agent_litmus.services.request import ChatRequest, RefusedError, parse
from agent_litmus.services.scrub import Scrubber

RECEIPT_HEADER = "x-litmus-receipt"
CHAT = ("POST", "/v1/chat/completions")
MODELS = ("GET", "/v1/models")
_FORWARDED = {b"content-type", b"accept"}
KEPT_REFUSALS = 1000
"""Most refused requests of one session that are recorded one by one."""
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def upstream_client(upstream: str, *, timeout: float = 120.0) -> httpx2.AsyncClient:
    """The HTTP client a gateway needs: no redirects, no cookies, no retries.

    Args:
        upstream: Base URL of the upstream; a loopback one is never reached through the environment's proxy.
        timeout: Longest silence of the upstream, in seconds, before the call fails.
    """
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout, connect=min(timeout, 10.0)),
        # Idle connections are dropped before common servers drop theirs: a request is never repeated, so one
        # sent into a connection the upstream is just closing would be lost.
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=2.0),
        trust_env=urlsplit(upstream).hostname not in _LOOPBACK,
    )


class Gateway:
    """What all sessions of a run share.

    Args:
        upstream: Base URL ending in ``/v1``; empty when there is none (every call is then refused with 503).
        api_key: The upstream's key; never shown to agents, scrubbed from answers and records.
        model: The one model agents may ask for, and the caps per session.
        client: See :func:`upstream_client`; the caller closes it. It is made to keep no cookies: they would tie
            sessions together.
        max_request: Largest request body in bytes.
        max_response: Largest answer in bytes.
        hidden: Further secrets of the harness that must stand in no record.
    """

    def __init__(
        self,
        upstream: str,
        api_key: str | None,
        model: ModelConfig,
        client: httpx2.AsyncClient,
        *,
        max_request: int = 8 << 20,
        max_response: int = 32 << 20,
        hidden: tuple[str, ...] = (),
    ) -> None:
        self.url = f"{upstream.rstrip('/')}/chat/completions" if upstream else ""
        self.model = model
        self.client = client
        client.cookies.jar.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        self.scrubber = Scrubber(api_key, *hidden)
        self.max_request = max_request
        self.max_response = max_response
        self._key = api_key

    def session(self, session_id: str, *, clock: Clock | None = None) -> "GatewaySession":
        """The gateway of one session, with its own receipts and caps; ``clock`` measures the calls' durations."""
        return GatewaySession(self, session_id, clock or session_clock())

    def headers(self, scope: Scope) -> dict[str, str]:
        """Headers for the upstream: two of the agent's, the real key, nothing else."""
        headers = {n.decode("latin-1"): v.decode("latin-1") for n, v in scope["headers"] if n in _FORWARDED}
        headers |= {"accept-encoding": "identity", "user-agent": "agent-litmus"}
        return headers | ({"authorization": f"Bearer {self._key}"} if self._key else {})


class _GoneError(Exception):
    """The agent is gone; there is no one to answer."""


@dataclass(slots=True)
class _Receipt:
    """A call being made."""

    id: str
    request: ChatRequest = field(default_factory=lambda: ChatRequest(b""))
    answer: Answer = field(default_factory=Answer)
    started: float | None = None
    """When the request was forwarded; never for a refused one."""

    def close(self, scrubber: Scrubber, text_limit: int, now: float) -> ModelCall:
        """The finished record."""
        completion = self.answer.completion
        return ModelCall(
            id=self.id,
            model=clip(self.request.model, 256),
            status=self.answer.status,
            request_digest=self.request.digest,
            response_digest=completion.digest,
            request_text=clip(self.request.text, text_limit),
            response_text=scrubber.text(completion.text),
            duration=0.0 if self.started is None else now - self.started,
            error=scrubber.text(self.answer.error),
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
        )


class GatewaySession:
    """One session's gateway.

    Args:
        gateway: What the run's sessions share.
        session_id: Names the session.
        clock: Monotonic seconds.
    """

    def __init__(self, gateway: Gateway, session_id: str, clock: Clock) -> None:
        self.session_id = session_id
        self._clock = clock
        self._gateway = gateway
        self._calls: list[ModelCall] = []
        self._admitted = 0
        self._refused = 0
        self.count = 0
        """Requests received, refused ones included; equals ``len(calls)`` unless a flood of refusals was cut."""
        self.tokens = 0
        """Tokens used so far: the upstream's figure, or an estimate of four bytes each where it gives none."""

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """Receipts of finished calls, in the order they finished."""
        return tuple(self._calls)

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        if (scope["method"], scope["path"]) == MODELS:
            await Answer(200, self._models()).send(send)
            return
        self.count += 1
        receipt = _Receipt(secrets.token_hex(16))
        receipt.answer.headers[RECEIPT_HEADER] = receipt.id
        keep, text_limit = True, 64 * 1024
        try:
            await self._serve(receipt, scope, receive, send)
        except RefusedError as refusal:
            self._refused += 1
            keep, text_limit = self._refused <= KEPT_REFUSALS, 4 * 1024
            await receipt.answer.refuse(refusal, send)
        except _GoneError:
            receipt.answer.error = "the agent closed the connection before its request was complete"
        finally:
            # Also on cancellation: a call the session's end cut off is a call.
            receipt.answer.error = receipt.answer.error or receipt.answer.unfinished()
            if keep:
                self._calls.append(receipt.close(self._gateway.scrubber, text_limit, self._clock()))

    def _models(self) -> bytes:
        models = [{"id": self._gateway.model.id, "object": "model", "created": 0, "owned_by": "upstream"}]
        return json.dumps({"object": "list", "data": models if self._gateway.model.id else []}).encode()

    async def _serve(self, receipt: _Receipt, scope: Scope, receive: Receive, send: Send) -> None:
        if (scope["method"], scope["path"]) != CHAT or scope["query_string"]:
            shown = clip(f"{scope['method']} {scope['path']}", 200)
            raise RefusedError(
                404, "not_allowed", f"The gateway serves POST {CHAT[1]} and GET {MODELS[1]}, not {shown}."
            )
        receipt.request = parse(await _read(receive, self._gateway.max_request))
        self._admit(receipt.request)
        self._admitted += 1
        receipt.started = self._clock()
        try:
            await self._forward(receipt, scope, receive, send)
        finally:
            self.tokens += _used(receipt.request, receipt.answer.completion)

    async def _forward(self, receipt: _Receipt, scope: Scope, receive: Receive, send: Send) -> None:
        gateway, answer = self._gateway, receipt.answer
        headers = gateway.headers(scope)
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                if not answer.complete:
                    answer.error = answer.error or "the agent closed the connection before the answer was complete"
                group.cancel_scope.cancel()

            group.start_soon(watch)
            await exchange(gateway, receipt.request.body, headers, answer, send)
            group.cancel_scope.cancel()

    def _admit(self, request: ChatRequest) -> None:
        model = self._gateway.model
        if not self._gateway.url:
            raise RefusedError(503, "no_upstream", "This run has no model upstream ([agent.model] base_url).")
        if request.why:
            raise RefusedError(400, "bad_body", f"The request body is not usable JSON: {request.why}.")
        if not model.id or request.model != model.id:
            asked = clip(request.model, 200)
            raise RefusedError(404, "model_not_found", f"This run allows only {model.id!r}, not {asked!r}.")
        if self._admitted >= model.max_calls:
            raise RefusedError(429, "call_cap", f"This session has made its {model.max_calls} model calls.")
        if self.tokens >= model.max_tokens:
            raise RefusedError(429, "token_cap", f"Used {self.tokens} of the session's {model.max_tokens} tokens.")


def _used(request: ChatRequest, completion: Completion) -> int:
    if completion.tokens or not completion.generated:
        return completion.tokens
    return (len(request.body) + len(completion.text)) // 4


async def _read(receive: Receive, limit: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        body += message.get("body", b"")
        if len(body) > limit:
            raise RefusedError(413, "too_large", f"The request body is larger than {limit} bytes.")
        if not message.get("more_body", False):
            return bytes(body)
