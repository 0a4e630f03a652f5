"""The state of the checkout, noted beside the digest."""

import os
import subprocess
from pathlib import Path

from agent_litmus.records.build import GitState

_TIMEOUT = 10.0


def git_state(root: Path) -> GitState | None:
    """Commit and whether anything below ``root`` differs from it; ``None`` without git or outside a repository."""
    commit = _git(root, "rev-parse", "--verify", "HEAD")
    status = _git(root, "status", "--porcelain", "--untracked-files=normal", "--", ".")
    if commit is None or status is None:
        return None
    return GitState(commit=commit.strip(), dirty=bool(status.strip()))


def _git(root: Path, *arguments: str) -> str | None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            # A repository's own settings may name programs to run; status needs none of them.
            ["git", "-c", "core.fsmonitor=false", "-C", str(root), *arguments],  # noqa: S607 - the user's git
            capture_output=True,
            check=False,
            env={**env, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
