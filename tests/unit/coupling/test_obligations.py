from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.coupling.remote import remote_run

from agent_litmus.coupling.evidence import RunEvidence
from agent_litmus.coupling.findings import all_findings
from agent_litmus.coupling.obligations import PROVERS, obligations
from agent_litmus.coupling.table import PROVIDERS, can_pass, obligation_table, render_markdown
from agent_litmus.records.finding import Finding, FindingState, Obligation

DOC = Path(__file__).parents[3] / "docs" / "reference" / "obligations.md"


def remote_findings() -> tuple[Finding, ...]:
    return all_findings(remote_run())


def status_of(obligation: Obligation, findings: tuple[Finding, ...], evidence: RunEvidence) -> tuple[bool, str]:
    found = next(s for s in obligations(findings, evidence) if s.obligation is obligation)
    return found.discharged, found.remedy


def test_an_honest_run_discharges_everything_and_says_by_what(honest: RunEvidence) -> None:
    statuses = obligations(all_findings(honest), honest)
    assert [s.obligation for s in statuses] == list(Obligation)
    assert {s.obligation: s.by for s in statuses} == {
        obligation: PROVERS[obligation][:1] for obligation in Obligation
    }
    assert all(s.discharged and s.remedy == "" for s in statuses)


def test_every_prover_is_a_signal_that_can_discharge_it(honest: RunEvidence) -> None:
    both = all_findings(honest) + all_findings(replace(honest, sampling="deterministic")) + remote_findings()
    proving = {(f.signal, o) for f in both for o in f.discharges}
    assert proving == {(signal, o) for o, signals in PROVERS.items() for signal in signals}


@pytest.mark.parametrize("obligation", Obligation)
@pytest.mark.parametrize(
    "state",
    [FindingState.MISSING, FindingState.ALARM, FindingState.WEAK, FindingState.UNDERPOWERED],
)
def test_a_finding_in_any_other_state_discharges_nothing(
    honest: RunEvidence, obligation: Obligation, state: FindingState
) -> None:
    findings = tuple(
        replace(f, state=state, remedy="mend it") if obligation in f.discharges else f for f in all_findings(honest)
    )
    discharged, remedy = status_of(obligation, findings, honest)
    assert not discharged
    assert "mend it" in remedy


@pytest.mark.parametrize("obligation", Obligation)
def test_without_findings_nothing_is_discharged_and_a_remedy_is_named(
    honest: RunEvidence, obligation: Obligation
) -> None:
    discharged, remedy = status_of(obligation, (), honest)
    assert not discharged
    assert remedy


def test_a_remedy_says_what_was_seen_too(honest: RunEvidence) -> None:
    blind = replace(honest, expected_digest=None)
    _, remedy = status_of(Obligation.IDENTITY, all_findings(blind), blind)
    assert remedy.startswith("the gate was not told")
    assert "-c, or its digest with --digest" in remedy


def test_a_finding_that_was_seen_without_remedy_is_quoted_alone(honest: RunEvidence) -> None:
    findings = (Finding("binding", FindingState.MISSING, "nothing seen"),)
    assert status_of(Obligation.IDENTITY, findings, honest) == (False, "nothing seen")


def test_a_suite_that_owes_no_delivery_is_not_blocked_by_it(honest: RunEvidence) -> None:
    waived = (Finding("delivery", FindingState.NOT_APPLICABLE, "none", discharges=(Obligation.DELIVERY,)),)
    assert status_of(Obligation.DELIVERY, waived, honest)[0]


def test_the_process_provider_leaves_identity_isolation_and_effects_open(honest: RunEvidence) -> None:
    degraded = replace(honest, provider=replace(honest.provider, name="process"))
    statuses = obligations(all_findings(degraded), degraded)
    open_ones = {s.obligation: s.remedy for s in statuses if not s.discharged}
    assert set(open_ones) == {Obligation.IDENTITY, Obligation.ISOLATION, Obligation.EFFECTS}
    assert all(remedy.startswith("use the bubblewrap provider") for remedy in open_ones.values())


@pytest.mark.parametrize("obligation", [Obligation.IDENTITY, Obligation.ISOLATION, Obligation.EFFECTS])
def test_not_even_a_clear_finding_lets_the_process_provider_prove_it(
    honest: RunEvidence, obligation: Obligation
) -> None:
    degraded = replace(honest, provider=replace(honest.provider, name="process"))
    assert not status_of(obligation, all_findings(honest), degraded)[0]


def test_the_table_has_a_row_for_every_obligation_and_provider() -> None:
    rows = obligation_table(targets=("command",))
    assert [(r.provider, r.obligation) for r in rows] == [(p, o) for p in PROVIDERS for o in Obligation]
    assert all(row.why for row in rows)
    assert {r.obligation for r in rows if not r.able} == {
        Obligation.IDENTITY,
        Obligation.ISOLATION,
        Obligation.EFFECTS,
    }
    assert {r.provider for r in rows if not r.able} == {"process"}


def test_a_remote_agent_is_under_no_provider_that_runs_agents_here() -> None:
    rows = obligation_table(targets=("remote",))
    assert [(r.provider, r.obligation) for r in rows] == [("remote", o) for o in Obligation]
    assert all(row.able and row.why for row in rows)
    assert can_pass("remote", "remote")
    assert not any(can_pass(provider, "remote") for provider in PROVIDERS)


def test_an_unknown_kind_of_agent_proves_nothing(honest: RunEvidence) -> None:
    odd = replace(honest, target="unheard-of")
    assert not any(status_of(o, all_findings(honest), odd)[0] for o in Obligation)


def test_the_table_can_be_asked_for_one_configuration() -> None:
    assert {r.provider for r in obligation_table(("process",), ("command",))} == {"process"}
    assert obligation_table(("unheard-of",)) == ()
    assert obligation_table(targets=("unheard-of",)) == ()


def test_only_a_provider_that_can_prove_everything_can_pass() -> None:
    assert can_pass("bubblewrap")
    assert not can_pass("process")
    assert not can_pass("unheard-of")
    assert not can_pass("bubblewrap", "unheard-of")


def test_the_reference_page_shows_the_table_as_it_is() -> None:
    assert render_markdown(obligation_table()) in DOC.read_text(encoding="utf-8")
