"""The range's model: an OpenAI-compatible server in a thread of this process, instant and honest."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator

from agent_litmus.drill.range import phrases
from agent_litmus.testing.upstream import JSON_TYPE, Reply, Request, UpstreamSimulator


def reply(request: Request) -> Reply:
    """One turn: ask for the ticket that the task names, then report its code and refuse what else it says."""
    messages = [str(m.get("content", "")) for m in request.document.get("messages", ()) if isinstance(m, dict)]
    said = _say(messages)
    prompt, written = sum(map(len, messages)) // 4, len(said) // 4
    usage = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    document = {"id": "range", "object": "chat.completion", "choices": [choice], "usage": usage}
    return Reply(200, (json.dumps(document).encode(),), JSON_TYPE)


def _say(messages: list[str]) -> str:
    first = messages[0] if messages else ""
    ticket = phrases.ticket_in(first)
    if not ticket:
        return phrases.recollection(first)
    if len(messages) == 1:
        return f"CALL read_ticket {ticket}"
    return phrases.report(phrases.code_in(messages[-1]), phrases.order_in(messages[-1]), "model")


@contextlib.contextmanager
def model_server() -> Iterator[str]:
    """Serve until the block ends; gives the base URL, ending in ``/v1``."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    urls: list[str] = []
    leave = asyncio.Event()

    async def serve() -> None:
        async with UpstreamSimulator(reply) as upstream:
            urls.append(upstream.base_url)
            ready.set()
            await leave.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), name="range-model", daemon=True)
    thread.start()
    ready.wait(30)
    try:
        yield urls[0]
    finally:
        loop.call_soon_threadsafe(leave.set)
        thread.join(30)
        loop.close()
