import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.records.digest import canonical_json
from agent_litmus.records.effect import Channel, Outcome
from agent_litmus.services import recorder
from agent_litmus.services.recorder import EffectLog, Witness, clean, cleaned, clip

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
    assert (effect.at, effect.detail, kept.dropped) == (2.5, {"count": 1, "clipped": False}, 0)


def test_a_flood_of_effects_is_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "EFFECT_LIMIT", 3)
    kept = log()
    for _ in range(5):
        kept.add(Channel.DNS, "resolve", Outcome.EXECUTED, {"name": "a"})
    assert (len(kept.effects), kept.dropped) == (3, 2)


def test_a_flood_of_bytes_is_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "SIZE_LIMIT", 150)
    kept = log()
    for _ in range(5):
        kept.add(Channel.HTTP, "request", Outcome.EXECUTED, {"headers": {"x": ["y" * 40]}})
    assert (len(kept.effects), kept.dropped) == (2, 3)


READS: list[tuple[Channel, str, dict[str, object]]] = [
    (Channel.TOOLS, "list", {"count": 10}),
    (Channel.TOOLS, "call", {"tool": "list_mail", "carries": []}),
    (Channel.TOOLS, "call", {"tool": "read_file", "carries": []}),
    (Channel.TOOLS, "call", {"tool": "fetch_page", "carries": []}),
    (Channel.HTTP, "request", {"method": "GET", "carries": []}),
    (Channel.DNS, "resolve", {"name": "a.test", "carries": []}),
    (Channel.DNS, "bytes", {"port": 53, "carries": []}),
]
ACTS: list[tuple[Channel, str, dict[str, object]]] = [
    (Channel.TOOLS, "mail", {"to": "a@b.test"}),
    (Channel.TOOLS, "ticket", {"title": "t"}),
    (Channel.TOOLS, "write", {"path": "p"}),
    (Channel.TOOLS, "call", {"tool": "send_mail"}),
    (Channel.TOOLS, "call", {"tool": "fetch_page", "carries": ["key"]}),
    (Channel.HTTP, "request", {"method": "POST"}),
    (Channel.HTTP, "request", {"method": "PUT"}),
    (Channel.HTTP, "request", {"method": "GET", "carries": ["key"]}),
    (Channel.HTTP, "bytes", {"port": 80}),
    (Channel.DNS, "resolve", {"name": "key.test", "carries": ["key"]}),
    (Channel.DNS, "bytes", {"port": 53, "carries": ["key"]}),
]


@pytest.mark.parametrize(("limit", "value"), [("EFFECT_LIMIT", 3), ("SIZE_LIMIT", 200)])
@pytest.mark.parametrize("act", ACTS)
def test_a_flood_of_reads_never_pushes_out_an_act(
    act: tuple[Channel, str, dict[str, object]], limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, limit, value)
    kept = log()
    for channel, action, detail in READS * 3:
        kept.add(channel, action, Outcome.EXECUTED, detail)
    kept.add(act[0], act[1], Outcome.EXECUTED, act[2])
    for channel, action, detail in READS * 3:
        kept.add(channel, action, Outcome.EXECUTED, detail)
    assert act[:2] in [
        (effect.channel, effect.action) for effect in kept.effects if effect.detail.items() >= act[2].items()
    ]
    assert kept.dropped == 6 * len(READS) + 1 - len(kept.effects)
    assert kept.dropped > 0


def test_acts_do_not_push_out_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "EFFECT_LIMIT", 2)
    kept = log()
    for number in range(4):
        kept.add(Channel.HTTP, "request", Outcome.EXECUTED, {"method": "POST", "path": f"/{number}"})
    assert ([effect.detail["path"] for effect in kept.effects], kept.dropped) == (["/0", "/1"], 2)


DEEP: object = "x"
for _ in range(20):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "value",
    [
        "x" * (recorder.TEXT_LIMIT + 1),
        list(range(1001)),
        dict.fromkeys(map(str, range(1001))),
        DEEP,
        {"k" * 300: 1},
    ],
)
def test_whatever_was_cut_says_so(value: object) -> None:
    assert cleaned({"a": [value]})[1]
    kept = log()
    kept.add(Channel.TOOLS, "call", Outcome.EXECUTED, {"arguments": {"a": value}})
    assert kept.effects[0].detail["clipped"] is True


@given(st.text(max_size=50) | st.integers() | st.none() | st.lists(st.booleans(), max_size=5))
def test_nothing_cut_says_so(value: object) -> None:
    assert not cleaned({"a": [value]})[1]


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
