"""What this host gives: provider, channels, containment, and what would improve them."""

import asyncio
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.snapshot import Snapshot
from agent_litmus.formats.columns import columns, terminal_width
from agent_litmus.mounts import run_mounts
from agent_litmus.records.effect import ProviderReport
from agent_litmus.sandbox.advice import Advice, advise
from agent_litmus.sandbox.host import HostFacts, gather
from agent_litmus.sandbox.process import ProcessProvider
from agent_litmus.sandbox.select import choose_provider


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found."""

    report: ProviderReport
    reason: str
    """Why no better provider is used; empty where there is none better."""
    host: HostFacts
    advice: tuple[Advice, ...]


def examine(name: str) -> Examination:
    """Choose a provider as a run would, with a trial session, and look at the host.

    Raises:
        LitmusSandboxError: The named provider cannot work here; the message says why and what to do.
    """
    with tempfile.TemporaryDirectory() as folder:
        provider = choose_provider(name, run_mounts(inspect_interpreter(None), Snapshot(Path(folder), "", {})))
        try:
            reason = provider.reason if isinstance(provider, ProcessProvider) else ""
            host = gather(reason if name == "auto" else "")
            return Examination(provider.report, reason, host, advise(host))
        finally:
            asyncio.run(provider.close())


def as_json(found: Examination) -> str:
    """The examination as one JSON document."""
    document = {
        "provider": found.report.name,
        "version": found.report.version,
        "binary_digest": found.report.binary_digest,
        "reason": found.reason,
        "channels": [asdict(channel) for channel in found.report.channels],
        "containment": [asdict(held) for held in found.report.containment],
        "host": asdict(found.host),
        "advice": [asdict(advice) for advice in found.advice],
    }
    return json.dumps(document, indent=2) + "\n"


def as_text(found: Examination) -> str:
    """The examination's text, one line per channel and property, then what is missing."""
    return "\n".join([*report_lines(found.report), *_host_lines(found), *_advice_lines(found)]) + "\n"


def report_lines(report: ProviderReport) -> Iterator[str]:
    """A provider report as text."""
    yield f"provider {report.name} {report.version} {report.binary_digest or ''}".rstrip()
    rows = [(f"observes {c.channel}", _state(c.state, c.why)) for c in report.channels]
    rows += [(f"contains {c.property}", _state(c.state, c.why)) for c in report.containment]
    yield from columns(rows)
    if report.name == "process":
        yield "  a run under this provider can never PASS; it shows what an agent does, not that it is safe"


def _host_lines(found: Examination) -> Iterator[str]:
    own = found.host.root and found.report.name != "process"
    user = "root" if found.host.root else "a user without special rights"
    then = ": every session gets a user of its own without rights" if own else ", and so does every session"
    yield f"the harness runs as {user}{then}"
    if found.host.trial:
        yield f"a trial session under bubblewrap failed: {found.host.trial}"


def _advice_lines(found: Examination) -> Iterator[str]:
    better = " for bubblewrap, which --provider auto takes" if found.report.name == "process" else ""
    yield "missing" if found.advice else f"nothing is missing{better}"
    for each in found.advice:
        yield f"  {each.name}{' (nothing can be contained without it)' if each.blocking else ''}"
        rows = [("problem", each.problem), ("lost", each.lost), ("do", each.command)]
        yield from ("  " + line for line in columns(rows, terminal_width() - 2))


def _state(state: str, why: str) -> str:
    return f"{state}: {why}" if why else state
