"""Whatever bytes a file holds, it is read or refused, and no part of it passes for the whole."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.app.build_archive import run_file
from tests.unit.app.test_score import agent, write

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.agentdojo.schema import RunFile, parse_run
from agent_litmus.formats.episodes import open_episodes

GOOD = json.dumps(run_file(attack="plain", injection="injection_task_1")).encode()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def read_or_refuse(data: bytes) -> None:
    why = "$"
    try:
        parse_run(data)
    except ValueError as error:
        why = str(error)
    assert why.startswith("$")
    assert "\n" not in why


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_or_refuse(data)


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255))
def test_one_wrong_byte_is_read_or_refused(at: int, byte: int) -> None:
    read_or_refuse(GOOD[:at] + bytes([byte]) + GOOD[at + 1 :])


@given(st.integers(0, len(GOOD) - 1))
def test_a_cut_file_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=r"^\$"):
        parse_run(GOOD[:length])


@given(st.sampled_from(sorted(RunFile.model_fields)), VALUES)
def test_a_field_of_any_value_is_read_or_refused(field: str, value: object) -> None:
    read_or_refuse(json.dumps(json.loads(GOOD) | {field: value}).encode())


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("cut") / "episodes.jsonl", agent("a", hosts=2, injections=2))


@given(st.data())
@settings(deadline=None)
def test_a_cut_episode_file_is_refused_wherever_it_was_cut(lines: Path, data: st.DataObject) -> None:
    whole = lines.read_bytes()
    length = data.draw(st.integers(0, len(whole.rstrip()) - 1))
    cut = lines.with_name("part.jsonl")
    cut.write_bytes(whole[:length])
    with pytest.raises(LitmusConfigError, match=r"part\.jsonl"):
        list(open_episodes(cut).batches())
