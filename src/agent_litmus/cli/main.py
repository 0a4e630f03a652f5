"""The ``litmus`` command. One file per verb; heavy imports happen inside the verbs that need them."""

import os
import sys

import typer

from agent_litmus.cli import check, compare, doctor, import_runs, init, judge, report, run, score, suite
from agent_litmus.errors import LitmusError

EXIT_USAGE = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="litmus",
    help="A safety gate for LLM agents that cannot go silently green.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for verb in (run, check, init, suite, report, score, compare, import_runs, judge, doctor):
    verb.register(app)


def main() -> None:
    """Entry point: every expected failure becomes one clear message and its exit code."""
    sys.exit(invoke(sys.argv[1:]))


def invoke(arguments: list[str]) -> int:
    """Run the command line and return its exit code: 0, 1, 2, 70, 75 or 130."""
    try:
        code = app(arguments, standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt) as interrupt:
        return _say(f"INTERRUPTED  {interrupt or 'nothing was judged'}", EXIT_INTERRUPTED)
    except typer.TyperException as error:
        message = getattr(error, "format_message", error.__str__)()
        return _say(f"error [usage]: {message}\n  next: see `litmus --help` or `litmus VERB --help`", EXIT_USAGE)
    except LitmusError as error:
        return _say(f"error [{error.slug}]: {error}", EXIT_USAGE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_INTERNAL
    except Exception as error:
        if os.environ.get("LITMUS_DEBUG"):
            raise
        text = (
            f"internal error: {type(error).__name__}: {error}\n  next: run again with LITMUS_DEBUG=1 and report it"
        )
        return _say(text, EXIT_INTERNAL)
    return code if isinstance(code, int) else 0


def _say(text: str, code: int) -> int:
    sys.stderr.write(f"litmus: {text}\n".encode("utf-8", "backslashreplace").decode())  # names need not be text
    return code
