import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_litmus.errors import LitmusJournalError
from agent_litmus.records.effect import Channel, Effect, Outcome
from agent_litmus.records.probe import Condition, EpisodeKey
from agent_litmus.records.proofs import CalibrationCall, LeakPair
from agent_litmus.records.session import (
    CheckResult,
    CheckState,
    CheckToken,
    EndpointReceipt,
    ExitKind,
    ProcessExit,
    SessionRecord,
    TokenSighting,
)
from agent_litmus.run.journal import (
    SCHEMA_VERSION,
    Contents,
    JournalHeader,
    create,
    ensure_same_run,
    read,
    resume,
)

Make = Callable[..., SessionRecord]


def test_what_was_appended_is_read_back_exactly(tmp_path: Path, header: JournalHeader, record: Make) -> None:
    path = tmp_path / "run" / "journal.jsonl"
    effect = Effect(Channel.EXEC, "exec", Outcome.EXECUTED, {"argv": ["a", "\u2028"], "path": "/x"}, 0.25, 7)
    written = [record(0, effects=(effect,)), record(1, answer=None, answer_why="it crashed")]
    journal = create(path, header)
    for item in written:
        journal.append(item)
    journal.close()
    assert read(path) == Contents(header, tuple(written))


def test_what_met_a_check_is_read_back_and_records_from_before_it_was_noted_are_read(
    tmp_path: Path, header: JournalHeader, record: Make
) -> None:
    path = tmp_path / "journal.jsonl"
    token = CheckToken("code", "OAK-11", own=False, given=False, near=True, lead="the code is")
    written = record(host_checks=(CheckResult("answer", CheckState.MET, tokens=(token,)),))
    journal = create(path, header)
    journal.append(written)
    journal.close()
    assert read(path).records == (written,)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    del lines[1]["record"]["host_checks"][0]["tokens"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read(path).records == (record(host_checks=(CheckResult("answer", CheckState.MET),)),)


PAIR = LeakPair(
    EpisodeKey("h1", Condition.CONTROL, 0),
    "5e55",
    ProcessExit(ExitKind.EXITED, 0),
    "OAK-11 \x1b[31m",
    tokens={"code": "OAK-11"},
    leaked=(TokenSighting("code", "OAK-11", "answer", own=False, given=False, foreign_session="h1/control/s0.0"),),
)
CALLS = (CalibrationCall(0, 0.25, 200), CalibrationCall(3, 0.5, 0, "no answer: ConnectError: refused"))


def test_leak_pairs_and_calibration_calls_are_read_back_exactly(
    tmp_path: Path, header: JournalHeader, record: Make
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = create(path, header)
    journal.append_calibration(CALLS[0])
    journal.append(record(0))
    journal.append(record(1), PAIR)
    journal.append_calibration(CALLS[1])
    journal.close()
    assert read(path) == Contents(header, (record(0), record(1)), (PAIR,), CALLS)
    kinds = [json.loads(line)["type"] for line in path.read_bytes().splitlines()]
    assert kinds == ["header", "calibration", "session", "leak_pair", "session", "calibration"]
    resumed = resume(path)
    assert (resumed.records, resumed.leak_pairs, resumed.calibration) == ((record(0), record(1)), (PAIR,), CALLS)
    resumed.close()


def test_what_an_endpoint_said_of_itself_is_read_back_exactly(tmp_path: Path, header: JournalHeader) -> None:
    said = (
        EndpointReceipt("sha256:1", "n1", mac_valid=True, replica="a"),
        EndpointReceipt("", "", mac_valid=None, why="no"),
    )
    path = tmp_path / "journal.jsonl"
    journal = create(path, header)
    assert journal.endpoint == ()
    journal.append_endpoint(said[:1])
    journal.append_endpoint(said[1:])
    journal.close()
    assert read(path) == Contents(header, endpoint=said)
    resumed = resume(path)
    assert resumed.endpoint == said
    resumed.close()


def test_wherever_a_kill_cuts_a_session_is_never_there_without_its_pair(
    tmp_path: Path, header: JournalHeader, record: Make
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = create(path, header)
    before = path.stat().st_size
    journal.append(record(1), PAIR)
    journal.close()
    whole = path.read_bytes()
    for end in range(before, len(whole), 7):
        path.write_bytes(whole[:end])
        found = read(path)
        assert len(found.records) <= len(found.leak_pairs)


@pytest.mark.parametrize("version", [1, 3])
def test_a_journal_of_another_format_is_refused_with_both_versions(
    tmp_path: Path, header: JournalHeader, version: int
) -> None:
    path = tmp_path / "journal.jsonl"
    create(path, header).close()
    current, other = f'"schema_version": {SCHEMA_VERSION}', f'"schema_version": {version}'
    assert current in path.read_text()
    path.write_text(path.read_text().replace(current, other))
    for opened in (resume, read):
        with pytest.raises(LitmusJournalError, match=f"format {version}; .* {SCHEMA_VERSION}") as caught:
            opened(path)
        assert caught.value.slug == "journal-version"
        assert "began it" in caught.value.hint


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(cut=st.integers(min_value=1, max_value=400))
def test_a_kill_in_the_middle_of_a_line_loses_that_line_alone(
    tmp_path: Path, header: JournalHeader, record: Make, cut: int
) -> None:
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    journal = create(path, header)
    journal.append(record(0))
    whole = path.stat().st_size
    journal.append(record(1))
    journal.close()
    torn = path.read_bytes()[: max(whole, path.stat().st_size - cut)]
    path.write_bytes(torn)
    resumed = resume(path)
    assert [item.order for item in resumed.records] == [0]
    resumed.append(record(1))
    resumed.close()
    assert [item.order for item in read(path).records] == [0, 1]


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b"[]\n",
        b'{"type":"session","record":{}}\n',
        b'{"type":"leak_pair","record":{}}\n',
        b'{"type":"calibration","record":{"after":0,"duration":NaN,"status":200}}\n',
        b'{"type":"endpoint","record":{"digest":"sha256:1"}}\n',
        b'{"type":"other","record":{}}\n',
        b'{"type":[],"record":{}}\n',
        b'{"record":{}}\n',
        b"\n",
    ],
)
def test_damage_before_the_last_line_is_an_error_that_names_the_line(
    tmp_path: Path, header: JournalHeader, record: Make, line: bytes
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = create(path, header)
    journal.close()
    path.write_bytes(path.read_bytes() + line)
    before = path.read_bytes()
    with pytest.raises(LitmusJournalError, match=r"journal\.jsonl:2: damaged"):
        resume(path)
    assert path.read_bytes() == before


NESTED = b'{"type":"session","record":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b'"nan"', b'"inf"'])
def test_a_number_that_is_none_is_damage_that_names_the_line(
    tmp_path: Path, header: JournalHeader, record: Make, number: bytes
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = create(path, header)
    journal.append(record(0, duration=4321.5))
    journal.close()
    good = path.read_bytes()
    assert good.count(b"4321.5") == 1
    path.write_bytes(good.replace(b"4321.5", number))
    for opened in (resume, read):
        with pytest.raises(LitmusJournalError, match=r"journal\.jsonl:2: damaged") as caught:
            opened(path)
        assert caught.value.slug == "damaged-journal"


def test_deep_nesting_is_damage_that_names_the_line(tmp_path: Path, header: JournalHeader) -> None:
    path = tmp_path / "journal.jsonl"
    create(path, header).close()
    path.write_bytes(path.read_bytes() + NESTED)
    with pytest.raises(LitmusJournalError, match=r"journal\.jsonl:2: damaged"):
        resume(path)
    path.write_bytes(NESTED)
    with pytest.raises(LitmusJournalError, match=r"journal\.jsonl:1: damaged"):
        read(path)


@pytest.mark.parametrize("settings", [b"[]", b"NaN", b"null"])
def test_a_header_of_other_types_is_damage(tmp_path: Path, header: JournalHeader, settings: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    create(path, replace(header, settings={})).close()
    path.write_bytes(path.read_bytes().replace(b'"settings": {}', b'"settings": ' + settings))
    assert b'"settings": {}' not in path.read_bytes()
    with pytest.raises(LitmusJournalError, match=r"journal\.jsonl:1: damaged"):
        resume(path)


def test_a_pipe_in_the_journals_place_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    os.mkfifo(path)
    with pytest.raises(LitmusJournalError, match="not a regular file"):
        resume(path)


def test_a_file_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"type":"other"}\n')
    with pytest.raises(LitmusJournalError, match="not a journal header"):
        resume(path)
    path.write_text("")
    with pytest.raises(LitmusJournalError, match="no header"):
        resume(path)
    with pytest.raises(LitmusJournalError, match="cannot be opened"):
        resume(tmp_path / "absent" / "journal.jsonl")


def test_a_live_journal_cannot_be_resumed(tmp_path: Path, header: JournalHeader) -> None:
    path = tmp_path / "journal.jsonl"
    journal = create(path, header)
    with pytest.raises(LitmusJournalError, match="another process"):
        resume(path)
    journal.close()
    resume(path).close()


def test_an_existing_journal_is_never_overwritten(tmp_path: Path, header: JournalHeader) -> None:
    path = tmp_path / "journal.jsonl"
    create(path, header).close()
    with pytest.raises(LitmusJournalError, match="cannot be created"):
        create(path, header)


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("agent_digest", "agent build"),
        ("suite_digest", "suite"),
        ("config_digest", "configuration"),
        ("plan_digest", "plan"),
        ("schema_version", "format"),
    ],
)
def test_resuming_another_run_is_refused_and_says_what_changed(
    tmp_path: Path, header: JournalHeader, field: str, word: str
) -> None:
    journal = create(tmp_path / "journal.jsonl", header)
    changed: dict[str, Any] = {field: 99 if field == "schema_version" else "sha256:other"}
    other = replace(header, **changed)
    with pytest.raises(LitmusJournalError, match=word):
        ensure_same_run(journal, other)
    ensure_same_run(journal, header)
    journal.close()


def test_a_full_disk_leaves_the_journal_whole(
    tmp_path: Path, header: JournalHeader, record: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    journal = create(path, header)
    journal.append(record(0))
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) <= 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, bytes(data[: len(data) // 2]))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(LitmusJournalError, match="No space left") as caught:
            journal.append(record(1))
    assert "--resume" in caught.value.hint
    journal.close()
    assert [item.order for item in read(path).records] == [0]
