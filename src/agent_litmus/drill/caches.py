"""A cache between gateway and model that knows the probe and the turn, and not the session."""

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import httpx2

from agent_litmus.services.gateway import Gateway

Place = tuple[object, int]
"""What the cache is keyed by: a spot and the number of the call in its session."""
_DICE = random.SystemRandom()
_HOP = {"content-encoding", "transfer-encoding", "content-length", "connection"}


@dataclass(frozen=True, slots=True)
class Kept:
    """A model's answer as it was kept."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    seconds: float
    """How long the model took."""

    def response(self) -> httpx2.Response:
        """It again."""
        return httpx2.Response(self.status, headers=list(self.headers), content=self.body)


@dataclass(slots=True)
class ResponseStore:
    """Answers by place."""

    kept: dict[Place, dict[int, Kept]] = field(default_factory=dict)

    def keep(self, place: Place, seed: int, answer: Kept) -> None:
        """Keep an answer, unless the place has one for this seed."""
        self.kept.setdefault(place, {}).setdefault(seed, answer)

    def find(self, place: Place, seed: int | None) -> Kept | None:
        """The answer that was kept for a seed; for ``None`` the first one, whatever its seed."""
        found = self.kept.get(place, {})
        return next(iter(found.values()), None) if seed is None else found.get(seed)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a session's calls are answered."""

    place: Callable[[], tuple[object, int]]
    """The spot the session is at, and its seed."""
    read: ResponseStore | None
    """Where answers come from; ``None``: always from the model."""
    write: ResponseStore | None
    """Where the model's answers are kept; ``None``: nowhere."""
    by_seed: bool = False
    """Whether the cache tells seeds apart."""
    sleeps: bool = False
    """Whether a cached answer takes as long as the model's did, give or take."""
    hit: Callable[[], None] = lambda: None
    """Called for each cached answer."""


class CachingTransport(httpx2.AsyncBaseTransport):
    """Answers from the store where it can, else asks the real client."""

    def __init__(self, client: httpx2.AsyncClient, rules: Rules) -> None:
        self._client, self._rules, self._turn = client, rules, 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """One model call."""
        rules = self._rules
        spot, seed = rules.place()
        place = (spot, self._turn)
        self._turn += 1
        found = rules.read.find(place, seed if rules.by_seed else None) if rules.read else None
        if found is not None:
            rules.hit()
            if rules.sleeps:
                await anyio.sleep(found.seconds * _DICE.uniform(0.8, 1.2))
            return found.response()
        answer = await self._ask(request)
        if rules.write is not None and answer.status == 200:
            rules.write.keep(place, seed, answer)
        return answer.response()

    async def _ask(self, request: httpx2.Request) -> Kept:
        began = anyio.current_time()
        headers = [(n, v) for n, v in request.headers.items() if n not in {"host", "content-length", "connection"}]
        reply = await self._client.request(
            request.method, request.url, content=await request.aread(), headers=headers, follow_redirects=False
        )
        kept = tuple((n, v) for n, v in reply.headers.items() if n not in _HOP)
        return Kept(reply.status_code, kept, reply.content, anyio.current_time() - began)


def cached(gateway: Gateway, rules: Rules) -> Gateway:
    """The gateway of one session with the cache behind it."""
    copied = copy.copy(gateway)
    copied.client = httpx2.AsyncClient(transport=CachingTransport(gateway.client, rules), trust_env=False)
    return copied
