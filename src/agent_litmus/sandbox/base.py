"""What both providers need of a run's mounts and a session's start."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.sandbox import files
from agent_litmus.sandbox.protocol import Launch, RunMounts, SandboxSpec
from agent_litmus.sandbox.tree import Tree


class Base:
    """The verified snapshot of a run, hashed again whenever its files' status changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = files.tree_signature(path), files.tree_digest(path)

    def verify(self) -> str:
        """The snapshot's digest now.

        Raises:
            LitmusSandboxError: It cannot be read.
        """
        try:
            signature = files.tree_signature(self._path)
            if signature != self._known[0]:
                self._known = signature, files.tree_digest(self._path)
        except OSError as error:
            raise LitmusSandboxError(
                f"the build snapshot cannot be read any more: {error}", hint="start the run again"
            ) from error
        return self._known[1]


def existing(mounts: RunMounts) -> RunMounts:
    """``mounts`` without masks of what is not there.

    Raises:
        LitmusSandboxError: A directory to be mounted does not exist.
    """
    for source in (mounts.snapshot, *(m.source for m in mounts.mounts)):
        if not source.is_dir():
            raise LitmusSandboxError(
                f"{source} is to be mounted in the sandbox but is no directory",
                hint="check the interpreter and the snapshot of the configuration",
            )
    masked = tuple(name for name in mounts.masked if Path(name).is_dir())
    return RunMounts(mounts.snapshot, mounts.python, mounts.mounts, masked)


def write_launch_files(launch: Launch, inside: str, outside: Path) -> None:
    """Write a launch's files, whose paths start with ``inside``, below ``outside``.

    Raises:
        LitmusSandboxError: A path lies elsewhere.
    """
    for name, content in launch.files.items():
        if not Path(name).is_relative_to(inside):
            raise LitmusSandboxError(f"{name!r} does not lie below {inside}", hint="use the session's own paths")
        files.write_tree(outside, {str(Path(name).relative_to(inside)): content})


def environment(launch: Launch, home: str, workspace: str, temporary: str) -> Mapping[str, str]:
    """The agent's environment: nothing of the harness's, the launch's own on top of a bare minimum."""
    fixed = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "USER": "agent",
        "LOGNAME": "agent",
        "LANG": "C.UTF-8",
        "TMPDIR": temporary,
        "PWD": workspace,
    }
    return fixed | dict(launch.env)


def holds_exactly(tree: Tree, spec: SandboxSpec) -> bool:
    """Whether a tree holds the template of ``spec``, all of it and nothing else."""
    wanted = {
        str(files.relative(name)): hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()
        for name, content in spec.files.items()
    }
    return {path: node.sha256 for path, node in tree.nodes.items() if node.kind != "directory"} == wanted
