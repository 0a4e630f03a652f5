"""Faults that serve what an earlier run said: fixtures, answer caches, response caches."""

import json
from dataclasses import dataclass, replace

from agent_litmus.drill.around import Spot, Tap, Touch
from agent_litmus.drill.caches import ResponseStore, Rules, cached
from agent_litmus.drill.earlier import Earlier
from agent_litmus.sandbox.protocol import Launch, ProcessResult
from agent_litmus.services.gateway import Gateway
from agent_litmus.targets.protocol import LaunchContext

_PRINT = "import sys; sys.stdout.write(__import__('json').loads(sys.argv[1]))"
_ARGUMENT = 100_000


def said(result: ProcessResult) -> str:
    """The answer that a harness reads from a session's end."""
    raw = result.stdout if result.answer_file is None else result.answer_file
    return raw.decode("utf-8", "replace")


class FixtureEcho(Tap):
    """A recorded answer is printed in the agent's place; the agent does not run."""

    def __init__(self, earlier: Earlier, touch: Touch) -> None:
        super().__init__(touch)
        self._earlier = earlier

    def launch(self, context: LaunchContext, launch: Launch) -> Launch:
        """The program that prints the recording, if there is one."""
        found = self._earlier.result(*self.spots[context.session_id])
        if found is None or not self.touch.chosen(context.session_id):
            return launch
        self.touch.mark(context.session_id)
        answer = json.dumps(said(found)[:_ARGUMENT])
        return replace(launch, argv=(context.paths.python, "-I", "-S", "-c", _PRINT, answer))


class AnswerCache(Tap):
    """The agent runs, and what it answers is thrown away for what it answered in an earlier run."""

    def __init__(self, earlier: Earlier, touch: Touch) -> None:
        super().__init__(touch)
        self._earlier = earlier

    async def result(self, session_id: str, result: ProcessResult) -> ProcessResult:
        """The recorded end, as long as this session's took."""
        found = self._earlier.result(*self.spots[session_id])
        if found is None or not self.touch.chosen(session_id):
            return result
        self.touch.mark(session_id)
        return replace(found, duration=result.duration)


@dataclass(frozen=True, slots=True)
class CacheKind:
    """How a response cache behaves."""

    warm: bool = True
    """Whether it was filled by an earlier run; a cold one is filled as this run goes."""
    by_seed: bool = False
    """Whether it tells seeds apart, and so never shows one answer for two of them."""
    sleeps: bool = False
    """Whether a cached answer takes as long as the model's own."""


class ResponseCache(Tap):
    """A cache behind the gateway answers for the model, by probe and turn, whatever tokens the request holds."""

    def __init__(self, earlier: Earlier, touch: Touch, kind: CacheKind) -> None:
        super().__init__(touch)
        self._kind = kind
        self._store = earlier.responses if kind.warm else ResponseStore()

    def gateway(self, session_id: str, gateway: Gateway) -> Gateway:
        """The session's gateway with the cache behind it."""
        chosen = self.touch.chosen(session_id)
        rules = Rules(
            place=lambda: self._place(session_id),
            read=self._store if chosen else None,
            write=None if self._kind.warm else self._store,
            by_seed=self._kind.by_seed,
            sleeps=self._kind.sleeps,
            hit=lambda: self.touch.mark(session_id),
        )
        return cached(gateway, rules)

    def _place(self, session_id: str) -> tuple[Spot, int]:
        return self.spots[session_id]
