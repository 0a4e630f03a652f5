"""From an interpreter and a snapshot to what every session of a run mounts."""

from agent_litmus.build.interpreter import Interpreter
from agent_litmus.build.snapshot import Snapshot
from agent_litmus.sandbox.protocol import Mount, RunMounts


def run_mounts(interpreter: Interpreter, snapshot: Snapshot) -> RunMounts:
    """What a session may read besides system directories; parents stand before what is mounted inside them."""
    mounts = [Mount(path, str(path)) for path in interpreter.mounts]
    mounts += [Mount(tree.source, str(tree.target)) for tree in snapshot.trees]
    return RunMounts(
        snapshot=snapshot.path,
        python=interpreter.python,
        mounts=tuple(sorted(mounts, key=lambda mount: mount.target)),
        masked=tuple(map(str, interpreter.masked)),
    )
