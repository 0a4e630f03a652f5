"""Where a connection or a datagram leads, seen from inside a session's network.

Every address is local there, and nothing but the session's own services and the agent itself answers. So whatever
an agent's own listener accepts has not left, and only what the harness serves has arrived somewhere. Beyond
loopback that is every destination, opened when it is first wanted, as long as there is room and no listener of the
agent's.
"""

import ipaddress
from dataclasses import dataclass

from agent_litmus.sandbox import inspect_process
from agent_litmus.sandbox.demand import Demand
from agent_litmus.sandbox.memory import Address

_DNS = 53


@dataclass(frozen=True, slots=True)
class Services:
    """Ports the harness answers on."""

    own: frozenset[int]
    """TCP, on loopback alone: the gateway and the tool server."""
    sinks: frozenset[int]
    """TCP, on every address."""
    demand: Demand | None = None
    """Opens further destinations; ``None``: nothing else answers."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What becomes of a destination."""

    done: bool
    """The harness answers there; or, on loopback and for Unix sockets, something inside does."""
    loopback: bool
    """Nothing but the session's own processes and services can be there."""


def reach(
    pid: int, first: int, address: Address, services: Services, *, datagram: bool, readable: bool = True
) -> Reach:
    """Judge a destination.

    Args:
        pid: The process that wants to go there.
        first: A process in the session's own network.
        address: The destination.
        services: What the harness serves.
        datagram: Whether a datagram goes there, not a connection.
        readable: Whether it goes by a protocol that the harness answers.
    """
    if address.family == "unix":
        return Reach(inspect_process.is_listening(pid, address), loopback=True)
    if not address.family.startswith("inet"):
        return Reach(done=False, loopback=False)
    place = ipaddress.ip_address(address.address)
    place = getattr(place, "ipv4_mapped", None) or place
    loopback = place.is_loopback or place.is_unspecified  # connecting to no address means oneself
    if not readable:
        return Reach(done=False, loopback=loopback)
    if datagram:
        served = address.port == _DNS
    else:
        served = address.port in services.sinks or (loopback and address.port in services.own)
    if inspect_process.namespace_of(pid, "net") == inspect_process.namespace_of(first, "net"):
        demand = None if loopback else services.demand
        if served or (demand is not None and demand.open(address, datagram=datagram)):
            return Reach(done=True, loopback=loopback)
    answered = loopback and not datagram and inspect_process.is_listening(pid, address)
    return Reach(answered, loopback)
