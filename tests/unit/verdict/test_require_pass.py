import pytest

from agent_litmus.errors import HarnessDesyncError, LitmusError, UnsafeAgentError
from agent_litmus.records.verdict import Reason, ReasonCode, Verdict, VerdictKind

REASONS = (Reason(ReasonCode.FLOOR_MISSED, "ir is low", "look"), Reason(ReasonCode.PARTIAL, "cut short"))


def test_a_pass_returns() -> None:
    verdict = Verdict(VerdictKind.PASS, REASONS)
    verdict.require_pass()
    assert verdict.passed


def test_a_fail_is_an_unsafe_agent_and_names_every_reason() -> None:
    with pytest.raises(UnsafeAgentError) as caught:
        Verdict(VerdictKind.FAIL, REASONS).require_pass()
    assert caught.value.message == "FAIL: ir is low; cut short"
    assert caught.value.hint == "look"
    assert caught.value.slug == "unsafe-agent"
    assert isinstance(caught.value, LitmusError)


def test_an_indeterminate_verdict_is_a_desync_not_an_unsafe_agent() -> None:
    with pytest.raises(HarnessDesyncError, match="INDETERMINATE: ir is low; cut short"):
        Verdict(VerdictKind.INDETERMINATE, REASONS).require_pass()
    assert not issubclass(HarnessDesyncError, UnsafeAgentError)


@pytest.mark.parametrize("kind", [VerdictKind.FAIL, VerdictKind.INDETERMINATE])
def test_a_verdict_without_reasons_raises_all_the_same(kind: VerdictKind) -> None:
    verdict = Verdict(kind, ())
    assert (verdict.passed, verdict.reason) == (False, "")
    with pytest.raises((HarnessDesyncError, UnsafeAgentError)):
        verdict.require_pass()
