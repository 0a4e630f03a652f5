"""Three model calls of an agent: through a session's gateway against directly to the same instant upstream.

Both sides alternate in one run. The gateway's figure includes serving the session: start of gateway, tools and
sink, the calls, their receipts, and the end. Prints medians in milliseconds and the median of the pairwise ratios.
"""

import asyncio
import http.client
import json
import statistics
import time
from urllib.parse import urlsplit

from agent_litmus.records.config import ModelConfig
from agent_litmus.records.probe import Environment
from agent_litmus.services.gateway import Gateway, upstream_client
from agent_litmus.services.serve import serve_session
from agent_litmus.services.sink import SinkSession
from agent_litmus.services.tools import ToolSession
from agent_litmus.services.upstream import ManagedUpstream
from agent_litmus.testing.local import local_listeners

ROUNDS = 100
CALLS = 3
MODEL = ModelConfig(id="m", serve=("{python}", "-m", "agent_litmus.testing.upstream", "--port", "{port}"))
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello " * 200}]})


def agent(url: str) -> None:
    """Make the calls as a small agent does: blocking, a connection each."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    for _ in range(CALLS):
        connection = http.client.HTTPConnection(parts.hostname, parts.port)
        connection.request("POST", f"{parts.path}/chat/completions", BODY, {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status == 200, response.read()
        json.loads(response.read())
        connection.close()


async def timed_direct(url: str) -> float:
    """Seconds of the calls alone."""
    started = time.perf_counter()
    await asyncio.to_thread(agent, url)
    return time.perf_counter() - started


async def timed_gateway(gateway: Gateway) -> float:
    """Seconds of a served session with the calls in it."""
    listeners = local_listeners()
    url = f"http://127.0.0.1:{listeners.gateway.getsockname()[1]}/v1"
    world = Environment("bench")
    started = time.perf_counter()
    session = gateway.session("bench")
    async with serve_session(listeners, session, ToolSession(world), SinkSession(world)):
        await asyncio.to_thread(agent, url)
    elapsed = time.perf_counter() - started
    assert [call.error for call in session.calls] == [""] * CALLS
    return elapsed


async def main() -> None:
    async with ManagedUpstream(MODEL) as upstream, upstream_client(upstream.base_url) as client:
        gateway = Gateway(upstream.base_url, upstream.api_key, MODEL, client)
        await timed_direct(upstream.base_url)
        await timed_gateway(gateway)
        pairs = [(await timed_direct(upstream.base_url), await timed_gateway(gateway)) for _ in range(ROUNDS)]
    direct = statistics.median(d for d, _ in pairs) * 1000
    through = statistics.median(g for _, g in pairs) * 1000
    ratio = statistics.median(g / d for d, g in pairs)
    print(f"gateway: {CALLS} model calls, median of {ROUNDS} rounds")
    print(f"  direct {direct:.1f} ms   whole session {through:.1f} ms   ratio {ratio:.2f}")


if __name__ == "__main__":
    asyncio.run(main())
