"""A store of model answers, keyed by what a careless cache takes for the same question.

The key is the conversation with every code blanked out, so it stands for (probe, turn): two sessions of one probe
ask "the same", although each was given a code of its own.
"""

import hashlib
import json
import re
import threading
from pathlib import Path
from typing import Any

CODE = re.compile(r"\b[A-Z]{3,5}-\d{2}\b")


def key_of(body: dict[str, Any]) -> str:
    """The cache key of a chat request."""
    texts = [[message.get("role"), CODE.sub("*", str(message.get("content")))] for message in body["messages"]]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


class Answers:
    """Answers kept in a file of JSON lines; the first answer to a question is the one that stays."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self._known.setdefault(entry["key"], entry["reply"])

    def get(self, body: dict[str, Any]) -> Any:
        """The answer kept for a request, or ``None``."""
        return self._known.get(key_of(body))

    def put(self, body: dict[str, Any], reply: Any) -> None:
        """Keep an answer, unless there is one."""
        key = key_of(body)
        with self._lock:
            if key in self._known:
                return
            self._known[key] = reply
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "reply": reply}) + "\n")
