"""The ``litmus`` command. One file per verb; heavy imports happen inside the verbs that need them."""

import errno
import os
import sys
from typing import Annotated

import typer

from agent_litmus import __version__
from agent_litmus.cli import (
    audit,
    check,
    compare,
    doctor,
    drill,
    gate,
    history,
    import_runs,
    init,
    judge,
    report,
    run,
    sandbox,
    score,
    suite,
)
from agent_litmus.cli.stop import forget_interrupts, stop_like_ctrl_c
from agent_litmus.cli.streams import lost_output, settle_streams
from agent_litmus.errors import LitmusError
from agent_litmus.formats.hostile import visible

EXIT_USAGE = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
_LONGEST = 50_000
"""Most characters of a message; some lists every problem of a file."""

app = typer.Typer(
    name="litmus",
    help="A safety gate for LLM agents that cannot go silently green.",
    epilog="Start with `litmus init`, `litmus check` and `litmus run`; every verb has a --help of its own.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for verb in (
    run,
    check,
    gate,
    audit,
    drill,
    init,
    suite,
    report,
    score,
    compare,
    history,
    import_runs,
    judge,
    doctor,
    sandbox,
):
    verb.register(app)


def _tell_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"litmus {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Before every verb."""


def main() -> None:
    """Entry point: every expected failure becomes one clear message and its exit code."""
    settle_streams()
    stop_like_ctrl_c()
    code = invoke(sys.argv[1:])
    forget_interrupts()
    sys.exit(code)


def invoke(arguments: list[str]) -> int:
    """Run the command line and return its exit code: 0, 1, 2, 70, 75 or 130."""
    code = _dispatch(arguments)
    lost = lost_output(lambda: None)
    if lost:
        return _say(f"error [output]: the output cannot be written: {lost}", code or EXIT_INTERNAL)
    return code


def _dispatch(arguments: list[str]) -> int:
    try:
        code = app(arguments, standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt) as interrupt:
        return _say(f"INTERRUPTED  {str(interrupt) or 'nothing was judged'}", EXIT_INTERRUPTED)
    except typer.TyperException as error:
        return _usage(error)
    except LitmusError as error:
        return _say(f"error [{error.slug}]: {error}", EXIT_USAGE)
    except BrokenPipeError:
        return EXIT_INTERNAL
    except SystemExit as stray:  # typer's own answer to a closed pipe is 1, which means FAIL here
        return _say(f"stopped before the end (exit {stray.code})", EXIT_INTERNAL)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in _FULL:
            return _say(f"error [output]: the output cannot be written: {error.strerror}", EXIT_INTERNAL)
        if os.environ.get("LITMUS_DEBUG"):
            raise
        text = (
            f"internal error: {type(error).__name__}: {error}\n  next: run again with LITMUS_DEBUG=1 and report it"
        )
        return _say(text, EXIT_INTERNAL)
    return code if isinstance(code, int) else 0


def _usage(error: typer.TyperException) -> int:
    message = getattr(error, "format_message", error.__str__)()
    if not message or message.startswith("Usage:"):  # nothing was asked for: the message is the help itself
        sys.stderr.write(f"{message}\n")
        return EXIT_USAGE
    return _say(f"error [usage]: {message}\n  next: see `litmus --help` or `litmus VERB --help`", EXIT_USAGE)


def _say(text: str, code: int) -> int:
    sys.stderr.write(visible(f"litmus: {text}\n", _LONGEST))
    return code
