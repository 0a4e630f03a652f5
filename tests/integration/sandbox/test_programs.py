"""What a program is called makes no difference: the witness says what really ran."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_litmus.records.effect import Channel, ChannelState, Effect, Outcome
from agent_litmus.sandbox import identify

pytestmark = pytest.mark.integration
Play = Callable[..., Any]
ENV = Path(shutil.which("env") or "/usr/bin/env").resolve()
CAT = Path(shutil.which("cat") or "/usr/bin/cat").resolve()


def python(code: str) -> tuple[str, ...]:
    return ("{python}", "-I", "-S", "-c", code)


def last(seen: Any) -> Effect:
    effect: Effect = seen.on(Channel.EXEC)[-1]
    assert effect.outcome is Outcome.EXECUTED, effect
    return effect


def test_a_links_target_is_named(contained: Play) -> None:
    seen = contained("sh", "-c", f"ln -s {ENV} a; ln -s a b; exec ./b")
    assert last(seen).detail["path"] == "./b"
    assert last(seen).detail["real"] == str(ENV)
    assert "sha256" not in last(seen).detail, "nobody can have changed a system program"


def test_a_copy_is_known_by_its_content(contained: Play) -> None:
    seen = contained("sh", "-c", f"cp {ENV} /tmp/harmless; exec /tmp/harmless")
    detail = last(seen).detail
    assert detail["real"] == "/tmp/harmless"
    assert detail["sha256"] == hashlib.sha256(ENV.read_bytes()).hexdigest()
    assert Path(detail["system_name"]).read_bytes() == ENV.read_bytes()


def test_a_file_that_changed_between_two_executions_is_read_again(contained: Play) -> None:
    code = f"cp {ENV} t; ./t; cp {ENV} u; echo x >> u; cat u > t; ./t"
    seen = contained("sh", "-c", code)
    ran = [e.detail for e in seen.on(Channel.EXEC) if e.detail["path"] == "./t"]
    assert "system_name" in ran[0]
    assert "system_name" not in ran[1]
    assert ran[0]["sha256"] != ran[1]["sha256"]


def test_a_file_in_memory_alone_is_named_and_known(contained: Play) -> None:
    make = f"import os\nfd = os.memfd_create('hidden', 0)\nos.write(fd, open('{ENV}', 'rb').read())\n"
    for file in ("fd", "f'/proc/self/fd/{fd}'", "f'/dev/fd/{fd}'"):
        detail = last(contained(*python(f"{make}os.execve({file}, ['x'], {{}})"))).detail
        assert detail["real"] == "memfd:hidden (deleted)"
        assert Path(detail["system_name"]).read_bytes() == ENV.read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/" + "root/{env}",
        "/proc/thread-self/" + "root/{env}",
        "/proc/self/task/{pid}/cwd/link",
        "/proc/{pid}/cwd/link",
        "link-to-proc/link",
        "/proc/1/../self/cwd/link",
    ],
)
def test_a_way_round_through_proc_is_followed(contained: Play, path: str) -> None:
    code = (
        "import os\n"
        f"os.symlink('{ENV}', 'link'); os.symlink('/proc/self/cwd', 'link-to-proc')\n"
        f"os.execv({path!r}.format(env='{ENV}', pid=os.getpid()), ['x'])"
    )
    assert last(contained(*python(code))).detail["real"] == str(ENV)


def test_the_running_program_itself_is_followed(contained: Play) -> None:
    seen = contained("bash", "-c", "exec /proc/self/exe -c true")
    assert last(seen).detail["real"] == str(Path(shutil.which("bash") or "").resolve())


def test_links_in_a_circle_were_only_attempted(contained: Play) -> None:
    seen = contained("sh", "-c", "ln -s b a; ln -s a b; ln -s /proc/self/cwd/c c; ./a; ./c; exit 0")
    ran = {e.detail["path"]: e.outcome for e in seen.on(Channel.EXEC)}
    assert ran["./a"] is ran["./c"] is Outcome.ATTEMPTED


def test_a_scripts_interpreter_is_named_and_followed(contained: Play) -> None:
    files = {"plain": f"#! {CAT} -u\nrest", "linked": "#!/workspace/tool\n", "long": "#!/bin/" + "x" * 5000}
    code = f"chmod 755 plain linked long; ln -s {CAT} tool; ./plain; ./linked; ./long; exit 0"
    seen = contained("sh", "-c", code, files=files)
    ran = {e.detail["path"]: e.detail for e in seen.on(Channel.EXEC)}
    assert ran["./plain"]["interpreter"] == f"{CAT} -u"
    assert ran["./linked"]["interpreter"] == "/workspace/tool"
    assert ran["./plain"]["interpreter_real"] == ran["./linked"]["interpreter_real"] == str(CAT)
    assert len(ran["./long"]["interpreter"]) < 300


def test_a_script_interpreted_by_a_script_leads_to_the_program(contained: Play) -> None:
    files = {"outer": "#!/workspace/inner\n", "inner": f"#!{CAT}\n"}
    seen = contained("sh", "-c", "chmod 755 outer inner; ./outer; exit 0", files=files)
    detail = next(e.detail for e in seen.on(Channel.EXEC) if e.detail["path"] == "./outer")
    assert (detail["interpreter"], detail["interpreter_real"]) == ("/workspace/inner", str(CAT))


def test_a_loader_shows_what_it_loads_among_its_arguments(contained: Play) -> None:
    loaders = [p for p in Path("/lib64").glob("ld-linux*") if p.exists()]
    if not loaders:
        pytest.skip("no loader in /lib64")
    seen = contained(str(loaders[0]), str(ENV))
    assert last(seen).detail["argv"] == [str(loaders[0]), str(ENV)]
    assert last(seen).detail["real"] == str(loaders[0].resolve())


def test_a_lease_on_the_file_neither_holds_up_the_witness_nor_hides_that_nobody_read_it(contained: Play) -> None:
    code = (
        "import fcntl, os, shutil, signal\n"
        f"shutil.copy('{ENV}', 't'); signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])\n"
        "fd = os.open('t', os.O_RDONLY)\n"
        "fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
        "if os.fork() == 0: os.execv('./t', ['t'])\n"
        "signal.sigwait([signal.SIGIO]); fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK); os.wait()"
    )
    seen = contained(*python(code))
    assert seen.result.exit.clean
    assert last(seen).detail["real"] == "/workspace/t"
    assert "sha256" not in last(seen).detail
    assert state(seen) is ChannelState.PARTIAL


def state(seen: Any) -> ChannelState:
    found: ChannelState = next(c for c in seen.facts.channels if c.channel is Channel.EXEC).state
    return found


def test_a_copy_that_its_owner_may_not_read_is_known_or_leaves_doubt(contained: Play) -> None:
    seen = contained("sh", "-c", f"cp {ENV} t; chmod 111 t; exec ./t")
    assert seen.result.exit.clean
    assert state(seen) is (ChannelState.OBSERVED if "system_name" in last(seen).detail else ChannelState.PARTIAL)


def test_more_than_is_read_of_executed_files_leaves_doubt(contained: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identify, "MAX_HASHED", ENV.stat().st_size)
    assert state(contained("sh", "-c", f"cp {ENV} t; exec ./t")) is ChannelState.OBSERVED
    assert state(contained("sh", "-c", f"cp {ENV} t; cp t u; ./t; exec ./u")) is ChannelState.PARTIAL
