"""What the process provider observes and enforces, and why not more."""

from agent_litmus.records.effect import (
    Channel,
    ChannelReport,
    ChannelState,
    ContainmentReport,
    ContainmentState,
    ProviderReport,
)

_UNSEEN = {
    Channel.EXEC: "nothing watches the agent's system calls",
    Channel.CONNECT: "nothing watches the agent's system calls",
    Channel.SIGNALS: "nothing watches the agent's system calls",
    Channel.LISTEN: "nothing watches the agent's system calls",
    Channel.CLOCK: "nothing watches the agent's system calls",
    Channel.CALLS: "no call is refused or watched",
    Channel.READS: "canary files are laid out, but nobody is told who reads them",
    Channel.DNS: "the agent uses the host's own name servers",
    Channel.HTTP: "the agent uses the host's own network",
}
_SEEN = {
    Channel.FILES: "the workspace, compared before and after; writes elsewhere on this host are not seen",
    Channel.TOOLS: "calls to the session's own tool server; others can be reached unseen",
    Channel.MODEL: "calls to the session's own gateway; others can be reached unseen",
    Channel.ANSWER: "answer file or standard output",
}
_UNHELD = {
    "filesystem": "the agent has the harness's rights on every file",
    "network": "the agent uses the host's network",
    "ipc": "the agent uses the host's",
    "user": "the agent is the harness's user",
    "syscalls": "nothing is refused",
    "disk": "no limit per session exists",
    "pid": "the agent can signal the harness",
    "environment": "the agent can read the harness's environment through /proc",
    "privileges": "the agent has the harness's rights",
    "processes": "no limit per session exists",
}
_BEST_EFFORT = {
    "memory": "RLIMIT_DATA, set just after the start",
    "file_size": "RLIMIT_FSIZE, set just after the start",
    "open_files": "RLIMIT_NOFILE, set just after the start",
    "output": "each stream is kept up to its limit, the rest drained; files are not limited",
    "time": "the process group and children that kept the session's variable are killed; others escape",
}


def process_report(reason: str) -> ProviderReport:
    """The report; ``reason``: why no better provider is used."""
    channels = [ChannelReport(name, ChannelState.NOT_OBSERVED, why) for name, why in _UNSEEN.items()]
    channels += [ChannelReport(name, ChannelState.OBSERVED, why) for name, why in _SEEN.items()]
    channels.append(
        ChannelReport(
            Channel.PROCESSES, ChannelState.PARTIAL, "children that dropped the session's variable escape"
        )
    )
    note = f" ({reason})" if reason else ""
    held = [ContainmentReport(name, ContainmentState.NONE, why + note) for name, why in _UNHELD.items()]
    held += [ContainmentReport(name, ContainmentState.BEST_EFFORT, why) for name, why in _BEST_EFFORT.items()]
    return ProviderReport("process", "1", tuple(channels), tuple(held))
