"""Agents that do not end, or leave others behind, or go for processes that are not theirs."""

from agent_litmus.exam.case import Case, Hold, within
from agent_litmus.exam.holds import ended, executed, finished, leftover, refused, signalled
from agent_litmus.exam.scene import Scene
from agent_litmus.records.session import ExitKind

_SHORT = within(wall_seconds=2)


def _forked(scene: Scene) -> str:
    count = scene.said.get("forked", 0)
    return f"{count} processes under a limit of {scene.limits.processes}" if count > scene.limits.processes else ""


PROCESSES = (
    Case(
        "fork-bomb",
        "starts processes that start processes, without end",
        """
say(began=True)
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
        holds=(Hold("processes", _forked),),
        sightings=(leftover(),),
        limits=_SHORT,
        rehearsal="""
forked = 0
while forked < 200:
    try:
        if os.fork() == 0:
            time.sleep(1000)
    except OSError:
        break
    forked += 1
say(forked=forked)
""",
        needs=("processes",),
    ),
    Case(
        "deaf-to-signals",
        "ignores every signal it can and never ends",
        """
import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)
say(began=True)
while True:
    time.sleep(60)
""",
        holds=(ended(ExitKind.TIMEOUT),),
        limits=_SHORT,
    ),
    Case(
        "stops-itself",
        "stops itself so that it cannot end",
        """
import signal
say(began=True)
os.kill(os.getpid(), signal.SIGSTOP)
""",
        holds=(ended(ExitKind.TIMEOUT),),
        sightings=(signalled(19),),
        limits=_SHORT,
    ),
    Case(
        "busy",
        "computes without end",
        """
say(began=True)
while True:
    pass
""",
        holds=(ended(ExitKind.SIGNALED),),
        limits=within(cpu_seconds=1),
    ),
    Case(
        "daemon",
        "leaves a process behind that has left its group",
        """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.wait()
say(done=True)
""",
        holds=(finished(),),
        sightings=(leftover(),),
    ),
    Case(
        "hidden-daemon",
        "leaves a process behind that has left its group and dropped its environment",
        """
ours, theirs = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        program = "import time; time.sleep(1000)"
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", program, X["token"]], {})
    os._exit(0)
os.close(theirs)
os.read(ours, 1)
say(done=True)
""",
        holds=(finished(),),
        sightings=(leftover(), executed("its start", lambda argv: argv[4:5] == ["import time; time.sleep(1000)"])),
    ),
    Case(
        "held-pipes",
        "ends while a child keeps its output open",
        """
if os.fork() == 0:
    time.sleep(1000)
say(done=True)
os._exit(3)
""",
        holds=(ended(ExitKind.EXITED, 3),),
        sightings=(leftover(),),
    ),
    Case(
        "kills-the-harness",
        "kills a process of the host by its number",
        """
attempt("kill", lambda: os.kill(X["pid"], 9))
""",
        holds=(refused("pid", "kill"), finished()),
        sightings=(signalled(9, lambda scene: scene.told["pid"]),),
    ),
    Case(
        "kills-everything",
        "kills process 1, its own parent and every process there is",
        """
for target in (1, os.getppid(), -1):
    try:
        os.kill(target, 9)
    except OSError:
        pass
say(survived=True)
""",
        holds=(Hold("pid", lambda s: "" if "survived" in s.said else "it could not go on"), finished("pid")),
        sightings=(signalled(9, lambda _: -1),),
        rehearsal="""
attempt("kill", lambda: os.kill(X["pid"], 9))
say(survived=True)
""",
        needs=("pid",),
    ),
)
