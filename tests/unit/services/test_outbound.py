import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.services import outbound
from agent_litmus.services.outbound import BodySearch, Inflater, Search, texts


def seen(text: str) -> set[str]:
    return {name for name in ("SECRET", "other") if name in text}


def search_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "WINDOW", 64)
    monkeypatch.setattr(outbound, "OVERLAP", 16)


@given(st.integers(0, 300), st.lists(st.integers(0, 400), max_size=6))
def test_nothing_is_missed_at_the_border_of_two_windows(at: int, cuts: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        search_small(patch)
        search = Search(seen)
        data = b"." * at + b"SECRET" + b"." * 100
        edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
        for start, end in zip(edges, edges[1:], strict=False):  # noqa: RUF007 - reads like the slices
            search.feed(data[start:end])
        assert search.found() == ["SECRET"]


def test_windows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    search_small(monkeypatch)
    sizes: list[int] = []

    def look(text: str) -> set[str]:
        sizes.append(len(text))
        return set()

    search = Search(look)
    for _ in range(100):
        search.feed(b"x" * 1000)
    search.found()
    assert max(sizes) < 2 * 64 + 16


def test_without_anyone_to_ask_nothing_is_found() -> None:
    search = Search(None)
    search.feed(b"SECRET")
    search.text("SECRET")
    assert search.found() == []


def test_what_is_no_unicode_is_replaced() -> None:
    got: list[str] = []

    def look(text: str) -> set[str]:
        got.append(text)
        return set()

    search = Search(look)
    search.feed(b"\xff")
    search.found()
    search.text("\ud800")
    assert got == ["\ufffd", "?"]


ZLIB: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "raw": lambda data: zlib.compress(data, wbits=-15),
    "members": lambda data: gzip.compress(data[: len(data) // 2]) + gzip.compress(data[len(data) // 2 :]),
}


@pytest.mark.parametrize("form", ZLIB)
@given(data=st.binary(max_size=300), cuts=st.lists(st.integers(0, 400), max_size=4))
def test_compressed_data_is_undone_however_it_is_cut(form: str, data: bytes, cuts: list[int]) -> None:
    packed, inflater = ZLIB[form](data), Inflater()
    edges = [0, *sorted(min(cut, len(packed)) for cut in cuts), len(packed)]
    pieces = [packed[start:end] for start, end in zip(edges, edges[1:], strict=False)]  # noqa: RUF007 - as above
    assert b"".join(inflater.feed(piece, 1 << 20) for piece in pieces) == data
    assert not inflater.stopped


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "gzip, deflate", "br", ""]))
def test_any_bytes_may_call_themselves_compressed(data: bytes, coding: str) -> None:
    search = BodySearch(seen, "", coding)
    search.feed(data)
    assert set(search.found()) <= {"SECRET", "other"}


def test_more_than_the_limit_is_not_looked_through_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "INFLATED_LIMIT", 1000)
    fits, bomb = BodySearch(seen, "", "gzip"), BodySearch(seen, "", "gzip")
    fits.feed(gzip.compress(b"x" * 994 + b"SECRET"))
    bomb.feed(gzip.compress(b"SECRET" + b"x" * 10_000_000))
    bomb.feed(gzip.compress(b"other"))
    assert (fits.found(), fits.clipped) == (["SECRET"], False)
    assert (bomb.found(), bomb.clipped) == (["SECRET"], True)


def test_the_head_and_a_plain_body_are_one_text() -> None:
    search = BodySearch(lambda text: ["both"] * (text == "head\nbody"), "head\n", "")
    search.feed(b"bo")
    search.feed(b"dy")
    assert search.found() == ["both"]


def test_every_key_and_value_is_a_text() -> None:
    assert list(texts({"a": [1, None, {"b": True}], "c": "d"})) == ["a", "1", "b", "True", "c", "d"]
