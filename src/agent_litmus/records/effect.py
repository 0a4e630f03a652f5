"""What was observed to happen in a session, and how well each channel was observed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Channel(StrEnum):
    """A channel of observation."""

    FILES = "files"
    EXEC = "exec"
    CONNECT = "connect"
    DNS = "dns"
    HTTP = "http"
    SIGNALS = "signals"
    TOOLS = "tools"
    MODEL = "model"
    PROCESSES = "processes"
    ANSWER = "answer"
    READS = "reads"
    """Canary files that were opened or read."""
    LISTEN = "listen"
    """Own addresses bound and listened on."""
    CLOCK = "clock"
    """Attempts to set a clock."""
    CALLS = "calls"
    """System calls that are refused to every agent."""


class Outcome(StrEnum):
    """How far an act got."""

    ATTEMPTED = "attempted"
    """The matching call was made and the environment refused it."""
    EXECUTED = "executed"
    """The simulated counterpart accepted it."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One observed act. Every text in ``detail`` comes from the agent and is hostile.

    ``detail`` by channel and action (all keys always present):

    - files ``create|modify|delete|chmod|symlink``: ``path`` (relative, ``backslashreplace``), ``size``, ``sha256``;
      of a created one with the content of one that was deleted: ``moved_from``, that one's path
    - exec ``exec``: ``path``, ``argv`` (list of text)
    - connect ``connect``: ``family``, ``address``, ``port``
    - dns ``resolve``: ``name``, ``type``, ``address`` (what was answered; empty if nothing), ``carries``;
      ``bytes`` (a datagram that is no query, or more than one): ``port``, ``size``, ``head`` (text, capped),
      ``carries``
    - http ``request``: ``scheme``, ``method``, ``host``, ``resolved``, ``sni`` (host named in the TLS greeting),
      ``port``, ``path``, ``headers`` (mapping), ``body`` (text, capped), ``plain`` (whether all of the body,
      decompressed, is text that was looked through), ``carries``; ``bytes`` (what came over a
      connection, or as a datagram, and was no complete request): ``host``, ``resolved``, ``port``, ``size``,
      ``head`` (text, capped), ``plain`` (whether all of it is text), ``datagram``, ``tls``, ``carries``; a size of
      0 is a client that waited for an answer; ``handshake`` (a TLS connection over which nothing came, always
      ``ATTEMPTED``): ``host``, ``resolved``, ``port``, ``why``, ``size``, ``head``, ``plain``, ``carries``;
      ``mail`` (handed over to a mail server): ``host``, ``resolved``, ``port``, ``to``, ``recipients``,
      ``subject``, ``body``, ``carries``
    - signals ``kill``: ``target``, ``signal``
    - reads ``open|read``: ``path`` (as the suite names it); ``open`` where no content was seen being read, as when
      it is mapped into memory, and no process is known
    - listen ``bind|listen``: ``family``, ``address``, ``port``
    - clock ``set``: ``call``
    - calls ``refused``: ``call``
    - processes ``leftover``: ``count``
    - tools ``list``: ``count``; ``call``: ``tool``, ``arguments`` (mapping), ``ok`` (bool), ``result`` (capped),
      ``carries``
    - tools ``mail``: ``to``, ``subject``, ``body``, ``recipients`` (bare addresses in lower case), ``carries``;
      a refused one is ``ATTEMPTED``. ``ticket``: ``id``, ``title``, ``body``, ``carries``.
      ``write``: ``path``, ``text``

    On the channels dns, http and tools there is always ``clipped``: whether any of it was cut for the record, or
    sent compressed and too large to be looked through. ``carries`` is the sorted names of the secrets found in all
    that was sent, before it was cut. ``host`` is the name in the request, ``resolved`` the name that the address it
    was sent to had been given out for, or the address itself; both in lower case without a final dot.
    """

    channel: Channel
    action: str
    outcome: Outcome
    detail: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0
    """Seconds since the session's start, monotonic clock."""
    pid: int | None = None
    ppid: int | None = None
    """The process that started ``pid``, where that was looked up."""


class ChannelState(StrEnum):
    """How well a channel was observed."""

    OBSERVED = "observed"
    PARTIAL = "partial"
    NOT_OBSERVED = "not_observed"


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """One channel's state, with the reason where it is not fully observed."""

    channel: Channel
    state: ChannelState
    why: str = ""


class ContainmentState(StrEnum):
    """How firmly a containment property holds."""

    ENFORCED = "enforced"
    BEST_EFFORT = "best_effort"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ContainmentReport:
    """One containment property (``filesystem``, ``network``, ``pid``, ``memory`` …)."""

    property: str
    state: ContainmentState
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """What a sandbox provider is and gives on this host."""

    name: str
    version: str
    channels: tuple[ChannelReport, ...]
    containment: tuple[ContainmentReport, ...]
    binary_digest: str | None = None
    """Digest of the sandboxing binary, where there is one."""

    def channel(self, channel: Channel) -> ChannelReport:
        """The report of one channel; absent means not observed."""
        for report in self.channels:
            if report.channel is channel:
                return report
        return ChannelReport(channel, ChannelState.NOT_OBSERVED, f"{self.name} does not observe it")

    def enforces(self, containment: str) -> bool:
        """Whether the containment property of that name is reported as enforced; absent means it is not."""
        return any(r.property == containment and r.state is ContainmentState.ENFORCED for r in self.containment)
