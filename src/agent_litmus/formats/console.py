"""The console that every table and summary is printed on."""

from typing import TextIO

from rich.console import Console


class PlainConsole(Console):
    """Reads no markup in what it is given, and leaves a closed pipe to the caller: its exit code is a verdict."""

    def on_broken_pipe(self) -> None:
        """Raise the error on, where the base class would exit with 1, which means FAIL here."""
        raise  # noqa: PLE0704 - called in the handler of the error


def console_on(file: TextIO, width: int) -> Console:
    """A console on ``file``.

    Args:
        file: Where to.
        width: Columns where ``file`` is no terminal and has no width of its own.
    """
    console = PlainConsole(file=file, highlight=False, emoji=False, markup=False)
    if not console.is_terminal:
        console.width = width
    return console
