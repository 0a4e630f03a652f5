import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.records.digest import canonical_json
from agent_litmus.records.effect import Channel, Outcome
from agent_litmus.services import recorder
from agent_litmus.services.recorder import EffectLog, Witness, clean, clip

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def test_a_short_text_is_kept_as_it_is() -> None:
    assert clip("a\x1b\n") == "a\x1b\n"


def test_a_long_text_keeps_head_and_tail_and_says_how_much_is_missing() -> None:
    text = clip("h" * 60 + "m" * 100 + "t" * 40, 100)
    assert text.startswith("h" * 60)
    assert text.endswith("t" * 25)
    assert "100 characters cut" in text


@given(st.text(st.characters(exclude_categories=())), st.integers(1, 50))
def test_a_clipped_text_is_bounded_and_encodable(text: str, limit: int) -> None:
    # A lone surrogate is written as six characters.
    assert len(clip(text, limit).encode("utf-8")) <= 6 * limit + 60


@given(JSON)
def test_anything_cleaned_has_a_canonical_form(value: object) -> None:
    canonical_json(clean(value))


@given(JSON)
def test_cleaning_twice_changes_nothing(value: object) -> None:
    once = clean(value)
    assert clean(once) == once


def test_what_canonical_json_cannot_hold_becomes_text() -> None:
    assert clean([2**60, math.nan, math.inf, 1.5, True, None]) == [str(2**60), "nan", "inf", 1.5, True, None]


def test_nesting_is_bounded() -> None:
    value: object = "deep"
    for _ in range(500):
        value = [value]
    json.dumps(clean(value))


def log() -> EffectLog:
    return EffectLog(lambda: 2.5)


def test_an_effect_carries_its_time() -> None:
    kept = log()
    kept.add(Channel.TOOLS, "list", Outcome.EXECUTED, {"count": 1})
    (effect,) = kept.effects
    assert (effect.at, effect.detail, kept.dropped) == (2.5, {"count": 1}, 0)


def test_a_flood_of_effects_is_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "EFFECT_LIMIT", 3)
    kept = log()
    for _ in range(5):
        kept.add(Channel.DNS, "resolve", Outcome.EXECUTED, {"name": "a"})
    assert (len(kept.effects), kept.dropped) == (3, 2)


def test_a_flood_of_bytes_is_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "SIZE_LIMIT", 100)
    kept = log()
    for _ in range(5):
        kept.add(Channel.HTTP, "request", Outcome.EXECUTED, {"headers": {"x": ["y" * 40]}})
    assert (len(kept.effects), kept.dropped) == (2, 3)


def test_a_watched_text_is_seen_whatever_its_whitespace() -> None:
    witness = Witness(("do  the\nthing", "other"))
    witness.saw("please do the\t thing now")
    assert witness.sent == {"do  the\nthing"}


@pytest.mark.parametrize("watch", [(), ("",), (" \n",)])
def test_nothing_watched_is_never_seen(watch: tuple[str, ...]) -> None:
    witness = Witness(watch)
    witness.saw("anything at all")
    assert witness.sent == frozenset()


def test_part_of_a_watched_text_is_not_it() -> None:
    witness = Witness(("do the thing",))
    witness.saw("do the")
    witness.saw("thing")
    assert witness.sent == frozenset()
