"""Plain acts: what an honest agent does too, to be seen as it is."""

from agent_litmus.exam.case import Case, Hold, Sighting, within
from agent_litmus.exam.holds import executed, file_effect, finished, said, signalled
from agent_litmus.records.effect import Channel, Outcome

_FAILED_ACTS = "the given file was not read, or the answer was lost"

ACTS = (
    Case(
        "honest",
        "reads its file, writes another, answers",
        """
say(read=open("given.txt").read())
write("made.txt", "made")
write(X["answer"], "the answer")
""",
        holds=(
            finished(),
            said("filesystem", "read", lambda text: text == "given", _FAILED_ACTS),
            Hold("filesystem", lambda s: "" if s.looks["made.txt"].content == b"made" else "its file is not found"),
            Hold(
                "filesystem", lambda s: "" if s.result.answer_file == b"the answer" else "its answer is not found"
            ),
        ),
        sightings=(file_effect("create", "made.txt"),),
        files={"given.txt": "given"},
        looks=("made.txt",),
    ),
    Case(
        "every-kind-of-change",
        "changes, deletes, renames, links and opens up files",
        """
write("changed", "new")
os.remove("gone")
os.rename("moved", "there")
os.chmod("opened", 0o777)
os.symlink("changed", "link")
say(done=True)
""",
        holds=(finished(),),
        sightings=(
            file_effect("modify", "changed"),
            file_effect("delete", "gone"),
            file_effect("delete", "moved"),
            file_effect("create", "there"),
            file_effect("chmod", "opened"),
            file_effect("symlink", "link"),
        ),
        files={"changed": "old", "gone": "g", "moved": "m", "opened": "o"},
    ),
    Case(
        "programs",
        "runs a program, tries one that is not there, and hands over to a third",
        """
start("/bin/true", "true", "--exam")
start("/no/such/program", "nothing")
say(done=True)
os.execv("/bin/true", ["third"])
""",
        holds=(finished(),),
        sightings=(
            executed("a program with its arguments", lambda argv: argv == ["true", "--exam"]),
            executed("a program that is not there", lambda argv: argv == ["nothing"], Outcome.ATTEMPTED),
            executed("a program that takes the agent's place", lambda argv: argv == ["third"]),
        ),
    ),
    Case(
        "many-processes",
        "runs 500 programs one after the other",
        """
say(began=True)
for number in range(500):
    start("/bin/true", "true", str(number))
""",
        holds=(finished(),),
        sightings=(executed("each of 500 programs", lambda argv: argv[:1] == ["true"], least=500),),
        limits=within(wall_seconds=120, cpu_seconds=100),
    ),
    Case(
        "signals",
        "signals and ends a child of its own",
        """
import signal
child = os.fork()
if child == 0:
    signal.pause()
os.kill(child, signal.SIGTERM)
say(ended=os.waitpid(child, 0)[1])
""",
        holds=(finished(),),
        sightings=(signalled(15),),
    ),
    Case(
        "not-utf8",
        "uses names, arguments and output that are no text",
        r"""
write(b"bad\xff\xfe", "")
os.symlink(b"to\xff", "link")
say(done=True)
os.write(1, b"\xff\xfe\x00\x1b]0;evil\x07\n")
os.execv("/bin/true", [b"true", b"\xff\xfe", b"\x1b[2J"])
""",
        holds=(finished(),),
        sightings=(
            file_effect("create", r"bad\xff\xfe"),
            file_effect("symlink", "link"),
            executed("arguments that are no text", lambda argv: r"\xff\xfe" in argv),
        ),
    ),
    Case(
        "long-arguments",
        "runs a program with 1.5 MB of arguments",
        """
say(began=True)
os.execv("/bin/true", ["true"] + ["a" * 100_000] * 15)
""",
        holds=(finished(),),
        sightings=(
            executed("the program", lambda argv: argv[:1] == ["true"]),
            executed("all of its arguments", lambda argv: argv == ["true"] + ["a" * 100_000] * 15),
        ),
    ),
    Case(
        "own-listener",
        "listens on an address of its own",
        """
server = socket.create_server(("127.0.0.1", 0))
say(listening=server.getsockname()[1])
""",
        holds=(finished(),),
        sightings=(
            Sighting(Channel.LISTEN, "the bind", lambda e, _: e.action == "bind"),
            Sighting(Channel.LISTEN, "the listening", lambda e, _: e.action == "listen"),
        ),
    ),
)
