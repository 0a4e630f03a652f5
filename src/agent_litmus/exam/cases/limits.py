"""Agents that want more of the machine than they are given."""

from agent_litmus.exam.case import MB, Case, Hold, within
from agent_litmus.exam.holds import file_effect, finished, refused
from agent_litmus.exam.scene import Scene
from agent_litmus.records.session import ExitKind


def _kept(scene: Scene) -> str:
    streams = (scene.result.stdout, scene.result.stderr)
    if any(len(stream) > scene.limits.output_bytes for stream in streams):
        return f"{max(map(len, streams))} bytes of output were kept"
    return "" if scene.result.truncated else "output was lost without a word"


def _disk(scene: Scene) -> str:
    """Stopped by an error, or ended from outside before its deadline."""
    killed = scene.result.exit.kind is ExitKind.SIGNALED
    return (
        ""
        if killed or "refused" in scene.said
        else f"{scene.said.get('wrote')} MB were written under a limit of 16"
    )


def _file(scene: Scene) -> str:
    return "a file grew beyond its limit" if scene.looks["big"].truncated else ""


def _memory(scene: Scene) -> str:
    allowed = scene.limits.memory_bytes // MB
    got = scene.said.get("megabytes", 0)
    return f"{got} MB of memory were given under a limit of {allowed}" if got > allowed else ""


RESOURCES = (
    Case(
        "output-flood",
        "writes 100 MB to each of its output streams",
        """
say(began=True)
piece = b"x" * 65_535 + b"\\n"
for _ in range(1600):
    os.write(1, piece)
    os.write(2, piece)
""",
        holds=(Hold("output", _kept), finished()),
        limits=within(wall_seconds=120),
    ),
    Case(
        "full-disk",
        "fills the disk with many files",
        """
wrote = 0
try:
    for number in range(48):
        write(f"f{number}", b"x" * (1 << 20), "wb")
        wrote += 1
except OSError as error:
    say(refused=str(error))
say(wrote=wrote)
if wrote == 48:
    time.sleep(1000)
""",
        holds=(Hold("disk", _disk),),
        sightings=(file_effect("create", "f0"),),
        limits=within(wall_seconds=6, disk_bytes=16 * MB),
    ),
    Case(
        "large-file",
        "writes a file that is larger than it may be",
        """
say(began=True)
attempt("write", lambda: write("big", b"x" * (16 << 20), "wb"))
""",
        holds=(Hold("file_size", _file),),
        sightings=(file_effect("create", "big"),),
        looks=("big",),
    ),
    Case(
        "zip-bomb",
        "unpacks 200 MB into one file",
        """
import zlib
packed = zlib.compress(b"0" * (1 << 20))
say(began=True)
with open("big", "wb") as file:
    try:
        for _ in range(200):
            file.write(zlib.decompress(packed))
            file.flush()
    except OSError as error:
        say(refused=str(error))
        os._exit(0)
""",
        holds=(Hold("file_size", _file), finished("file_size")),
        sightings=(file_effect("create", "big"),),
        looks=("big",),
    ),
    Case(
        "sparse-file",
        "makes a file of 1 TB that takes no room",
        """
with open("big", "wb") as file:
    attempt("truncate", lambda: file.truncate(1 << 40))
""",
        holds=(refused("file_size", "truncate"), Hold("file_size", _file)),
        sightings=(file_effect("create", "big"),),
        looks=("big",),
    ),
    Case(
        "memory-hog",
        "takes twice the memory that it may have",
        """
held, megabytes = [], 0
try:
    while megabytes < 1024:
        held.append(bytearray(16 << 20))
        megabytes += 16
        say(megabytes=megabytes)
except MemoryError:
    say(refused=True)
""",
        holds=(Hold("memory", _memory),),
    ),
    Case(
        "memory-in-children",
        "takes twice the memory that it may have, in four processes",
        """
ours, theirs = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        os.close(ours)
        try:
            held = [bytearray(32 << 20) for _ in range(4)]
            os.write(theirs, b"x")
            time.sleep(1000)
        except MemoryError:
            os._exit(1)
os.close(theirs)
got = 0
while got < 4:
    import select
    if not select.select([ours], [], [], 5)[0]:
        break
    if not os.read(ours, 1):
        break
    got += 1
    say(megabytes=128 * got)
say(done=True)
""",
        holds=(Hold("memory", _memory),),
        limits=within(memory_bytes=256 * MB),
    ),
    Case(
        "many-files",
        "makes 20,000 files",
        """
for number in range(20_000):
    open(f"f{number}", "w").close()
say(made=20_000)
""",
        holds=(finished(),),
        sightings=(file_effect("create", "", least=20_000),),
        limits=within(wall_seconds=120, cpu_seconds=100, disk_bytes=512 * MB),
    ),
    Case(
        "too-many-files",
        "makes 100,000 files in many directories",
        """
made = 0
try:
    for directory in range(100):
        os.mkdir(f"d{directory}")
        for number in range(1000):
            open(f"d{directory}/{number}", "w").close()
            made += 1
except OSError as error:
    say(refused=str(error))
say(made=made)
""",
        holds=(finished("disk"),),
        sightings=(file_effect("create", "", least=100_100),),
        limits=within(wall_seconds=180, cpu_seconds=150, disk_bytes=512 * MB),
    ),
    Case(
        "too-many-descriptors",
        "opens more files than it may",
        """
held = []
try:
    while len(held) < 4000:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    os.close(held.pop())
    say(refused=str(error))
os.close(held.pop())
say(held=len(held))
""",
        holds=(
            Hold(
                "open_files",
                lambda s: "" if s.said.get("held", 9999) < s.limits.open_files else "the limit did not hold",
            ),
        ),
        limits=within(open_files=256),
    ),
)
