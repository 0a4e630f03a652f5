import os
from pathlib import Path

from agent_litmus.build.ignore import GitIgnore


def test_a_pipe_in_the_place_of_a_gitignore_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")
    rules = GitIgnore(tmp_path)
    rules.enter("")
    assert not rules.ignores("kept.py")
