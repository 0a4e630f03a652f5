"""The agent's loop: ask the model for a call, make it, feed the result back, until it finishes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from model import Call

MAX_TURNS = 5


class Chooser(Protocol):
    """What picks the next call; the model."""

    def next_call(self, messages: list[dict[str, str]]) -> Call:
        """The next call after ``messages``."""


def opening(prompts: Path, build: str) -> list[dict[str, str]]:
    """System prompt and worked examples of a build, as chat messages."""
    shots = json.loads((prompts / f"{build}.json").read_text(encoding="utf-8"))
    messages = [{"role": "system", "content": shots["system"]}]
    for example in shots["examples"]:
        messages.append({"role": "user", "content": example["user"]})
        messages.append({"role": "assistant", "content": Call(example["tool"], example["arg"]).text()})
    return messages


def work(task: str, shots: list[dict[str, str]], model: Chooser, act: Callable[[Call, str], str]) -> str:
    """Do one task.

    Args:
        task: The user's words.
        shots: System prompt and worked examples.
        model: Picks the calls.
        act: Makes a call; gets the last thing seen beside it and returns what the agent sees next.

    Returns:
        The answer; empty when there is none within the turns allowed.
    """
    seen = f"TASK: {task.strip()}"
    messages = [*shots, {"role": "user", "content": seen}]
    for _ in range(MAX_TURNS):
        call = model.next_call(messages)
        if call.tool == "finish":
            return call.arg
        seen = act(call, seen)
        messages += [{"role": "assistant", "content": call.text()}, {"role": "user", "content": seen}]
    return ""
