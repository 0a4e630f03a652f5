"""Agents that fail or misbehave, under both providers."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from agent_litmus.records.effect import Channel
from agent_litmus.records.session import ExitKind
from agent_litmus.sandbox.protocol import Limits

pytestmark = pytest.mark.integration
Play = Callable[..., Any]
SHORT = Limits(wall_seconds=1.5)


def python(code: str) -> tuple[str, ...]:
    return ("{python}", "-I", "-S", "-c", code)


def test_a_missing_command_is_not_started_and_says_which(both: Play) -> None:
    seen = both("no-such-command")
    assert seen.result.exit.kind is ExitKind.NOT_STARTED
    assert "no-such-command" in seen.result.exit.why


def test_a_missing_path_is_not_started(both: Play) -> None:
    assert both("/no/such/file").result.exit.kind is ExitKind.NOT_STARTED


def test_a_file_that_is_not_executable_is_not_started(both: Play) -> None:
    seen = both("./data.txt", files={"data.txt": "no program"})
    assert seen.result.exit.kind is ExitKind.NOT_STARTED
    assert "ermission" in seen.result.exit.why


def test_a_directory_is_not_started(both: Play) -> None:
    assert both("./d", files={"d/x": ""}).result.exit.kind is ExitKind.NOT_STARTED


def test_an_empty_command_is_not_started(both: Play) -> None:
    assert both().result.exit.kind is ExitKind.NOT_STARTED


def test_a_nul_byte_in_an_argument_is_not_started(both: Play) -> None:
    assert both("true", "a\0b").result.exit.kind is ExitKind.NOT_STARTED


def test_an_argument_longer_than_the_kernel_takes_is_not_started(both: Play) -> None:
    seen = both("true", "x" * 200_000)
    assert seen.result.exit.kind is ExitKind.NOT_STARTED
    assert "too long" in seen.result.exit.why


def test_an_agent_that_exits_127_is_told_apart_from_one_that_never_started(both: Play) -> None:
    end = both("sh", "-c", "exit 127").result.exit
    assert (end.kind, end.code) == (ExitKind.EXITED, 127)


def test_a_crash_keeps_code_and_standard_error(both: Play) -> None:
    seen = both(*python("raise SystemError('broken at start')"))
    assert (seen.result.exit.kind, seen.result.exit.code) == (ExitKind.EXITED, 1)
    assert b"broken at start" in seen.result.stderr
    assert seen.result.stdout == b""


def test_a_signal_is_told_apart_from_an_exit_code(both: Play) -> None:
    end = both("sh", "-c", "kill -SEGV $$").result.exit
    assert (end.kind, end.code) == (ExitKind.SIGNALED, 11)


def test_an_act_before_a_crash_counts(both: Play) -> None:
    seen = both("sh", "-c", "echo secret > stolen.txt; kill -ABRT $$", read=("stolen.txt",))
    assert seen.result.exit.kind is ExitKind.SIGNALED
    assert ("create", "stolen.txt") in seen.files()
    assert seen.read["stolen.txt"] == b"secret\n"


def test_output_before_a_non_zero_exit_is_kept(both: Play) -> None:
    seen = both("sh", "-c", "echo half an answer; exit 3")
    assert (seen.output, seen.result.exit.code, seen.result.exit.clean) == ("half an answer\n", 3, False)


def test_no_output_is_empty_output(both: Play) -> None:
    result = both("true").result
    assert (result.stdout, result.stderr, result.answer_file, result.exit.clean) == (b"", b"", None, True)


def test_ten_megabytes_on_both_streams_are_drained_and_cut(both: Play) -> None:
    seen = both(*python("import os\nfor i in range(160):\n os.write(1, b'o' * 65536); os.write(2, b'e' * 65536)"))
    assert seen.result.exit.clean
    assert seen.result.truncated
    assert seen.result.stdout == b"o" * (1 << 20)
    assert seen.result.stderr == b"e" * (1 << 20)


def test_output_of_exactly_the_limit_is_not_called_cut(both: Play) -> None:
    seen = both("sh", "-c", "printf 12345678", limits=Limits(output_bytes=8))
    assert (seen.result.stdout, seen.result.truncated) == (b"12345678", False)


def test_bytes_that_are_not_text_come_through_unchanged(both: Play) -> None:
    seen = both("sh", "-c", r"printf '\377\376\000\033]0;x\007'")
    assert seen.result.stdout == b"\xff\xfe\0\x1b]0;x\x07"


def test_standard_input_arrives_whole_while_output_flows(both: Play) -> None:
    data = bytes(range(256)) * 16384
    seen = both("cat", stdin=data, limits=Limits(output_bytes=8 << 20))
    assert seen.result.stdout == data


def test_standard_input_nobody_reads_is_no_fault(both: Play) -> None:
    assert both("true", stdin=b"x" * (4 << 20)).result.exit.clean


def test_an_agent_that_never_ends_times_out(both: Play) -> None:
    seen = both("sh", "-c", "echo begun; while :; do :; done", limits=SHORT)
    assert seen.result.exit.kind is ExitKind.TIMEOUT
    assert seen.output == "begun\n"


def test_an_agent_that_ignores_signals_times_out(both: Play) -> None:
    code = "trap '' TERM INT HUP QUIT; echo deaf; while :; do sleep 60; done"
    seen = both("sh", "-c", code, limits=SHORT)
    assert (seen.result.exit.kind, seen.output) == (ExitKind.TIMEOUT, "deaf\n")


def test_an_agent_that_stops_itself_times_out(both: Play) -> None:
    assert both("sh", "-c", "kill -STOP $$", limits=SHORT).result.exit.kind is ExitKind.TIMEOUT


def test_a_daemon_is_counted_and_does_not_hold_up_the_end(both: Play) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        " os.setsid()\n"
        " if os.fork() == 0: time.sleep(1000)\n"
        " os._exit(0)\n"
        "os.wait()"
    )
    seen = both(*python(code))
    assert seen.result.exit.clean
    assert [e.detail["count"] for e in seen.on(Channel.PROCESSES)] == [1]


def test_a_background_child_that_holds_the_pipes_does_not_hold_up_the_end(both: Play) -> None:
    seen = both("sh", "-c", "sleep 1000 & echo done; exit 4")
    assert (seen.output, seen.result.exit.code) == ("done\n", 4)


def test_a_tidy_agent_leaves_nothing(both: Play) -> None:
    assert both("sh", "-c", "sleep 0 & wait").on(Channel.PROCESSES) == []


def test_an_emptied_workspace_is_a_list_of_deletions(both: Play) -> None:
    seen = both("sh", "-c", 'rm -rf "$PWD"/*; true', files={"a": "1", "d/b": "2", "d/c": "3"}, read=("a", "d/b"))
    assert {("delete", "a"), ("delete", "d/b"), ("delete", "d/c")} <= seen.files()
    assert seen.read == {"a": None, "d/b": None}


def test_a_command_still_runs_after_the_workspace_was_deleted(both: Play) -> None:
    seen = both("sh", "-c", 'rm -rf "$PWD"; true', files={"a": "1"}, commands=(("ls", "-A"),))
    assert (seen.commands[0].exit_code, seen.commands[0].stdout) == (0, b"")


def test_every_kind_of_change_is_told(both: Play) -> None:
    files = {"same": "s", "changed": "old", "gone": "g", "moved": "m", "mode": "x", "d/inner": "i"}
    code = (
        "touch same; echo new > changed; rm gone; mv moved there; chmod 700 mode; ln -s /etc/passwd link;"
        "mkdir fresh; echo f > fresh/file; rm -r d; mkdir d; echo j > d/other; printf s > same"
    )
    seen = both("sh", "-c", code, files=files)
    assert seen.files() == {
        ("modify", "changed"),
        ("delete", "gone"),
        ("delete", "moved"),
        ("create", "there"),
        ("chmod", "mode"),
        ("symlink", "link"),
        ("create", "fresh"),
        ("create", "fresh/file"),
        ("delete", "d/inner"),
        ("create", "d/other"),
    }


def test_links_that_lead_out_are_not_followed_when_a_file_is_read(both: Play) -> None:
    code = "ln -s /etc/passwd out; ln -s real in; echo r > real; ln -s / root; mkfifo pipe"
    names = ("out", "in", "root/etc/passwd", "real", "pipe", "../snapshot/agent.py", "/etc/passwd", "")
    seen = both("sh", "-c", code, read=names)
    assert {name for name, content in seen.read.items() if content is not None} == {"real", "in"}


def test_what_may_not_be_opened_is_read_all_the_same(both: Play) -> None:
    code = "mkdir -p shut/deep; echo s > shut/deep/file; chmod 000 shut/deep/file shut/deep shut"
    seen = both("sh", "-c", code, read=("shut/deep/file",))
    assert {("create", "shut"), ("create", "shut/deep"), ("create", "shut/deep/file")} == seen.files()
    assert seen.read["shut/deep/file"] == b"s\n"
    modes = {e.detail["path"]: e.detail["mode"] for e in seen.on(Channel.FILES)}
    assert set(modes.values()) == {"0000"}


def test_a_workspace_that_shuts_everyone_out_is_read_all_the_same(both: Play) -> None:
    seen = both("sh", "-c", "echo s > file; chmod 000 .", read=("file",))
    assert seen.result.exit.clean
    assert ("create", "file") in seen.files()
    assert seen.read["file"] == b"s\n"


def test_a_workspace_replaced_by_a_link_is_not_followed(uncontained: Play) -> None:
    code = 'rm -rf "$PWD"; ln -s /etc "$PWD"'
    seen = uncontained("sh", "-c", code, files={"a": "1"}, read=("passwd",), commands=(("ls",),))
    assert seen.files() == {("delete", "a")}
    assert seen.read["passwd"] is None
    assert seen.commands[0].stdout == b""
    assert next(c for c in seen.facts.channels if c.channel is Channel.FILES).state == "partial"


def test_names_that_are_not_text_are_escaped(both: Play) -> None:
    seen = both(*python("open(b'bad\\xff\\n', 'w').close()"))
    assert seen.files() == {("create", "bad\\xff\n")}


def test_a_tree_deeper_than_a_path_can_say_is_partly_seen_and_removed(both: Play) -> None:
    code = "import os\nfor _ in range(120):\n os.mkdir('d' * 40); os.chdir('d' * 40)"
    seen = both(*python(code))
    assert seen.result.exit.clean
    channel = next(c for c in seen.facts.channels if c.channel is Channel.FILES)
    assert channel.state == "partial"
    assert "could not be read" in channel.why


def test_the_answer_file_is_returned(both: Play) -> None:
    seen = both("sh", "-c", "printf 'the answer' > {answer}; echo noise")
    assert seen.result.answer_file == b"the answer"


def test_an_answer_file_that_is_a_link_is_none(both: Play) -> None:
    assert both("sh", "-c", "ln -s /etc/passwd {answer}").result.answer_file is None


def test_launch_files_and_environment_arrive(both: Play) -> None:
    seen = both(
        "sh",
        "-c",
        'cat "$P"; pwd; echo "$PWD"',
        env={"P": "/dev/null"},
        launch_files=lambda paths: {paths.prompt_file: "the prompt"},
    )
    assert seen.output == f"{seen.paths.workspace}\n{seen.paths.workspace}\n"


def test_nothing_of_the_harness_environment_is_inherited(both: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_API_KEY", "very secret")
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    found = json.loads(both(*python(code), env={"LITMUS_SEED": "7"}).output)
    assert "HARNESS_API_KEY" not in found
    assert found["LITMUS_SEED"] == "7"


def test_a_commands_changes_are_lost_and_its_end_is_told(both: Play) -> None:
    commands = (
        ("sh", "-c", "cat made; echo x > made; exit 3"),
        ("cat", "made"),
        ("no-such-command",),
        ("sh", "-c", "kill -9 $$"),
    )
    seen = both("sh", "-c", "echo final > made", commands=commands, read=("made",))
    assert [c.exit_code for c in seen.commands] == [3, 0, None, None]
    assert [c.stdout for c in seen.commands[:2]] == [b"final\n", b"final\n"]
    assert "no-such-command" in seen.commands[2].why
    assert "signal 9" in seen.commands[3].why
    assert seen.read["made"] == b"final\n"
    assert seen.files() == {("create", "made")}


def test_a_large_file_is_refused_by_its_limit(both: Play) -> None:
    code = (
        "import resource\n"
        "while resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1 << 20: pass\n"
        "open('big', 'wb').write(b'x' * 3000000)"
    )
    seen = both(*python(code), limits=Limits(wall_seconds=30, file_bytes=1 << 20))
    assert not seen.result.exit.clean
    (made,) = seen.on(Channel.FILES)
    assert made.detail["size"] <= 1 << 20


def test_the_sessions_facts_hold(both: Play) -> None:
    facts = both("true", files={"a": "1", "d/é": "ü"}).facts
    assert facts.workspace_fresh is True
    assert facts.base_unchanged is True
    assert facts.snapshot_digest.startswith("sha256:")
