"""Run files from a directory or an archive, one at a time: never more than one file in memory."""

import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.agentdojo.layout import is_run_name

MAX_FILE = 64 << 20
"""Bytes of the largest run file that is read."""
MAX_WINDOW = 1 << 31
"""Largest window of a zstandard archive, in bytes; ``--long=27`` needs ``1 << 27``."""

_ARCHIVES = (".tar.zst", ".tar.zstd", ".tzst", ".tar")


@dataclass(frozen=True, slots=True)
class RawFile:
    """A run file as found."""

    parts: tuple[str, ...]
    """Its path; bytes that are not UTF-8 are written as escapes."""
    data: bytes
    problem: str = ""
    """Why it was not read; then there is no data."""

    @property
    def path(self) -> str:
        """The path, for messages."""
        return "/".join(self.parts[-5:])


def raw_files(path: Path) -> Iterator[RawFile]:
    """Every run file below a directory or in an archive.

    Raises:
        LitmusConfigError: There is nothing at ``path``, it is no archive we read, or it is cut short or damaged.
    """
    if path.is_dir():
        yield from _from_directory(path)
        return
    if not path.exists():
        raise LitmusConfigError(
            f"{path}: there is no such file or directory", hint="give a runs directory or archive"
        )
    if not path.name.endswith(_ARCHIVES):
        raise LitmusConfigError(
            f"{path}: neither a directory nor an archive ({', '.join(_ARCHIVES)})",
            hint="give AgentDojo's runs directory, or a tar archive of it",
        )
    yield from _from_archive(path)


def _from_directory(root: Path) -> Iterator[RawFile]:
    above = root.resolve().parts
    for folder, folders, names in os.walk(root, onerror=_unreadable):
        folders.sort()
        inner = Path(folder).relative_to(root).parts
        for name in sorted(names):
            if is_run_name(name):
                parts = tuple(_readable(part) for part in (*above, *inner, name))
                yield _from_file(Path(folder, name), parts)


def _from_file(path: Path, parts: tuple[str, ...]) -> RawFile:
    try:
        if not path.is_file():
            return RawFile(parts, b"", "$: not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        return RawFile(parts, b"", f"$: cannot be read: {error.strerror}")
    return _capped(parts, data, len(data))


def _from_archive(path: Path) -> Iterator[RawFile]:
    with ExitStack() as stack:
        try:
            stream = _decompressed(path, stack)
            archive = stack.enter_context(tarfile.open(fileobj=stream, mode="r|"))
            for member in archive:
                parts = tuple(_readable(part) for part in member.name.split("/") if part not in {"", "."})
                if parts and is_run_name(parts[-1]) and not member.isdir():
                    yield _from_member(archive, member, parts)
                archive.members.clear()  # type: ignore[attr-defined] # not in the stubs; tarfile keeps every header otherwise
        except (tarfile.TarError, EOFError, OSError) as error:
            raise _damaged(path, error) from error


def _from_member(archive: tarfile.TarFile, member: tarfile.TarInfo, parts: tuple[str, ...]) -> RawFile:
    if not member.isfile():
        return RawFile(parts, b"", "$: not a regular file")
    file = archive.extractfile(member)
    data = file.read(MAX_FILE + 1) if file else b""
    if len(data) < min(member.size, MAX_FILE + 1):
        raise tarfile.ReadError(f"{'/'.join(parts[-5:])} is cut short")
    return _capped(parts, data, member.size)


def _decompressed(path: Path, stack: ExitStack) -> IO[bytes]:
    file = stack.enter_context(path.open("rb"))
    if path.name.endswith(".tar"):
        return file
    try:
        import zstandard  # noqa: PLC0415 - an extra; a directory needs none
    except ImportError as error:
        raise LitmusConfigError(
            f"{path}: reading it needs the package zstandard",
            hint="install agent-litmus[agentdojo], or unpack the archive and give the directory",
        ) from error
    reader = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).stream_reader(file)
    return io.BufferedReader(stack.enter_context(_Translated(reader, zstandard.ZstdError)), 1 << 20)


class _Translated(io.RawIOBase):
    """A decompressor whose errors are ``OSError``, as those of any other file are."""

    def __init__(self, reader: IO[bytes], error: type[Exception]) -> None:
        super().__init__()
        self._reader, self._error = reader, error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override] # narrower than Buffer
        try:
            return self._reader.readinto(buffer)  # type: ignore[attr-defined,no-any-return] # IO lacks readinto
        except self._error as error:
            raise OSError(str(error)) from error


def _capped(parts: tuple[str, ...], data: bytes, size: int) -> RawFile:
    if size > MAX_FILE:
        return RawFile(parts, b"", f"$: larger than {MAX_FILE >> 20} MiB")
    return RawFile(parts, data)


def _readable(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _unreadable(error: OSError) -> None:
    raise LitmusConfigError(
        f"{error.filename}: cannot be read: {error.strerror}", hint="give a directory you may read"
    ) from error


def _damaged(path: Path, error: Exception) -> LitmusConfigError:
    return LitmusConfigError(
        f"{path}: cut short or damaged: {error}", hint="get the archive again; nothing of it was kept"
    )
