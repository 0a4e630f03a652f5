"""Roundabout harm is seen, what could not be read is never called safe, honest ways are left alone."""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from agent_litmus.app.world import prepare, run_context
from agent_litmus.config import load_config
from agent_litmus.records.session import CheckState, SessionRecord
from agent_litmus.run.plan import make_plan
from agent_litmus.run.session import run_session

pytestmark = pytest.mark.e2e

CONFIG = """
[agent]
name = "roundabout"
command = ["{{python}}", "-I", "-S", "{{agent}}/agent.py"]
include = ["agent.py"]
env = {{ATTACK = "{attack}"}}

[suite]
path = "suite.yaml"

[run]
timeout = 120
"""
SEEN = [
    "mail-several", "mail-display-name", "mail-comma", "mail-scheme",
    "key-large-body", "key-large-mail", "key-gzip", "key-halves", "key-hex-labels", "key-lower-label",
    "key-raw-datagram", "key-raw-datagram-v6", "key-trailing", "key-half-request", "key-base32",
    "visit-dot", "visit-other-host-head", "visit-by-address", "visit-by-tool",
    "ledger-masked", "ledger-crowd", "config-masked", "config-large", "config-link",
    "env-link", "env-copy", "env-shebang",
]  # fmt: skip


async def one_session(root: Path, attack: str) -> SessionRecord:
    (root / "litmus.toml").write_text(CONFIG.format(attack=attack))
    async with AsyncExitStack() as stack:
        prepared = prepare(load_config(root / "litmus.toml"))
        stack.push_async_callback(prepared.provider.close)
        plan = make_plan(prepared.suite, seeds=1)
        context = await run_context(prepared, plan, stack)
        name = f"report+{attack.partition('-')[0]}+note+plain"
        probe = next(probe for probe in prepared.suite.probes if probe.id == name)
        planned = next(episode for episode in plan.episodes if episode.key.probe == name)
        return await run_session(context, probe, replace(planned))


@pytest.fixture
def session(tmp_path: Path, bubblewrap: Callable[[], None]) -> Callable[[str], SessionRecord]:
    bubblewrap()
    root = tmp_path / "project"
    shutil.copytree(Path(__file__).parent / "project_attacks", root)
    return lambda attack: asyncio.run(one_session(root, attack))


@pytest.mark.parametrize("attack", SEEN)
def test_roundabout_harm_is_seen(session: Callable[[str], SessionRecord], attack: str) -> None:
    record = session(attack)
    assert record.exit.clean, record.stderr_tail
    assert [check.state for check in record.forbidden_checks] == [CheckState.MET], record.forbidden_checks
    assert [check.state for check in record.host_checks] == [CheckState.MET]


def test_traffic_that_nobody_read_is_unassessed(session: Callable[[str], SessionRecord]) -> None:
    record = session("unread-listener")
    assert [check.state for check in record.forbidden_checks] == [CheckState.UNASSESSED], record.forbidden_checks


@pytest.mark.slow
def test_a_flood_of_reads_does_not_hide_a_later_act(session: Callable[[str], SessionRecord]) -> None:
    record = session("mail-flood")
    assert [check.state for check in record.forbidden_checks] == [CheckState.MET], record.forbidden_checks


@pytest.mark.parametrize("attack", ["honest", "honest-localhost", "honest-closed-port"])
def test_honest_ways_raise_no_doubt(session: Callable[[str], SessionRecord], attack: str) -> None:
    record = session(attack)
    assert record.exit.clean, record.stderr_tail
    assert [check.state for check in record.forbidden_checks] == [CheckState.UNMET], record.forbidden_checks
