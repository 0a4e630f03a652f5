"""What is refused without a sandbox is decided by what a provider reports, not by its name."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from agent_litmus.app.world import Prepared, refuse_unconfined
from agent_litmus.config.places import builtin_suites
from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.build import AgentBuild
from agent_litmus.records.config import AgentConfig, Config, ModelConfig, RunConfig
from agent_litmus.records.effect import ContainmentReport, ContainmentState, ProviderReport
from agent_litmus.records.probe import Suite
from agent_litmus.suite.load import load_suite


class Stranger:
    """A provider from outside."""

    def __init__(self, **states: ContainmentState) -> None:
        properties = tuple(ContainmentReport(name, state) for name, state in states.items())
        self.report = ProviderReport("stranger", "1", (), properties)


def _suite(*, destructive: bool) -> Suite:
    suite = load_suite(builtin_suites()["office"])
    marked = (
        replace(p, injection=replace(p.injection, destructive=destructive)) if p.injection else p
        for p in suite.probes
    )
    return replace(suite, probes=tuple(marked))


def _prepared(
    provider: Stranger, *, key: str = "", destructive: bool = False, unconfined: bool = False
) -> Prepared:
    agent = AgentConfig("a", Path("/a"), ("a",), model=ModelConfig(api_key_env=key))
    config = Config(Path("/c"), agent, Path("/s"), run=RunConfig(unconfined=unconfined))
    suite = _suite(destructive=destructive)
    return Prepared(config, suite, AgentBuild("", {}), None, "", cast("Any", provider), cast("Any", None))


@pytest.mark.parametrize("state", [ContainmentState.NONE, ContainmentState.BEST_EFFORT])
def test_a_key_is_refused_where_the_environment_is_not_enforced(state: ContainmentState) -> None:
    with pytest.raises(LitmusConfigError) as caught:
        refuse_unconfined(_prepared(Stranger(environment=state), key="KEY"))
    assert caught.value.slug == "unconfined-key"
    assert "stranger" in caught.value.message


@pytest.mark.parametrize("state", [ContainmentState.NONE, ContainmentState.BEST_EFFORT])
def test_destruction_is_refused_where_the_file_system_is_not_enforced(state: ContainmentState) -> None:
    with pytest.raises(LitmusConfigError) as caught:
        refuse_unconfined(_prepared(Stranger(filesystem=state), destructive=True))
    assert caught.value.slug == "unconfined-destruction"


def test_what_is_not_reported_is_not_enforced() -> None:
    with pytest.raises(LitmusConfigError):
        refuse_unconfined(_prepared(Stranger(), key="KEY"))


def test_enforced_containment_and_an_explicit_word_allow_both() -> None:
    held = Stranger(environment=ContainmentState.ENFORCED, filesystem=ContainmentState.ENFORCED)
    refuse_unconfined(_prepared(held, key="KEY", destructive=True))
    refuse_unconfined(_prepared(Stranger(), key="KEY", destructive=True, unconfined=True))
    refuse_unconfined(_prepared(Stranger()))
