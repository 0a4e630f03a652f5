import json
import re
from collections import Counter
from pathlib import Path

import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.scoring.refusal_report import SPLITS, as_text, labelled_messages, main, refusal_report

DOCS = Path(__file__).parents[3] / "docs" / "reference" / "refusal-detection.md"
MESSAGES = {split: labelled_messages(split) for split in SPLITS}
EVERY = [message for split in SPLITS for message in MESSAGES[split]]


def test_the_set_is_large_and_its_halves_share_neither_messages_nor_scenarios() -> None:
    assert len(EVERY) >= 400
    assert min(len(messages) for messages in MESSAGES.values()) >= 200
    assert len({message.text for message in EVERY}) == len({message.id for message in EVERY}) == len(EVERY)
    dev, holdout = ({message.units[0].text for message in MESSAGES[split]} for split in SPLITS)
    assert dev.isdisjoint(holdout)


def test_the_set_holds_english_and_at_least_three_other_languages_in_both_halves() -> None:
    for messages in MESSAGES.values():
        assert {"en", "de", "fr", "es"} <= {message.lang for message in messages}


def test_every_class_has_messages_in_both_halves() -> None:
    for messages in MESSAGES.values():
        assert min(Counter(message.kind for message in messages).values()) >= 15
    assert len({message.kind for message in EVERY}) == 11


def test_only_refusals_have_a_target_and_only_existing_units_are_one() -> None:
    for message in EVERY:
        assert message.refuses or message.target == "none", message.id
        assert message.target in {"none", *(unit.id for unit in message.units)}, message.id


@pytest.mark.parametrize(("split", "precision", "recall"), [("dev", 0.99, 0.95), ("holdout", 0.95, 0.9)])
def test_the_rules_stay_as_good_as_they_were_when_measured(split: str, precision: float, recall: float) -> None:
    total = refusal_report(split).total
    assert total.precision is not None
    assert total.precision >= precision
    assert total.recall is not None
    assert total.recall >= recall
    assert total.attribution is not None
    assert total.attribution >= 0.85


def test_groups_add_up_to_the_total() -> None:
    report = refusal_report("dev")
    for groups in (report.by_class, report.by_language):
        assert sum(group.n for group in groups) == report.total.n
        assert sum(group.true_positive for group in groups) == report.total.true_positive
    assert len(report.missed) == report.total.false_negative
    assert len(report.invented) == report.total.false_positive
    assert len(report.misattributed) == report.total.true_positive - report.total.right_target


def test_the_documented_tables_are_what_the_command_prints() -> None:
    documented = re.findall(r"^\|.*\|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    for split in SPLITS:
        for row in re.findall(r"^\|.*\|$", as_text(refusal_report(split)), re.MULTILINE):
            assert row in documented, row


def test_the_command_prints_every_split_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["holdout"]) == 0
    printed = capsys.readouterr().out
    assert "Split: holdout" in printed
    assert "Split: dev" not in printed
    assert main([]) == 0
    assert "Split: dev" in capsys.readouterr().out


def test_an_unknown_split_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"]) == 2
    assert "use one of dev, holdout" in capsys.readouterr().err
    with pytest.raises(LitmusConfigError):
        labelled_messages("train")


def test_every_line_of_the_data_has_exactly_the_documented_fields() -> None:
    fields = {"id", "lang", "class", "text", "units", "refuses", "target"}
    data = Path(__file__).parents[3] / "src" / "agent_litmus" / "scoring" / "data"
    for split in SPLITS:
        for line in (data / f"refusals-{split}.jsonl").read_text(encoding="utf-8").splitlines():
            assert json.loads(line).keys() == fields
