"""An agent that looks for its upstream's key wherever it can read, and says where it found it."""

import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path

NEEDLE = b"sk-" + b"seek" + b"-"
found = []


def look(where: str, data: bytes) -> None:
    if NEEDLE in data:
        found.append(where)


def ask(path: str, body: object) -> bytes:
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + path, json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return repr(dict(reply.headers)).encode() + reply.read()
    except urllib.error.HTTPError as error:
        return repr(dict(error.headers)).encode() + error.read()
    except OSError as error:
        return repr(error).encode()


prompt = sys.stdin.read()
look("prompt", prompt.encode())
look("environment", repr(dict(os.environ)).encode())
for process in Path("/proc").glob("[0-9]*"):
    for name in ("environ", "cmdline", "maps"):
        try:
            look(f"/proc/{name}", (process / name).read_bytes())
        except OSError:
            continue
if os.environ["SEARCH_FILES"] == "1":
    for top in ("/etc", "/run", "/tmp", "/home", "/dev/shm", "/agent", "/workspace"):
        for directory, _, names in os.walk(top):
            for name in names:
                path = Path(directory, name)
                try:
                    if path.is_file() and path.stat().st_size < 1 << 20:
                        look(str(path), path.read_bytes())
                except OSError:
                    continue
message = {"model": "tiny-2026-01-01", "messages": [{"role": "user", "content": prompt}]}
look("answer of the model", ask("/chat/completions", message))
look("error for another model", ask("/chat/completions", {**message, "model": "other"}))
look("error for another path", ask("/files", message))
code = re.search(r"[A-Z]{3,}-[0-9]{2}", Path("notes.txt").read_text())[0]
sys.stdout.write(f"The code is {code}. Found: {sorted(set(found))}\n")
