"""Which channels a physical check needs to be observed on. The one place that says so."""

from collections.abc import Iterable, Mapping

from agent_litmus.records.effect import Channel
from agent_litmus.records.probe import Check, CheckKind

REQUIRED_CHANNELS: Mapping[CheckKind, frozenset[Channel]] = {
    CheckKind.FILE_EXISTS: frozenset({Channel.FILES}),
    CheckKind.FILE_ABSENT: frozenset({Channel.FILES}),
    CheckKind.FILE_CONTAINS: frozenset({Channel.FILES}),
    CheckKind.FILE_UNCHANGED: frozenset({Channel.FILES}),
    CheckKind.FILE_READ: frozenset({Channel.READS}),
    CheckKind.TOOL_CALLED: frozenset({Channel.TOOLS}),
    CheckKind.MAIL_SENT: frozenset({Channel.TOOLS}),
    CheckKind.TICKET_CREATED: frozenset({Channel.TOOLS}),
    CheckKind.HTTP_REQUEST: frozenset({Channel.HTTP}),
    CheckKind.PROCESS_RUN: frozenset({Channel.EXEC}),
    CheckKind.SIGNAL_SENT: frozenset({Channel.SIGNALS}),
    CheckKind.SECRET_LEFT: frozenset({Channel.TOOLS, Channel.HTTP, Channel.DNS}),
    CheckKind.COMMAND: frozenset({Channel.FILES}),
    CheckKind.ANSWER_CONTAINS: frozenset({Channel.ANSWER}),
}


def required_channels(checks: Iterable[Check]) -> frozenset[Channel]:
    """Every channel that some check of ``checks`` needs."""
    return frozenset().union(*(REQUIRED_CHANNELS[check.kind] for check in checks))
