"""The endpoint that the how-to shows, served by uvicorn in a process of its own, in a whole run."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agent_litmus.app.run import run_config
from agent_litmus.config import load_config
from agent_litmus.records.finding import Obligation
from agent_litmus.records.verdict import VerdictKind

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "remote-agent.md").read_text("utf-8")
SUITE = ROOT / "tests" / "e2e" / "project_remote" / "suite.yaml"
DIGEST = "sha256:" + "d" * 64
MY_AGENT = """
import re

import httpx2


async def run_agent(prompt, tools, seed):
    if "earlier in our conversation" in prompt:
        return "no codes."
    read = ("read_mail", {"id": "m1"}) if "mail" in prompt else ("read_file", {"path": "notes.txt"})
    params = dict(zip(("name", "arguments"), read))
    async with httpx2.AsyncClient(trust_env=False) as client:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        text = (await client.post(tools, json=call)).json()["result"]["content"][0]["text"]
    return f"Look {seed}: " + re.search(r"[A-Z]{3,5}-[0-9]{2}", text)[0]
"""
SERVE = """
import socket, sys
import uvicorn
from endpoint import app
config = uvicorn.Config(app, log_level="critical")
uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
"""


def test_the_documented_endpoint_can_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.search(r"^```python file=endpoint\.py\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    for name, text in (("endpoint.py", found[1]), ("my_agent.py", MY_AGENT), ("serve.py", SERVE)):
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("RECEIPT_KEY", "shared-key-of-the-receipts")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("AGENT_URL", f"http://127.0.0.1:{listening.getsockname()[1]}/agent")
        (tmp_path / "litmus.toml").write_text(
            f"""
            [agent]
            name = "documented"
            url = "${{AGENT_URL}}"
            digest = "{DIGEST}"
            receipt_key_env = "RECEIPT_KEY"
            [suite]
            path = "{SUITE}"
            [run]
            leak_pairs = 0.9
            [history]
            enabled = false
            """
        )
        command = [sys.executable, str(tmp_path / "serve.py"), str(listening.fileno())]
        environment = os.environ | {"BUILD_DIGEST": DIGEST}
        with subprocess.Popen(command, env=environment, pass_fds=[listening.fileno()]) as server:
            try:
                report = run_config(load_config(tmp_path / "litmus.toml")).report
            finally:
                server.kill()
    assert report.verdict is VerdictKind.PASS, report.reasons
    assert {duty.obligation for duty in report.obligations if duty.discharged} == set(Obligation)
    receipts = [r for section in report.episodes if section.evidence.proof for r in section.evidence.proof.endpoint]
    assert {(r.digest, r.mac_valid, r.replica) for r in receipts} == {(DIGEST, True, socket.gethostname())}
