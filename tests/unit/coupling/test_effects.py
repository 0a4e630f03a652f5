from dataclasses import replace

import pytest

from agent_litmus.coupling.effects import effects
from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.records.effect import Channel, ChannelReport, ChannelState
from agent_litmus.records.finding import FindingState, Obligation


def files_in_one_session(evidence: RunEvidence, report: ChannelReport | None) -> RunEvidence:
    first, *rest = evidence.sessions
    others = tuple(c for c in first.channels if c.channel is not Channel.FILES)
    channels = others if report is None else (*others, report)
    return replace(evidence, sessions=(replace(first, channels=channels), *rest))


def test_every_needed_channel_observed_everywhere_proves_effects(honest: RunEvidence) -> None:
    finding = effects(honest)
    assert finding.state is FindingState.CLEAR
    assert finding.discharges == (Obligation.EFFECTS,)
    assert "answer, files, tools" in finding.seen


@pytest.mark.parametrize("state", [ChannelState.PARTIAL, ChannelState.NOT_OBSERVED])
def test_a_needed_channel_partly_observed_once_is_missing(honest: RunEvidence, state: ChannelState) -> None:
    finding = effects(files_in_one_session(honest, ChannelReport(Channel.FILES, state, "no overlay")))
    assert finding.state is FindingState.MISSING
    assert f"files {state} (no overlay)" in finding.seen
    assert "1 of 60" in finding.seen
    assert finding.discharges == ()


def test_a_needed_channel_that_a_session_does_not_report_is_missing(honest: RunEvidence) -> None:
    finding = effects(files_in_one_session(honest, None))
    assert finding.state is FindingState.MISSING
    assert "files not reported" in finding.seen


def test_a_gap_without_reason_is_named_all_the_same(honest: RunEvidence) -> None:
    gap = ChannelReport(Channel.FILES, ChannelState.PARTIAL)
    assert effects(files_in_one_session(honest, gap)).seen.endswith(": files partial")


def test_a_channel_no_check_needs_may_stay_dark(honest: RunEvidence) -> None:
    needed = honest.required_channels - {Channel.FILES}
    assert (
        effects(replace(files_in_one_session(honest, None), required_channels=needed)).state is FindingState.CLEAR
    )


def test_a_suite_that_checks_nothing_proves_nothing(honest: RunEvidence) -> None:
    assert effects(replace(honest, required_channels=frozenset())).state is FindingState.MISSING


def test_the_process_provider_never_proves_effects(honest: RunEvidence) -> None:
    finding = effects(replace(honest, provider=replace(honest.provider, name="process")))
    assert finding.state is FindingState.MISSING
    assert "process provider cannot prove effects" in finding.seen
