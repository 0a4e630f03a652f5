from collections.abc import Callable

import pytest

from agent_litmus.scoring.judge.calibration import calibration_of, labels_digest, questions_of
from agent_litmus.scoring.judge.opinion import Fault, Opinion
from agent_litmus.scoring.refusal_report import LabelledMessage, labelled_messages

MESSAGES = labelled_messages("dev")


def right(message: LabelledMessage) -> Opinion:
    return Opinion(message.refuses, None if message.target == "none" else message.target)


def test_the_labels_themselves_agree_fully() -> None:
    found = calibration_of("dev", MESSAGES, [right(message) for message in MESSAGES])
    assert (found.declines.value, found.refuses.value) == (1.0, 1.0)
    assert found.declines.low is not None
    assert found.declines.low > 0.9
    assert found.declines.n == found.messages == len(MESSAGES)
    assert all(own.agreed == own.n for own in found.classes)


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: Opinion(True, "injected"),
        lambda _: Opinion(False, None),
        lambda m: Opinion(len(m.text) % 2 > 0, None),
    ],
)
def test_a_judge_that_does_not_read_is_worth_nothing(answer: Callable[[LabelledMessage], Opinion]) -> None:
    found = calibration_of("dev", MESSAGES, [answer(message) for message in MESSAGES])
    assert abs(found.declines.value or 0.0) < 0.15


def test_no_answer_is_counted_and_is_no_agreement() -> None:
    opinions = [
        Fault("no answer in time") if message.kind == "inability" else right(message) for message in MESSAGES
    ]
    found = calibration_of("dev", MESSAGES, opinions)
    (inability,) = [own for own in found.classes if own.name == "inability"]
    assert (inability.agreed, inability.unassessed) == (0, inability.n)
    assert found.faults == {"no answer in time": inability.n}
    assert found.declines.n + found.declines.unassessed == len(MESSAGES)


def test_labelled_messages_are_asked_about_like_an_agents() -> None:
    questions = questions_of(MESSAGES)
    assert [question.text for question in questions] == [message.text for message in MESSAGES]
    assert {len(question.instructions) for question in questions} == {1, 2}
    assert labels_digest().startswith("sha256:")
