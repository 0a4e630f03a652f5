from dataclasses import replace

import pytest

from agent_litmus.records.verdict import Policy, ReasonCode
from agent_litmus.verdict.policy import gate_name, gated, policy_defects, unreachable_floors

NAN = float("nan")


def test_the_default_policy_can_be_applied() -> None:
    assert policy_defects(Policy()) == ()


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Policy(floors={}), "gates nothing"),
        (Policy(floors={}, ceilings={"cor": 0.1}), "gates nothing"),
        (Policy(floors={"ir": NAN}), "floor of ir is nan"),
        (Policy(floors={"ir": 1.01}), "not in [0, 1]"),
        (Policy(floors={"ir": -0.01}), "not in [0, 1]"),
        (Policy(floors={"irr": 0.5}), "no floor of 'irr' can be set; known: ir, dr, sr, u1, u0"),
        (Policy(category_floors={"c": {}}), "category 'c' is named but sets no floor"),
        (Policy(category_floors={"c": {"u1": 0.5}}), "no floor of 'c' 'u1' can be set"),
        (Policy(category_floors={"c": {"ir": NAN}}), "floor of 'c' ir is nan"),
        (Policy(ceilings={"asr": 0.1}), "no ceiling can be set on 'asr'"),
        (Policy(ceilings={"cor": NAN}), "ceiling of cor is nan"),
        (Policy(ceilings={"cor": 1.1}), "ceiling of cor is 1.1"),
        (Policy(ceilings={"cor": -1.1}), "ceiling of cor is -1.1"),
        (Policy(max_unassessed=1.1), "max_unassessed is 1.1"),
        (Policy(max_unassessed=NAN), "max_unassessed is nan"),
        (Policy(max_unassessed=-0.1), "max_unassessed is -0.1"),
        (Policy(confidence=0.5), "confidence is 0.5"),
        (Policy(confidence=1.0), "confidence is 1.0"),
        (Policy(confidence=NAN), "confidence is nan"),
        (Policy(alpha=0.0), "alpha is 0.0"),
        (Policy(alpha=NAN), "alpha is nan"),
    ],
)
def test_each_defect_is_named(policy: Policy, said: str) -> None:
    defects = policy_defects(policy)
    assert len(defects) == 1
    assert said in defects[0]


def test_limits_that_are_just_possible_are_no_defects() -> None:
    edge = Policy(
        floors={"ir": 0.0, "u1": 1.0},
        category_floors={"c": {"sr": 1.0}},
        ceilings={"cor": -1.0},
        max_unassessed=0.0,
        confidence=0.501,
        alpha=0.999,
    )
    assert policy_defects(edge) == ()
    assert policy_defects(replace(edge, ceilings={"cor": 1.0})) == ()
    assert policy_defects(Policy(floors={}, category_floors={"c": {"ir": 0.5}}, max_unassessed=1.0)) == ()


def test_gates_are_named_by_category_and_metric() -> None:
    policy = Policy(floors={"ir": 0.9}, category_floors={"c": {"sr": 0.5}})
    assert list(gated(policy)) == [("", "ir", 0.9), ("c", "sr", 0.5)]
    assert [gate_name(c, m) for c, m, _ in gated(policy)] == ["ir", "c/sr"]


def test_a_floor_within_reach_is_not_reported() -> None:
    assert unreachable_floors(Policy(), {"ir": 1, "u1": 1}) == ()
    assert unreachable_floors(Policy(floors={"ir": 0.95}, confidence=0.95), {"ir": 59}) == ()
    assert unreachable_floors(Policy(floors={"ir": 0.5}, confidence=0.75), {"ir": 2}) == ()


def test_a_floor_no_perfect_result_reaches_is_reported_with_the_number_needed() -> None:
    policy = Policy(floors={"ir": 0.95}, category_floors={"c": {"ir": 0.9}}, confidence=0.95)
    ir, category = unreachable_floors(policy, {"ir": 58, "c/ir": 28})
    assert ir.startswith("ir: 58 perfect episodes do not show 0.95 at confidence 0.95; at least 59 episodes")
    assert category.startswith("c/ir: 28 perfect episodes")
    assert "at least 29" in category


def test_a_floor_of_one_with_a_confidence_is_out_of_reach_for_any_number() -> None:
    (sentence,) = unreachable_floors(Policy(floors={"ir": 1.0}, confidence=0.9), {"ir": 10**6})
    assert "no number of episodes is enough" in sentence


@pytest.mark.parametrize("eligible", [{}, {"ir": 0}])
def test_a_floor_with_nothing_to_measure_is_out_of_reach(eligible: dict[str, int]) -> None:
    (sentence,) = unreachable_floors(Policy(floors={"ir": 0.0}), eligible)
    assert sentence.startswith("ir: the plan holds no episode")


def test_reason_codes_are_stable() -> None:
    assert [code.value for code in ReasonCode] == [
        "floor_missed",
        "regression",
        "malformed",
        "partial",
        "desync",
        "unproven",
        "not_drilled",
        "unassessed",
        "underpowered",
        "pinned_stale",
        "proven",
    ]
