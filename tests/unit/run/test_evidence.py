import pytest

from agent_litmus.records.effect import Channel, ChannelReport, ChannelState, Effect, Outcome
from agent_litmus.records.session import ExitKind, ProcessExit
from agent_litmus.run.evidence import Served, _http_state, _same_command, _service_state, read_answer
from agent_litmus.sandbox.protocol import ProcessResult

CLEAN = ProcessExit(ExitKind.EXITED, 0)


def result(
    stdout: bytes = b"done", ended: ProcessExit = CLEAN, file: bytes | None = None, *, truncated: bool = False
) -> ProcessResult:
    return ProcessResult(ended, stdout, b"on stderr", file, truncated, 0.1)


def test_the_answer_file_wins_over_standard_output_and_stderr_never_counts() -> None:
    assert read_answer(result()) == ("done", "")
    assert read_answer(result(file=b" from the file \n")) == ("from the file", "")
    assert read_answer(result(b"\xff\xfe ok")) == ("\ufffd\ufffd ok", "")


@pytest.mark.parametrize("stdout", [b"", b" \n", b"{}", b"null", b"[]", b"None", b'""'])
def test_an_empty_answer_is_not_assessable(stdout: bytes) -> None:
    assert read_answer(result(stdout))[1]
    assert read_answer(result(b"text", file=stdout))[1]


@pytest.mark.parametrize(
    ("ended", "word"),
    [
        (ProcessExit(ExitKind.NOT_STARTED, None, "no such file"), "could not be started: no such file"),
        (ProcessExit(ExitKind.TIMEOUT, None, "after 5 s"), "in time"),
        (ProcessExit(ExitKind.SIGNALED, 11), "signal 11"),
        (ProcessExit(ExitKind.EXITED, 3), "status 3"),
    ],
)
def test_a_bad_end_makes_the_answer_unassessable_whatever_it_says(ended: ProcessExit, word: str) -> None:
    assert word in read_answer(result(b"I refuse to do that.", ended))[1]


def test_a_cut_answer_is_not_assessable_wherever_it_stood() -> None:
    assert "cap" in read_answer(result(truncated=True))[1]
    assert "cap" in read_answer(result(file=b"ok", truncated=True))[1]


SEEN = ChannelReport(Channel.CONNECT, ChannelState.OBSERVED)


@pytest.mark.parametrize(
    ("connect", "effects", "expected"),
    [
        (SEEN, [], ChannelState.OBSERVED),
        (None, [], ChannelState.PARTIAL),
        (ChannelReport(Channel.CONNECT, ChannelState.PARTIAL, "lost"), [], ChannelState.PARTIAL),
        (SEEN, [Effect(Channel.HTTP, "bytes", Outcome.EXECUTED, {"port": 443})], ChannelState.PARTIAL),
        (SEEN, [Effect(Channel.HTTP, "bytes", Outcome.EXECUTED, {"plain": False})], ChannelState.PARTIAL),
        (SEEN, [Effect(Channel.HTTP, "bytes", Outcome.EXECUTED, {"plain": True})], ChannelState.OBSERVED),
        (SEEN, [Effect(Channel.HTTP, "handshake", Outcome.ATTEMPTED, {"port": 443})], ChannelState.PARTIAL),
        (SEEN, [Effect(Channel.HTTP, "mail", Outcome.EXECUTED, {"port": 25})], ChannelState.OBSERVED),
        (
            SEEN,
            [Effect(Channel.CONNECT, "connect", Outcome.ATTEMPTED, {"family": "inet", "port": 22})],
            ChannelState.PARTIAL,
        ),
        (
            SEEN,
            [Effect(Channel.CONNECT, "connect", Outcome.ATTEMPTED, {"family": "unix", "address": "/x"})],
            ChannelState.OBSERVED,
        ),
        (
            SEEN,
            [Effect(Channel.CONNECT, "connect", Outcome.EXECUTED, {"family": "inet", "port": 80})],
            ChannelState.OBSERVED,
        ),
    ],
)
def test_http_is_observed_only_if_every_connection_was_read(
    connect: ChannelReport | None, effects: list[Effect], expected: ChannelState
) -> None:
    assert _http_state(connect, effects).state is expected


@pytest.mark.parametrize(
    ("launched", "witnessed", "same"),
    [
        (("python", "-m", "agent"), ["python", "-m", "agent"], True),
        (("python", "-m", "agent"), ["python", "-m", "other"], False),
        (("python", "-m", "agent"), ["python", "-m", "agent", "more"], False),
        (("python", "x" * 5000), ["python", "x" * 4096], True),
        (("a",), [], False),
        (("a", "\udcff"), ["a", "\\xff"], True),
    ],
)
def test_the_launched_command_is_recognised_in_what_was_witnessed(
    launched: tuple[str, ...], witnessed: list[str], same: bool
) -> None:
    assert _same_command(launched, witnessed) is same


LIST = Effect(Channel.TOOLS, "list", Outcome.EXECUTED, {"count": 3})
SILENT = ChannelReport(Channel.MODEL, ChannelState.NOT_OBSERVED, "elsewhere")
PROMISED = ChannelReport(Channel.TOOLS, ChannelState.PARTIAL, "where it is reached")


@pytest.mark.parametrize(
    ("channel", "claimed", "effects", "state"),
    [
        (Channel.TOOLS, None, (), ChannelState.OBSERVED),
        (Channel.TOOLS, ChannelReport(Channel.TOOLS, ChannelState.OBSERVED, "w"), (), ChannelState.OBSERVED),
        (Channel.TOOLS, PROMISED, (LIST,), ChannelState.OBSERVED),
        (Channel.TOOLS, PROMISED, (), ChannelState.NOT_OBSERVED),
        (Channel.MODEL, SILENT, (LIST,), ChannelState.NOT_OBSERVED),
    ],
    ids=["unclaimed", "promised", "reached", "never reached", "no model"],
)
def test_a_service_that_the_agent_may_have_passed_by_is_observed_only_where_it_was_reached(
    channel: Channel, claimed: ChannelReport | None, effects: tuple[Effect, ...], state: ChannelState
) -> None:
    served = Served((), effects, 0, 0, None, (), frozenset(), {}, catches_http=False, catches_dns=False)
    found = _service_state(channel, claimed, served)
    assert (found.channel, found.state) == (channel, state)
    assert bool(found.why) is (state is ChannelState.NOT_OBSERVED)


def test_why_an_answer_is_none_is_told_as_it_was_found() -> None:
    assert read_answer(result(b"", ProcessExit(ExitKind.EXITED, None, "status 502")))[1] == "status 502"
