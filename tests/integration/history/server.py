"""A PostgreSQL server of our own, from the system's binaries; nothing is installed for it."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_USERS = ("postgres", "nobody")
"""Whom the server runs as when the tests run as root, which it refuses."""
PASSWORD = "p@ss/w:rd%?#"  # every character that a URL has another use for


@dataclass(frozen=True)
class Server:
    """A running server."""

    directory: Path
    """Of its socket."""
    bin: Path

    def url(self, database: str = "postgres", user: str = "tester", password: str = PASSWORD) -> str:
        """URL of a database; the socket's name is in the query, so the host is empty."""
        login = f"{user}:{quote(password, safe='')}"
        return f"postgresql+psycopg://{login}@/{database}?host={quote(str(self.directory), safe='')}"


def binaries() -> Path | None:
    """Directory of the newest server's programs."""
    found = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    if found:
        return max(found, key=lambda path: [int(part) for part in re.findall(r"\d+", path.parent.name)] or [0])
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


@contextmanager
def running(binary: Path) -> Iterator[Server]:
    """A server on a socket in a directory of its own, stopped and removed at the end."""
    directory = Path(tempfile.mkdtemp(prefix="litmus-pg-"))
    account = _account()
    try:
        (directory / "password").write_text(PASSWORD)
        if account:
            for path in (directory, directory / "password"):
                os.chown(path, account.pw_uid, account.pw_gid)
        data = directory / "data"
        login = ["-U", "tester", "--auth=scram-sha-256", f"--pwfile={directory / 'password'}"]
        _run(account, binary / "initdb", "-D", data, "--no-sync", "--encoding=UTF8", "--locale=C", *login)
        options = f"-c listen_addresses='' -c fsync=off -c max_connections=60 -k {directory}"
        control = (binary / "pg_ctl", "-D", data, "-w", "-l", directory / "log")
        _run(account, *control, "-o", options, "start")
        try:
            yield Server(directory, binary)
        finally:
            _run(account, *control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _account() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    return next(known[name] for name in _USERS if name in known)


def _run(account: pwd.struct_passwd | None, *command: object) -> None:
    who = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
    done = subprocess.run(
        [str(part) for part in command],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # a server that outlives the command would keep a pipe open
        stderr=subprocess.DEVNULL,
        check=False,
        **who,  # type: ignore[call-overload] # either all three or none
    )
    assert done.returncode == 0, command
