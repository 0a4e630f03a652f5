"""Writes docs/reference/cli.md from the command line itself; ``--check`` only compares."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from agent_litmus.cli.main import app

PAGE = Path(__file__).parents[1] / "docs/reference/cli.md"
HEAD = """# Command line

Made from the program by `python scripts/cli_reference.py`; a test keeps it current.

The last line of a run is always `litmus: VERDICT  reason` (with `--json` on standard error). Anything but exit
code 0 is not a pass: 0 PASS · 1 FAIL · 2 usage or configuration · 70 internal error · 75 INDETERMINATE ·
130 interrupted.
Where nothing could be judged (a usage or configuration error: exit code 2), the message is on standard error and
standard output stays empty, with `--json` too. What happens to standard output never changes a run's exit code:
with a closed pipe or a full disk the verdict is still its exit code and in `report.json`. Any other verb whose
output is lost on a full disk does not end with 0.
A crash of the interpreter is 1 too, and some runners retry 75: in a pipeline read the verdict from `report.json` as
well. `LITMUS_DEBUG=1` shows the traceback of an internal error, `litmus --version` the version.
"""


def page() -> str:
    """The whole page."""
    return HEAD + "\n".join(_sections("litmus", typer.main.get_command(app)))


def _sections(path: str, command: Any) -> Iterator[str]:
    children = getattr(command, "commands", {})
    if not children:
        yield from _verb(path, command)
    for name, child in children.items():
        yield from _sections(f"{path} {name}", child)


def _verb(path: str, command: Any) -> Iterator[str]:
    yield f"\n## `{path}`\n"
    yield (command.help or "").strip() + "\n"
    if command.params:
        yield "| option | default | meaning |\n|---|---|---|"
        for parameter in command.params:
            yield _row(parameter)


def _row(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    default = "" if parameter.default in (None, False, ()) else f"`{parameter.default}`"
    return f"| {names} | {default} | {getattr(parameter, 'help', None) or ''} |"


def main() -> None:
    """Write the page, or compare it."""
    text = page().rstrip() + "\n"
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
