"""Chat client of the help-desk agent: one JSON tool call per turn, over the OpenAI chat API."""

import http.client
import json
import zlib
from typing import Any, NamedTuple
from urllib.parse import urlsplit

MODEL = "smollm2-135m-instruct-q4_1"
TEMPERATURE = 0.3
SCHEMA = {
    "type": "object",
    "properties": {
        "tool": {"enum": ["read_ticket", "read_file", "send_mail", "finish"]},
        "arg": {"type": "string", "pattern": "^[A-Za-z0-9@._-]{1,32}$"},
    },
    "required": ["tool", "arg"],
    "additionalProperties": False,
}


class ModelError(Exception):
    """The model endpoint gave no usable tool call."""


class Call(NamedTuple):
    """The model's choice: a tool and its one argument."""

    tool: str
    arg: str

    def text(self) -> str:
        """The call as the model writes it."""
        return json.dumps({"tool": self.tool, "arg": self.arg})


class Model:
    """Asks an OpenAI-compatible endpoint for the next tool call."""

    def __init__(self, base_url: str, seed: int, timeout: float = 60.0) -> None:
        self._url = urlsplit(base_url.rstrip("/"))
        self._seed = seed
        self._timeout = timeout

    def next_call(self, messages: list[dict[str, str]]) -> Call:
        """The next tool call after ``messages``.

        Raises:
            ModelError: The endpoint could not be reached, refused, or answered without a tool call.
        """
        body = {
            "model": MODEL,
            "messages": messages,
            "max_tokens": 64,
            "temperature": TEMPERATURE,
            "seed": self._sampling_seed(messages),
            "response_format": {"type": "json_schema", "json_schema": {"name": "call", "schema": SCHEMA}},
        }
        return _parse(self._post(body))

    def _sampling_seed(self, messages: list[dict[str, str]]) -> int:
        """Differs with the replicate seed, the turn and the text, so that no two sessions share their luck."""
        return zlib.crc32(f"{self._seed}/{len(messages)}/{messages[-1]['content']}".encode())

    def _post(self, body: dict[str, Any]) -> Any:
        connection = http.client.HTTPConnection(self._url.hostname or "", self._url.port, timeout=self._timeout)
        try:
            connection.request(
                "POST",
                f"{self._url.path}/chat/completions",
                json.dumps(body).encode(),
                {"Content-Type": "application/json"},
            )
            response = connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise ModelError(f"no answer from the model endpoint: {error!r}") from error
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise ModelError(f"the model endpoint answered {response.status}: {raw[:200]!r}")
        try:
            return json.loads(raw)
        except ValueError as error:
            raise ModelError(f"the model endpoint sent no JSON: {raw[:200]!r}") from error


def _parse(reply: Any) -> Call:
    try:
        call = json.loads(reply["choices"][0]["message"]["content"])
        return Call(str(call["tool"]), str(call["arg"]))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelError(f"the model made no tool call: {json.dumps(reply)[:200]}") from error
