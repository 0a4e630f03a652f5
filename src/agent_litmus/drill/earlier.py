"""An earlier run, recorded at the seams: what stale reports, fixtures and caches serve again."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agent_litmus.app.history import prior_run
from agent_litmus.app.judge import Measured
from agent_litmus.app.seams import Seams
from agent_litmus.drill.around import Spot, Tap
from agent_litmus.drill.bench import Workbench, forget
from agent_litmus.drill.caches import ResponseStore, Rules, cached
from agent_litmus.formats.json_report import report_json
from agent_litmus.records.effect import Channel
from agent_litmus.records.history import PriorRun
from agent_litmus.records.report import Report
from agent_litmus.records.session import SessionRecord
from agent_litmus.sandbox.protocol import ProcessResult
from agent_litmus.services.gateway import Gateway


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an honest earlier run left."""

    measured: Measured
    report: Report
    results: Mapping[Spot, Mapping[int, ProcessResult]]
    """Spot and seed to what the agent printed."""
    responses: ResponseStore

    def prior(self) -> PriorRun:
        """It as a history keeps it."""
        return prior_run(self.measured.config, self.report, report_json(self.report), at=0.0)

    def result(self, spot: Spot, seed: int) -> ProcessResult | None:
        """What the agent printed at this spot under this seed, if it ended well."""
        found = self.results.get(spot, {}).get(seed)
        return found if found is not None and found.exit.clean else None

    def record(self, key: str) -> SessionRecord | None:
        """The record of an episode."""
        return next((record for record in self.measured.records if str(record.key) == key), None)

    def tool_results(self, probe: str) -> tuple[tuple[str, str], ...]:
        """Tool and result of every call that the first session of a probe made."""
        records = [r for r in self.measured.records if r.key.probe == probe]
        calls = [e for r in records[:1] for e in r.effects if e.channel is Channel.TOOLS and e.action == "call"]
        return tuple((str(e.detail.get("tool", "")), str(e.detail.get("result", ""))) for e in calls)


@dataclass(slots=True)
class _Kept:
    measured: list[Measured] = field(default_factory=list)

    def __call__(self, measured: Measured) -> Measured:
        self.measured.append(measured)
        return measured


class _Recorder(Tap):
    def __init__(self) -> None:
        super().__init__()
        self.results: dict[Spot, dict[int, ProcessResult]] = {}
        self.responses = ResponseStore()

    async def result(self, session_id: str, result: ProcessResult) -> ProcessResult:
        spot, seed = self.spots[session_id]
        self.results.setdefault(spot, {}).setdefault(seed, result)
        return result

    def gateway(self, session_id: str, gateway: Gateway) -> Gateway:
        return cached(gateway, Rules(lambda: self.spots[session_id], read=None, write=self.responses))


def record_earlier(bench: Workbench, seams: Seams | None = None) -> Earlier:
    """Run once, honestly, and keep everything that a careless harness could serve again.

    Args:
        bench: Where to run.
        seams: Other seams of that run, e.g. another build's ``prepare``.
    """
    recorder, kept = _Recorder(), _Kept()
    outcome = bench.run(replace(seams or Seams(), context=recorder.context, measured=kept))
    forget(outcome)
    return Earlier(kept.measured[0], outcome.report, recorder.results, recorder.responses)
