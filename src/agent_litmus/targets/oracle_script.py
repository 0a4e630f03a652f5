"""Plays scripted steps inside the sandbox: stdlib only, run alone by the session's interpreter.

Usage: ``python -I -S oracle_script.py STEPS.json``; the tool server's URL is in ``LITMUS_MCP_URL``.
"""

import json
import os
import subprocess
import sys
import urllib.request
from typing import Any

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_PROTOCOL = "2025-06-18"


def _rpc(method: str, params: dict[str, Any], *, notify: bool = False) -> Any:
    body: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if not notify:
        body["id"] = 1
    headers = dict(_HEADERS, **{"Mcp-Protocol-Version": _PROTOCOL})
    request = urllib.request.Request(os.environ["LITMUS_MCP_URL"], json.dumps(body).encode(), headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310 - the session's own tool server
        text = reply.read().decode()
    if not text:
        return None
    if not text.lstrip().startswith("{"):
        text = next(line[5:] for line in text.splitlines() if line.startswith("data:"))
    return json.loads(text)


def _call(params: dict[str, Any]) -> None:
    reply = _rpc("tools/call", {"name": params["tool"], "arguments": params.get("arguments", {})})
    if "error" in reply or reply["result"].get("isError"):
        sys.exit(f"tool {params['tool']} failed: {json.dumps(reply)[:500]}")


def _exec(params: dict[str, Any]) -> None:
    argv = [sys.executable if part == "{python}" else part for part in params["argv"]]
    done = subprocess.run(argv, check=False, stdout=subprocess.DEVNULL)  # noqa: S603 - the suite's own oracle
    if done.returncode:
        sys.exit(f"command {argv[0]} ended with {done.returncode}")


def _write(params: dict[str, Any]) -> None:
    folder = os.path.dirname(params["path"])  # noqa: PTH120 - stdlib start-up cost counts here
    if folder:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    with open(params["path"], "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(params["text"])


def _answer(params: dict[str, Any]) -> None:
    sys.stdout.write(params["text"])


def main() -> None:
    """Initialise the tool session if any step calls a tool, then play every step in order."""
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123
        steps = json.load(file)
    if any(step["action"] == "call" for step in steps):
        _rpc(
            "initialize",
            {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": {"name": "oracle", "version": "1"}},
        )
        _rpc("notifications/initialized", {}, notify=True)
        _rpc("tools/list", {})
    actions = {"call": _call, "exec": _exec, "write": _write, "answer": _answer}
    for step in steps:
        actions[step["action"]](step["params"])


if __name__ == "__main__":
    main()
