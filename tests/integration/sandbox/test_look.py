"""What a session says about its files and its answer once it is over, under both providers."""

from collections.abc import Callable
from typing import Any

import pytest

from agent_litmus.records.effect import Channel, ChannelState
from agent_litmus.sandbox.protocol import Limits, Look
from agent_litmus.sandbox.tree import MAX_ENTRIES

pytestmark = pytest.mark.integration
Play = Callable[..., Any]
MIB = 1 << 20


def test_links_within_the_workspace_are_followed_and_no_others(both: Play) -> None:
    code = (
        "mkdir d; echo secret > d/real; ln -s real d/near; ln -s d/near far; ln -s $PWD/d/real absolute\n"
        "ln -s /etc/passwd out; ln -s ../../../../../../etc/passwd up; ln -s self self; ln -s gone gone-link\n"
        "ln -s template linked; rm t2"
    )
    names = ("far", "absolute", "out", "up", "self", "gone-link", "linked", "t2", "d")
    seen = both("sh", "-c", code, files={"template": "kept", "t2": ""}, look=names, read=("far", "out"))
    assert seen.look == {
        "far": Look("file", b"secret\n"),
        "absolute": Look("file", b"secret\n"),
        "out": Look("other"),
        "up": Look("other"),
        "self": Look("other"),
        "gone-link": Look("absent"),
        "linked": Look("file", b"kept"),
        "t2": Look("absent"),
        "d": Look("other"),
    }
    assert seen.read == {"far": b"secret\n", "out": None}


def test_a_text_behind_the_first_mebibyte_is_found_and_a_cut_reading_says_so(both: Play) -> None:
    code = "head -c 1100000 /dev/zero > long; echo secret >> long"
    seen = both("sh", "-c", code, look=("long",), read=("long",))
    assert seen.look["long"].data.endswith(b"secret\n")
    assert not seen.look["long"].truncated
    assert len(seen.read["long"]) == MIB


def test_a_file_as_long_as_files_may_be_is_read_whole(both: Play) -> None:
    code = "truncate -s 64M long"
    look = both("sh", "-c", code, look=("long",)).look["long"]
    assert (look.state, len(look.data), look.truncated) == ("file", 64 * MIB, False)


def test_a_file_that_the_walk_missed_is_found(contained: Play) -> None:
    code = f"for n in range({MAX_ENTRIES + 10}): open(f'f{{n:06}}', 'w').close()\nopen('zz', 'w').write('here')"
    seen = contained("{python}", "-I", "-S", "-c", code, look=("zz",))
    assert seen.look["zz"] == Look("file", b"here")
    assert ("create", "zz") not in seen.files()
    assert next(c for c in seen.facts.channels if c.channel is Channel.FILES).state is ChannelState.PARTIAL


def test_an_answer_file_over_its_cap_is_marked_as_cut(both: Play) -> None:
    seen = both("sh", "-c", f"head -c {MIB + 1} /dev/zero > {{answer}}")
    assert len(seen.result.answer_file) == MIB
    assert seen.result.truncated


def test_an_answer_file_at_its_cap_is_whole(both: Play) -> None:
    seen = both("sh", "-c", f"head -c {MIB} /dev/zero > {{answer}}")
    assert len(seen.result.answer_file) == MIB
    assert not seen.result.truncated


def test_a_flood_on_standard_error_leaves_the_answer_whole(both: Play) -> None:
    limits = Limits(wall_seconds=30, output_bytes=1000)
    seen = both("sh", "-c", "head -c 5000 /dev/zero >&2; echo answer", limits=limits)
    assert len(seen.result.stderr) == 1000
    assert seen.output == "answer\n"
    assert not seen.result.truncated


def test_a_flood_on_standard_output_cuts_an_answer_only_where_it_is_the_answer(both: Play) -> None:
    limits = Limits(wall_seconds=30, output_bytes=1000)
    assert both("sh", "-c", "head -c 5000 /dev/zero", limits=limits).result.truncated
    code = "head -c 5000 /dev/zero; echo answer > {answer}"
    assert not both("sh", "-c", code, limits=limits).result.truncated
