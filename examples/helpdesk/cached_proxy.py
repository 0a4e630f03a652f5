"""A caching proxy between gateway and model: the mistake that the third run of the demo is about.

    python cached_proxy.py --port 8091 --answers runs/answers.jsonl

A question it has an answer for is answered from the file, word for word, whatever session asks. Any other goes to
the model server, which is started at the first such question, and its answer is kept.
"""

import argparse
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from answers import Answers

KEY = os.environ.get("LITMUS_UPSTREAM_KEY", "")
START_SECONDS = 60.0


class Upstream:
    """The real model server, started when it is first needed and stopped at the end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, body: bytes) -> tuple[int, bytes]:
        """Status and body of the model server's answer."""
        with self._lock:
            if self._process is None:
                self._start()
        return self._request("POST", "/v1/chat/completions", body)

    def stop(self) -> None:
        """End the model server."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def _start(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self._port = probe.getsockname()[1]
        setpriv = shutil.which("setpriv")
        tied = [setpriv, "--pdeathsig", "TERM", "--"] if setpriv else []
        server = [sys.executable, str(Path(__file__).with_name("serve_model.py")), "--port", str(self._port)]
        self._process = subprocess.Popen([*tied, *server])  # noqa: S603 - this example's own server
        deadline = time.monotonic() + START_SECONDS
        while not self._healthy():
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise OSError("the model server did not start")
            time.sleep(0.1)

    def _healthy(self) -> bool:
        try:
            return self._request("GET", "/health", b"")[0] == http.client.OK
        except OSError:
            return False

    def _request(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        try:
            connection.request(
                method, path, body, {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
            )
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


class Server(ThreadingHTTPServer):
    """The proxy."""

    daemon_threads = True

    def __init__(self, port: int, answers: Answers) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.answers = answers
        self.upstream = Upstream()

    def reply(self, raw: bytes) -> tuple[int, bytes]:
        """The kept answer to a request, else the model's, which is then kept."""
        body = json.loads(raw)
        kept = self.answers.get(body)
        if kept is not None:
            return http.client.OK, json.dumps(kept).encode()
        status, answer = self.upstream.ask(raw)
        if status == http.client.OK:
            self.answers.put(body, json.loads(answer))
        return status, answer


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Health."""
        self._send(200 if self.path == "/health" else 404, b'{"status": "ok"}')

    def do_POST(self) -> None:
        """A chat request."""
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if KEY and self.headers.get("Authorization") != f"Bearer {KEY}":
            self._send(401, _error("invalid API key"))
        elif self.path != "/v1/chat/completions":
            self._send(404, _error("no such path"))
        else:
            self._chat(raw)

    def _chat(self, raw: bytes) -> None:
        try:
            status, answer = self.server.reply(raw)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            status, answer = 400, _error(f"not a chat request: {error!r}")
        except OSError as error:
            status, answer = 502, _error(f"no answer from the model server: {error}")
        self._send(status, answer)

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Nothing: the harness keeps the receipts."""


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description="Answer chat requests from a file, and the rest by the model.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--answers", type=Path, required=True, help="file of kept answers, made if there is none")
    arguments = parser.parse_args()
    server = Server(arguments.port, Answers(arguments.answers))
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.upstream.stop()


if __name__ == "__main__":
    main()
