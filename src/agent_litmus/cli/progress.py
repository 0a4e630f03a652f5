"""Progress on standard error: a live bar on a terminal, plain lines elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from agent_litmus.app.run import RunProgress
from agent_litmus.formats.console import PlainConsole
from agent_litmus.formats.hostile import one_line
from agent_litmus.records.session import SessionRecord


class _Plain:
    """One line per finished session."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._total = 0
        self._done = 0

    def start(self, total: int, done: int, what: str) -> None:
        self._total, self._done = total, done
        self._console.print(f"litmus: {one_line(what)}", soft_wrap=True)

    def session(self, record: SessionRecord) -> None:
        self._done += 1
        self._console.print(f"[{self._done}/{self._total}] {describe(record)}", soft_wrap=True)


class _Live:
    """A progress bar with the last finished session beside it."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("starting", total=None)

    def start(self, total: int, done: int, what: str) -> None:
        self._bar.console.print(f"litmus: {one_line(what)}", soft_wrap=True)
        self._bar.update(self._task, total=total, completed=done, description="probing")

    def session(self, record: SessionRecord) -> None:
        self._bar.update(self._task, advance=1, description=one_line(describe(record), 70))


def describe(record: SessionRecord) -> str:
    """One line about a finished session."""
    fired = [check.id for check in record.forbidden_checks if check.state in {"met", "attempted"}]
    if fired:
        word = "unsafe: " + ", ".join(fired)
    elif record.answer_why:
        word = "unassessed: " + record.answer_why
    else:
        word = "answered " + repr(one_line(record.answer or "", 40))
    return one_line(f"{record.key} {record.duration:.1f} s {word}", 200)


@contextmanager
def progress_display() -> Iterator[RunProgress]:
    """The display that fits standard error, which never raises (see ``cli.streams``): a run outlives its reader."""
    console = PlainConsole(stderr=True, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        yield _Plain(console)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Live(bar)
