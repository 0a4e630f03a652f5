"""The harness faults: each injected at the real pipeline's own seams, never by writing findings."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent_litmus.app.seams import Seams
from agent_litmus.drill.around import Tap, Touch
from agent_litmus.drill.builds import OtherBuild, served_instead
from agent_litmus.drill.earlier import Earlier
from agent_litmus.drill.leaks import ConversationReuse, CrashAsRefusal, WorkspaceReuse
from agent_litmus.drill.mocked_tools import MockedTools
from agent_litmus.drill.paperwork import result_cache, skipper
from agent_litmus.drill.replays import AnswerCache, CacheKind, FixtureEcho, ResponseCache
from agent_litmus.drill.scene import Scene
from agent_litmus.records.report import Report

Run = Callable[[Scene, Touch], Report]
"""One run with the fault in it, and the report as the gate judges it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A way in which a harness stops measuring the agent that ships."""

    name: str
    what: str
    """What goes wrong, one sentence."""
    expected: frozenset[str]
    """Signals whose alarm, or obligations whose lack, means that this fault was seen and not something else."""
    run: Run
    share: float = 1.0
    """Share of the sessions it is tried on."""
    lacks: Callable[[Scene], str] = lambda _scene: ""
    """Why it does not apply to a configuration; empty if it does."""


def _tapped(make: Callable[[Scene, Touch], Tap]) -> Run:
    def run(scene: Scene, touch: Touch) -> Report:
        return scene.report(Seams(context=make(scene, touch).context))

    return run


def _cached(kind: CacheKind) -> Run:
    return _tapped(lambda scene, touch: ResponseCache(scene.earlier, touch, kind))


def _served(which: Callable[[Scene], OtherBuild]) -> Run:
    def run(scene: Scene, touch: Touch) -> Report:
        touch.mark("all")
        return scene.report(Seams(prepare=served_instead(scene.bench, which(scene))))

    return run


def _results(which: Callable[[Scene], Earlier]) -> Run:
    def run(scene: Scene, touch: Touch) -> Report:
        earlier = which(scene)
        return scene.report(Seams(runner=lambda runner: result_cache(earlier, touch, runner)))

    return run


def _skipped(scene: Scene, touch: Touch) -> Report:
    return scene.report(Seams(runner=lambda runner: skipper(touch, runner)))


def _stale(scene: Scene, touch: Touch) -> Report:
    touch.mark("all")
    return scene.gate(scene.earlier_build.report)


def _partly(scene: Scene, touch: Touch) -> Report:
    """A response cache where there is a model; else a cache of answers."""
    if scene.has_model:
        return _cached(CacheKind(by_seed=True, sleeps=True))(scene, touch)
    return _tapped(lambda s, t: AnswerCache(s.earlier, t))(scene, touch)


def _no_model(scene: Scene) -> str:
    return "" if scene.has_model else "the agent calls no model through the gateway; answer-cache stands in for it"


def _no_helper(scene: Scene) -> str:
    return "" if scene.has_helper else "the agent has no file besides those its command names"


_IDENTITY = frozenset({"binding", "identity"})
_REPLAY = frozenset(
    {
        "freshness", "stale_tokens", "borrowed_tokens", "session_reuse", "seed_invariance", "replication",
        "receipts", "repeats", "fixture_pinning", "latency", "watermarks", "calibration",
    }
)  # fmt: skip
_ANSWERS = _REPLAY | {"accounting"}
_RESULTS = frozenset({"accounting", "stale_report", "isolation", "freshness"})
_LEAK = frozenset({"session_reuse", "leak_pairs", "context_growth", "isolation"})
_CRASH = _IDENTITY | {"accounting", "delivery", "missing_effects", "watermarks", "isolation"}
_TOOLS = frozenset({"delivery", "missing_effects", "watermarks", "effects", "accounting"})

FAULTS: tuple[Fault, ...] = (
    Fault(
        "stale-report",
        "the report of an earlier build is judged as this build's",
        _IDENTITY | {"stale_report"},
        _stale,
    ),
    Fault(
        "stale-records",
        "the records of an earlier build's run are taken for this run's",
        _IDENTITY | _RESULTS,
        _results(lambda scene: scene.earlier_build),
    ),
    Fault(
        "result-cache",
        "a cache of whole results, keyed by episode, serves an earlier run of the same build",
        _RESULTS,
        _results(lambda scene: scene.earlier),
    ),
    Fault(
        "fixture-echo",
        "recorded answers are printed instead of running the agent",
        _IDENTITY | _REPLAY | {"delivery"},
        _tapped(lambda scene, touch: FixtureEcho(scene.earlier, touch)),
    ),
    Fault(
        "fixture-echo-part",
        "the same for a quarter of the sessions",
        _IDENTITY | _REPLAY,
        _tapped(lambda scene, touch: FixtureEcho(scene.earlier, touch)),
        share=0.25,
    ),
    Fault(
        "answer-cache",
        "the agent runs, and its answers are thrown away for those of an earlier run",
        _ANSWERS,
        _tapped(lambda scene, touch: AnswerCache(scene.earlier, touch)),
    ),
    Fault(
        "response-cache",
        "a cache behind the gateway, keyed by probe and turn, answers from an earlier run",
        _REPLAY,
        _cached(CacheKind()),
        lacks=_no_model,
    ),
    Fault(
        "response-cache-cold",
        "the same cache, empty at the start: the second seed is given the first one's responses",
        _REPLAY,
        _cached(CacheKind(warm=False)),
        lacks=_no_model,
    ),
    Fault(
        "response-cache-slow",
        "a cache that takes as long as the model did",
        _REPLAY,
        _cached(CacheKind(sleeps=True)),
        lacks=_no_model,
    ),
    Fault(
        "response-replay",
        "a cache that takes as long as the model did and tells seeds apart",
        _REPLAY,
        _cached(CacheKind(by_seed=True, sleeps=True)),
        lacks=_no_model,
    ),
    Fault("wrong-build", "another build's snapshot is mounted", _IDENTITY, _served(lambda scene: scene.other)),
    Fault(
        "helper-changed",
        "a helper module was changed after the digest was taken; the entry file is the same",
        _IDENTITY,
        _served(lambda scene: scene.helper),
        lacks=_no_helper,
    ),
    Fault(
        "workspace-reuse",
        "what one session leaves in its workspace is there in the next",
        _LEAK,
        _tapped(lambda _scene, touch: WorkspaceReuse(touch)),
    ),
    Fault(
        "context-leak",
        "one conversation per worker: every prompt comes after all that was said before",
        _LEAK,
        _tapped(lambda _scene, touch: ConversationReuse(touch)),
    ),
    Fault(
        "tools-mocked",
        "the agent's tools are a server of canned answers; the real one is never asked",
        _TOOLS | _REPLAY,
        _tapped(lambda scene, touch: MockedTools(scene.earlier, touch)),
    ),
    Fault(
        "skipped-as-refusal",
        "a quarter of the injected episodes is never run and booked as refused",
        _IDENTITY | {"isolation", "accounting"},
        _skipped,
        share=0.25,
    ),
    Fault(
        "crash-as-refusal",
        "the agent dies at its start, and the harness answers for it that it refused",
        _CRASH,
        _tapped(lambda _scene, touch: CrashAsRefusal(touch)),
    ),
    Fault(
        "crash-as-refusal-part",
        "the same in a quarter of the sessions",
        _CRASH,
        _tapped(lambda _scene, touch: CrashAsRefusal(touch)),
        share=0.25,
    ),
)
"""Every fault, in the order of the table."""

UNRECORDED = "unrecorded"
"""Ends the name of what is judged without a history."""
_PARTIAL = Fault("", "{} % of the sessions are answered from a cache, at the model's pace", _ANSWERS, _partly)
PARTIAL: tuple[Fault, ...] = (
    *(
        replace(_PARTIAL, name=f"partial-{percent:02d}", what=_PARTIAL.what.format(percent), share=percent / 100)
        for percent in (5, 10, 25, 50)
    ),
    replace(
        _PARTIAL,
        name=f"partial-25-{UNRECORDED}",
        what="the same for 25 %, where no history knows of the run that filled the cache",
        share=0.25,
        run=lambda scene, touch: _partly(scene.without_history(), touch),
    ),
)
"""Partial coupling; its power depends on how many sessions it touches, and on what the history knows."""

ALL = FAULTS + PARTIAL
"""Every fault by name, for ``--fault``."""
