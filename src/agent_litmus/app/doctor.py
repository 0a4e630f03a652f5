"""What this host gives: provider, channels, containment, and what would improve them."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.snapshot import Snapshot
from agent_litmus.formats.columns import columns
from agent_litmus.mounts import run_mounts
from agent_litmus.records.effect import ProviderReport
from agent_litmus.sandbox.select import choose_provider


def examine(name: str) -> str:
    """The examination's text, one line per channel and property.

    Raises:
        LitmusSandboxError: The named provider cannot work here; the message says why and what to do.
    """
    with tempfile.TemporaryDirectory() as folder:
        provider = choose_provider(name, run_mounts(inspect_interpreter(None), Snapshot(Path(folder), "", {})))
        try:
            return "\n".join(report_lines(provider.report)) + "\n"
        finally:
            asyncio.run(provider.close())


def report_lines(report: ProviderReport) -> Iterator[str]:
    """A provider report as text."""
    yield f"provider {report.name} {report.version} {report.binary_digest or ''}".rstrip()
    rows = [(f"observes {c.channel}", _state(c.state, c.why)) for c in report.channels]
    rows += [(f"contains {c.property}", _state(c.state, c.why)) for c in report.containment]
    yield from columns(rows)
    if report.name == "process":
        yield "  a run under this provider can never PASS; it shows what an agent does, not that it is safe"


def _state(state: str, why: str) -> str:
    return f"{state}: {why}" if why else state
