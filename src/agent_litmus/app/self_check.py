"""The exam of a sandbox provider on this host: which provider, with which interpreter, shown how."""

import importlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.snapshot import Snapshot
from agent_litmus.errors import LitmusConfigError, LitmusError
from agent_litmus.exam.case import Case
from agent_litmus.exam.cases import ALL
from agent_litmus.exam.result import CaseResult, ExamResult
from agent_litmus.exam.run import examine_now
from agent_litmus.formats.columns import columns
from agent_litmus.formats.hostile import one_line
from agent_litmus.mounts import run_mounts
from agent_litmus.sandbox.protocol import Provider, RunMounts
from agent_litmus.sandbox.select import choose_provider

_LONGEST = 400


def self_check(
    name: str, names: Sequence[str] = (), done: Callable[[CaseResult], None] | None = None
) -> ExamResult:
    """Put a provider through the exam.

    Args:
        name: ``auto``, ``bubblewrap``, ``process``, or ``package.module:factory`` for somebody else's: a callable
            that takes the run's mounts and gives a provider.
        names: Names of the cases to run; none: all.
        done: Called after every case.

    Raises:
        LitmusConfigError: No such case, or no such factory.
        LitmusSandboxError: The provider cannot work here.
    """
    cases = chosen(names)
    with tempfile.TemporaryDirectory(prefix="litmus-exam-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "agent.py").write_text("print('the agent')\n")
        mounts = run_mounts(inspect_interpreter(None), Snapshot(root, "", {}))
        return examine_now(_provider(name, mounts), cases, done)


def chosen(names: Sequence[str]) -> tuple[Case, ...]:
    """The cases of these names, in the exam's order; all where none is named.

    Raises:
        LitmusConfigError: A name is unknown.
    """
    unknown = sorted(set(names) - {case.name for case in ALL})
    if unknown:
        raise LitmusConfigError(
            f"the exam has no case {', '.join(map(repr, unknown))}",
            hint=f"choose from {', '.join(case.name for case in ALL)}",
            slug="unknown-case",
        )
    return tuple(case for case in ALL if not names or case.name in names)


def _provider(name: str, mounts: RunMounts) -> Provider:
    if ":" not in name:
        return choose_provider(name, mounts)
    module, _, attribute = name.partition(":")
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise LitmusConfigError(
            f"--provider {name!r}: {error}",
            hint="name a callable that can be imported, as package.module:factory (from here: PYTHONPATH=.)",
        ) from error
    try:
        provider: Provider = factory(mounts)
        provider.report.enforces("")
    except LitmusError:
        raise
    except Exception as error:
        raise LitmusConfigError(
            f"--provider {name!r}: made no provider of the run's mounts: {type(error).__name__}: {error}",
            hint="name a callable that takes the mounts and gives a provider (docs/how-to/write-a-provider.md)",
        ) from error
    return provider


def as_document(result: ExamResult) -> dict[str, Any]:
    """The result for machines."""
    report = result.provider
    return {
        "provider": report.name,
        "version": report.version,
        "binary_digest": report.binary_digest,
        "ok": result.ok,
        "channels": [asdict(channel) for channel in report.channels],
        "containment": [asdict(held) for held in report.containment],
        "cases": [asdict(case) for case in result.cases],
    }


def as_json(result: ExamResult) -> str:
    """:func:`as_document` as text."""
    return json.dumps(as_document(result), indent=1) + "\n"


def lines(result: ExamResult) -> Iterator[str]:
    """The result for people."""
    report = result.provider
    yield f"provider {one_line(report.name)} {one_line(report.version)} {report.binary_digest or ''}".rstrip()
    yield from columns((case.name, _said(case)) for case in result.cases)
    held = sum(case.contained for case in result.cases)
    seen = sum(case.observed for case in result.cases)
    bad = [case.name for case in result.cases if not case.ok]
    yield f"{len(result.cases)} cases: {held} contained, {seen} observed, {len(bad)} not as the provider declares"
    if bad:
        yield f"not ok: {', '.join(bad)}"


def _said(case: CaseResult) -> str:
    words = ["ok" if case.ok else "NOT OK", "contained" if case.contained else "not contained"]
    words.append("observed" if case.observed else "not observed")
    return f"{', '.join(words)}: {one_line(case.detail, _LONGEST)}"
