"""Whether drills can be held here."""

import asyncio
from collections.abc import Callable

import pytest

from agent_litmus.build.interpreter import inspect_interpreter
from agent_litmus.build.snapshot import Snapshot
from agent_litmus.errors import LitmusError
from agent_litmus.mounts import run_mounts
from agent_litmus.sandbox.select import choose_provider


@pytest.fixture(scope="session")
def bubblewrap(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], None]:
    """Skips, with the reason, where bubblewrap cannot work."""
    mounts = run_mounts(inspect_interpreter(None), Snapshot(tmp_path_factory.mktemp("snapshot"), "", {}))
    why = ""
    try:
        asyncio.run(choose_provider("bubblewrap", mounts).close())
    except LitmusError as error:
        why = error.message

    def need() -> None:
        if why:
            pytest.skip(f"bubblewrap does not work here: {why}")

    return need
