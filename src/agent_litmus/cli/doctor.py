"""``litmus doctor``: what this host lets the sandbox contain and observe."""

import sys

import typer

from agent_litmus.cli.options import JsonOption, ProviderOption


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("doctor", short_help="Say what this host's sandbox observes, contains and lacks.")(doctor)


def doctor(provider: ProviderOption = None, json: JsonOption = False) -> int:
    """Say which sandbox provider this host gives, channel by channel, what is missing and how to get it."""
    from agent_litmus.app.doctor import as_json, as_text, examine

    found = examine(provider or "auto")
    sys.stdout.write(as_json(found) if json else as_text(found))
    return 0
