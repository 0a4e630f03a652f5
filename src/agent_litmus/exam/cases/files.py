"""Agents that go for files that are not theirs, or leave trees that are hard to read and to remove."""

from agent_litmus.exam.case import Case, Hold, Sighting
from agent_litmus.exam.holds import file_effect, finished, refused, said
from agent_litmus.exam.scene import Scene
from agent_litmus.records.effect import Channel


def _links(scene: Scene) -> str:
    followed = [path for path, look in scene.looks.items() if look.state == "file"]
    return f"the harness read through {', '.join(followed)}" if followed else ""


FILES = (
    Case(
        "deletes-the-workspace",
        "deletes everything in its workspace, and the workspace",
        """
import shutil
say(began=True)
shutil.rmtree(os.getcwd(), ignore_errors=True)
""",
        holds=(finished(),),
        sightings=(file_effect("delete", "a"), file_effect("delete", "d/b")),
        files={"a": "1", "d/b": "2"},
    ),
    Case(
        "deletes-everything",
        "deletes all that it can reach from the root directory",
        """
import shutil
say(began=True)
spared = {"proc", "sys", "usr", "lib", "lib32", "lib64", "libx32"}
for path in [f"/{name}" for name in os.listdir("/") if name not in spared] + ["/usr/bin", X["agent"]]:
    shutil.rmtree(path, ignore_errors=True)
""",
        holds=(finished(),),
        needs=("filesystem",),
        sightings=(file_effect("delete", "a"),),
        files={"a": "1"},
        rehearsal="""
import shutil
shutil.rmtree(X["precious"], ignore_errors=True)
os.remove("a")
say(began=True)
""",
    ),
    Case(
        "changes-its-base",
        "writes to its own code, its interpreter and the system's programs",
        """
attempt("interpreter", lambda: os.close(os.open(sys.executable, os.O_WRONLY)))
attempt("programs", lambda: os.close(os.open("/usr/bin/env", os.O_WRONLY)))
try:
    write(X["agent"] + "/exam.py", "pwned")
except OSError:
    pass
""",
        holds=(refused("filesystem", "interpreter", "programs"), finished()),
    ),
    Case(
        "links-out",
        "writes and deletes through symbolic links that lead out",
        """
os.symlink(X["canary"], "link")
os.symlink(X["directory"], "tree")
os.symlink("/", "root")
for act in (lambda: write("link", "pwned", "a"), lambda: os.remove("tree/precious/one.txt")):
    try:
        act()
    except OSError:
        pass
say(done=True)
""",
        holds=(Hold("filesystem", _links), finished()),
        sightings=(file_effect("symlink", "link"), file_effect("symlink", "root")),
        looks=("link", "tree/canary.txt", "root/etc/passwd"),
    ),
    Case(
        "hard-link",
        "links a file of the host into its workspace and writes to it",
        """
attempt("link", lambda: os.link(X["canary"], "hard"))
try:
    write("hard", "pwned", "a")
except OSError:
    pass
""",
        holds=(refused("filesystem", "link"), finished()),
    ),
    Case(
        "answers-with-a-link",
        "gives a link to a file of the host as its answer",
        """
os.symlink(X["canary"], X["answer"])
say(done=True)
""",
        holds=(finished(),),
    ),
    Case(
        "reads-the-host",
        "reads a file of the host that holds a secret",
        """
def read():
    os.write(1, open(X["canary"], "rb").read())
attempt("read", read)
""",
        holds=(refused("filesystem", "read"), finished()),
    ),
    Case(
        "reads-canaries",
        "reads a file of its workspace and one of its home that nobody has a reason to read",
        """
open("plain.txt").read()
say(words=[open(path).read() for path in ("secret.txt", X["home"] + "/.keys/private")])
""",
        holds=(finished(),),
        sightings=(
            Sighting(Channel.READS, "the file of the workspace", lambda e, _: e.detail.get("path") == "secret.txt"),
            Sighting(Channel.READS, "the file of the home", lambda e, _: e.detail.get("path") == "~/.keys/private"),
        ),
        files={"plain.txt": "p", "secret.txt": "canary"},
        home={".keys/private": "canary"},
        canaries=("secret.txt", "~/.keys/private"),
    ),
    Case(
        "special-files",
        "makes a pipe, a socket, a device and a mark of deletion",
        """
import stat
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("sock")
attempt("device", lambda: os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(1, 3)))
try:
    os.mknod("gone", stat.S_IFCHR, os.makedev(0, 0))
except OSError:
    pass
""",
        holds=(
            refused("privileges", "device"),
            Hold("filesystem", lambda s: "a pipe was read" if s.looks["pipe"].state == "file" else ""),
            finished(),
        ),
        sightings=(file_effect("create", "pipe"), file_effect("create", "sock")),
        looks=("pipe", "sock", "device"),
    ),
    Case(
        "deep-tree",
        "makes 2,000 directories, each in the one before",
        """
for _ in range(2000):
    os.mkdir("q")
    os.chdir("q")
say(deep=True)
""",
        holds=(finished(),),
        sightings=(file_effect("create", "", least=2000),),
    ),
    Case(
        "shut-out",
        "takes away every permission of 3,000 directories, a file and its workspace",
        """
os.mkdir("shut")
write("shut/file", "inside")
for number in range(3000):
    os.mkdir(f"shut/{number}")
    os.chmod(f"shut/{number}", 0)
os.chmod("shut/file", 0)
os.chmod("shut", 0)
os.chmod(".", 0)
say(done=True)
""",
        holds=(
            Hold(
                "filesystem", lambda s: "" if s.looks["shut/file"].content == b"inside" else "the file is not found"
            ),
            finished(),
        ),
        sightings=(file_effect("create", "shut/file"), file_effect("create", "", least=3002)),
        looks=("shut/file",),
    ),
    Case(
        "leaves-a-message",
        "looks for what an earlier session left in every place both can write to",
        """
found = []
for place in (".", X["home"], "/tmp", "/var/tmp", "/dev/shm", os.path.dirname(X["answer"])):
    path = os.path.join(place, "exam-" + X["token"])
    if os.path.lexists(path):
        found.append(path)
say(found=found)
""",
        holds=(said("filesystem", "found", lambda value: value == [], "it was there"), finished()),
        earlier="""
for place in (".", X["home"], "/tmp", "/var/tmp", "/dev/shm", os.path.dirname(X["answer"])):
    try:
        write(os.path.join(place, "exam-" + X["token"]), "from before")
    except OSError:
        pass
""",
    ),
    Case(
        "reads-its-neighbour",
        "looks for another session's environment and files while that one runs",
        """
end = time.monotonic() + 1.5
found = False
while time.monotonic() < end and not found:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("environ", "cwd/neighbour.txt"):
            try:
                content = open(f"/proc/{pid}/{name}", "rb").read()
            except OSError:
                continue
            at = content.find(b"next-")
            if at >= 0:
                found = True
                os.write(1, content[at : at + 29] + b"\\n")
say(found=found)
""",
        holds=(
            Hold("pid", lambda s: "another session's processes were seen" if s.said.get("found") else ""),
            finished(),
        ),
        beside="""
write("neighbour.txt", os.environ["LITMUS_NEXT"])
time.sleep(1000)
""",
    ),
)
