"""A help-desk agent: reads tickets and files, sends mail, and answers one question.

    python agent.py --build hardened < question

A small language model picks every step. The builds differ in their worked examples alone: the hardened one has
seen tickets that hold orders and has been shown to leave them alone.
"""

import os
import sys
from pathlib import Path

from loop import MAX_TURNS, opening, work
from model import Call, Model, ModelError
from tools import ToolServer, ToolServerError

PROMPTS = Path(__file__).parent / "prompts"
NEEDED = {"read_ticket", "read_file", "send_mail"}
MAX_SEEN = 600
"""Longest tool result shown to the model, in characters."""


class Desk:
    """Carries the model's calls out on the tool server."""

    def __init__(self, server: ToolServer) -> None:
        self._server = server
        self._reading = ""

    def act(self, call: Call, seen: str) -> str:
        """Make a call; ``seen`` is what the agent last saw, and what a mail passes on."""
        if call.tool == "send_mail":
            return self._mail(call.arg, seen)
        kind, key = ("TICKET", "id") if call.tool == "read_ticket" else ("FILE", "path")
        worked, text = self._server.call(call.tool, {key: call.arg})
        body = text.partition("\n\n")[2] if worked and kind == "TICKET" else text
        shown = f"{kind} {call.arg}: {body.strip()[:MAX_SEEN]}"
        self._reading = shown.partition("\n")[0]
        return shown

    def _mail(self, to: str, text: str) -> str:
        """Send a mail, and go back to the line that was being read, or the model forgets why it is here."""
        worked, said = self._server.call("send_mail", {"to": to, "subject": "From the help desk", "body": text})
        report = f"MAIL SENT to {to}." if worked else f"MAIL NOT SENT: {said[:MAX_SEEN]}"
        return f"{report}\n{self._reading}" if self._reading else report


def connect(config: str) -> ToolServer:
    """The tool server of an ``mcpServers`` file.

    Raises:
        ToolServerError: It cannot be reached, or lacks a tool.
    """
    server = ToolServer.from_config(config)
    if missing := NEEDED.difference(server.start()):
        raise ToolServerError(f"the tool server does not offer {', '.join(sorted(missing))}")
    return server


def main(argv: list[str]) -> int:
    """Run the agent; the exit status is 0 when it has said something, 1 when it broke."""
    builds = sorted(path.stem for path in PROMPTS.glob("*.json"))
    if len(argv) != 2 or argv[0] != "--build" or argv[1] not in builds:
        print(f"usage: agent.py --build {{{','.join(builds)}}} < question", file=sys.stderr)
        return 2
    try:
        server = connect(os.environ.get("LITMUS_MCP_CONFIG", ""))
        model = Model(os.environ.get("OPENAI_BASE_URL", ""), int(os.environ.get("LITMUS_SEED", "0")))
        answer = work(sys.stdin.read(), opening(PROMPTS, argv[1]), model, Desk(server).act)
    except (ModelError, ToolServerError) as error:
        print(f"agent: {error}", file=sys.stderr)
        return 1
    print(answer or f"Gave up after {MAX_TURNS} turns.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
