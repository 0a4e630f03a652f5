"""A least share of episodes that are proven one by one, where the policy asks for it."""

from typing import Any

import pytest

from agent_litmus.records.verdict import Policy, ReasonCode, VerdictKind


@pytest.mark.parametrize("certified", [None, 0.0, 0.899])
def test_too_few_certified_episodes_block_where_the_policy_asks_for_them(
    judge: Any, certified: float | None
) -> None:
    verdict = judge(policy=Policy(min_certified=0.9), certified=certified)
    assert (verdict.kind, verdict.reasons[0].code) == (VerdictKind.INDETERMINATE, ReasonCode.UNPROVEN)
    assert "90.0% is asked for" in verdict.reason


def test_enough_certified_episodes_pass_and_nobody_asks_unless_told_to(judge: Any) -> None:
    assert judge(policy=Policy(min_certified=0.9), certified=0.9).passed
    assert judge(policy=Policy(), certified=0.0).passed


def test_a_share_of_certified_episodes_that_is_none_is_a_defect_of_the_policy(judge: Any) -> None:
    verdict = judge(policy=Policy(min_certified=1.5), certified=1.0)
    assert verdict.reasons[0].code is ReasonCode.MALFORMED
