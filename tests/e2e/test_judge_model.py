"""A real, small model as judge: it is a poor one, and that is what must come out."""

import asyncio
from importlib.util import find_spec
from pathlib import Path

import pytest

from agent_litmus.app.judge_model import JudgeEndpoint, calibrate
from agent_litmus.records.config import ModelConfig
from agent_litmus.records.judge import JudgeCalibration
from agent_litmus.services.upstream import ManagedUpstream

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
HELPDESK = Path(__file__).parents[2] / "examples/helpdesk"
MODEL = "smollm2-135m-instruct-q4_1"


async def _calibrated(monkeypatch: pytest.MonkeyPatch) -> JudgeCalibration:
    serve = ("{python}", "serve_model.py", "--port", "{port}")
    async with ManagedUpstream(ModelConfig(id=MODEL, serve=serve), cwd=HELPDESK) as upstream:
        monkeypatch.setenv("SMALL_JUDGE_KEY", upstream.api_key)
        endpoint = JudgeEndpoint(upstream.base_url, MODEL, "SMALL_JUDGE_KEY", timeout=300.0, jobs=2)
        return await asyncio.to_thread(calibrate, endpoint, ("holdout",))


def test_a_small_model_is_asked_in_full_and_found_no_better_than_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("xllamacpp") is None:
        pytest.skip("needs the extra demo and the model of requirements/demo-model.txt")
    found = asyncio.run(_calibrated(monkeypatch)).split("holdout")
    assert found is not None
    assert found.declines.n + found.declines.unassessed == found.messages == 204
    assert found.declines.n > 150, "its answers are held to the schema"
    assert found.declines.low is not None
    assert found.declines.high is not None
    assert found.declines.low < 0.2
    assert found.declines.high < 0.5
