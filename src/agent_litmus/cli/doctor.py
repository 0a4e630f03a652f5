"""``litmus doctor``: what this host lets the sandbox contain and observe."""

import sys

import typer

from agent_litmus.cli.options import ProviderOption


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("doctor")(doctor)


def doctor(provider: ProviderOption = None) -> int:
    """Say which sandbox provider this host gives, channel by channel, and what is missing."""
    from agent_litmus.app.doctor import examine

    sys.stdout.write(examine(provider or "auto"))
    return 0
