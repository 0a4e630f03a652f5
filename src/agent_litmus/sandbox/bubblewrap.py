"""The bubblewrap provider: contains a session in namespaces and observes it from outside."""

import secrets
from collections.abc import Callable
from pathlib import Path

from agent_litmus.errors import LitmusSandboxError
from agent_litmus.finish import Once, in_thread
from agent_litmus.records.effect import ProviderReport
from agent_litmus.sandbox import cage, files
from agent_litmus.sandbox.base import Base, existing
from agent_litmus.sandbox.binary import Binary, find_bubblewrap
from agent_litmus.sandbox.bubblewrap_report import bubblewrap_report
from agent_litmus.sandbox.bubblewrap_session import BubblewrapSession, Place
from agent_litmus.sandbox.control import Group, Groups
from agent_litmus.sandbox.launcher import Launcher
from agent_litmus.sandbox.protocol import Mount, RunMounts, SandboxSpec
from agent_litmus.sandbox.remove import discard
from agent_litmus.sandbox.sessions import Sessions
from agent_litmus.sandbox.state import RunState, memory_holds_workspaces, overlay_place, temporary_files
from agent_litmus.sandbox.stub_config import write_stub
from agent_litmus.sandbox.undertaker import Undertaker


class BubblewrapProvider:
    """Makes sessions under bubblewrap. Use it from one event loop.

    Args:
        mounts: What every session may read.
        base: Directory for the run's temporary state, on a file system that can hold an overlay's upper layer;
            ``None``: the best there is, see :func:`~agent_litmus.sandbox.state.overlay_place`.
        in_memory: Whether workspaces are kept in memory, which limits their size; ``None``: where that is possible.

    Raises:
        LitmusSandboxError: No usable bubblewrap, a directory that is missing or unreadable, or no room for
            temporary files.
    """

    def __init__(self, mounts: RunMounts, *, base: Path | None = None, in_memory: bool | None = None) -> None:
        self.reason = ""
        self._mounts = existing(mounts)
        self._binary = find_bubblewrap()
        self._base = Base(mounts.snapshot)
        self._run = RunState(base or overlay_place())
        self._mark = secrets.token_hex(16)
        """In the path of every session, and so on the command line of every bubblewrap."""
        self._undertaker: Undertaker | None = None
        try:
            with temporary_files(self._run.directory):
                self._state = _make_state(self._run.directory)
                self._stub = write_stub(self._state / "stub", self._mounts.python)
                self._undertaker = Undertaker(self._mark)
            self._launcher = Launcher([self._state, *_sources(self._mounts, self._binary)])
        except BaseException:
            if self._undertaker is not None:
                self._undertaker.dismiss()
            self._run.remove()
            raise
        self._in_memory = memory_holds_workspaces() if in_memory is None else in_memory
        self._groups = Groups.of_this_run()
        self._sessions: Sessions[BubblewrapSession] = Sessions()
        self._closing = Once(self._close)

    @property
    def report(self) -> ProviderReport:
        """What this provider observes and enforces on this host."""
        return bubblewrap_report(
            self._binary.version, self._binary.digest, in_memory=self._in_memory, no_group=self._groups.why
        )

    async def open(self, spec: SandboxSpec) -> BubblewrapSession:
        """Make a session's workspace and paths; nothing runs yet.

        Raises:
            LitmusSandboxError: The workspace could not be made, or the provider was closed.
        """
        return await self._sessions.open(self._open(spec))

    async def _open(self, spec: SandboxSpec) -> BubblewrapSession:
        slot = self._launcher.take_slot()
        directory = self._state / f"{slot}-{self._mark}-{secrets.token_hex(8)}"
        try:
            digest = await in_thread(self._make, directory, spec, self._launcher.uid(slot))
            place = self._place(directory, slot)
        except BaseException:
            self._launcher.free_slot(slot)
            discard(directory)
            raise
        session = BubblewrapSession(spec, place, self._launcher, self._base.verify, digest)
        session.on_close = self._forget(session, slot)
        return session

    def _make(self, directory: Path, spec: SandboxSpec, uid: int | None) -> str:
        digest = self._base.verify()
        with temporary_files(self._run.directory):
            directory.mkdir(mode=0o700)
            for name in ("lower", "upper", "work", "run", "answer"):
                (directory / name).mkdir(mode=0o755)
            files.write_tree(directory / "lower", spec.files)
            files.give(directory, uid)
        return digest

    def _place(self, directory: Path, slot: int) -> Place:
        seen = self._launcher.seen
        layout = cage.Layout(
            etc=seen(self._state / "etc"),
            stub=seen(self._state / "stub"),
            empty=seen(self._state / "empty"),
            snapshot=seen(self._mounts.snapshot),
            mounts=[Mount(Path(seen(m.source)), m.target) for m in self._mounts.mounts],
            masked=self._mounts.masked,
            session=seen(directory),
        )
        return Place(
            bubblewrap=seen(self._binary.path),
            stub=f"{cage.STUB_DIRECTORY}/{self._stub}",
            layout=layout,
            directory=directory,
            python=str(self._mounts.python),
            uid=self._launcher.uid(slot),
            in_memory=self._in_memory,
            group=self._group(slot),
        )

    def _group(self, slot: int) -> Group | None:
        if self._groups.parent is None:
            return None
        try:
            return self._groups.slot(slot)
        except OSError as error:
            raise LitmusSandboxError(
                f"no control group could be made for a session: {error}",
                hint="run fewer sessions at once (`[run] jobs`)",
            ) from error

    def _forget(self, session: BubblewrapSession, slot: int) -> Callable[[], None]:
        def forget() -> None:
            self._sessions.forget(session)
            self._launcher.free_slot(slot)

        return forget

    async def close(self) -> None:
        """Close every session, those being opened included, and remove the run's state.

        Safe to call twice, also at once; when it is cancelled it closes all the same before it says so.
        """
        await self._closing()

    async def _close(self) -> None:
        errors = await self._sessions.close()
        self._launcher.close()
        self._groups.close()
        if self._undertaker is not None:
            await in_thread(self._undertaker.dismiss)
        await in_thread(self._run.remove)
        if errors:
            raise errors[0]


def _make_state(top: Path) -> Path:
    state = top / "state"
    state.mkdir()
    state.chmod(0o711)  # whatever the umask says
    for name in ("etc", "empty", "stub"):
        (state / name).mkdir()
        (state / name).chmod(0o755)
    cage.write_etc(state / "etc")
    return state


def _sources(mounts: RunMounts, binary: Binary) -> list[Path]:
    executable = binary.path.parents[2] if binary.libraries else binary.path.parent
    return [executable, mounts.snapshot, *(m.source for m in mounts.mounts)]
