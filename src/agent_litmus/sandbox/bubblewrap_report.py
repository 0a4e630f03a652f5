"""What the bubblewrap provider observes and enforces, and why not more."""

from agent_litmus.records.effect import (
    Channel,
    ChannelReport,
    ChannelState,
    ContainmentReport,
    ContainmentState,
    ProviderReport,
)

_CHANNELS = {
    Channel.FILES: "the workspace, compared before and after; home and /tmp are thrown away unread",
    Channel.EXEC: "every execve and execveat, with arguments as they stood at the call",
    Channel.CONNECT: "every connect, and every datagram that names an address; not what a connected socket sends",
    Channel.DNS: "UDP port 53 of any address answers; name look-ups over other ports or TCP are refused",
    Channel.HTTP: "the sink ports of any address answer plain HTTP; all other ports refuse connections",
    Channel.SIGNALS: "every signal sent to another process",
    Channel.LISTEN: "every bind and listen; a bind is told before its end is known",
    Channel.CLOCK: "every call that would set a clock, all refused",
    Channel.CALLS: "every call that is refused to all agents, by name",
    Channel.TOOLS: "the session's own tool server is the only one that can be reached",
    Channel.MODEL: "the session's own gateway is the only model that can be reached",
    Channel.PROCESSES: "processes that outlive the agent are counted; not when the deadline ended it",
    Channel.ANSWER: "answer file or standard output",
}
_ENFORCED = {
    "filesystem": "a new root with allow-listed read-only directories; writable: workspace, home, /tmp, answer",
    "network": "a network namespace without any interface but loopback; Unix, IP and netlink sockets alone",
    "pid": "a pid namespace; its end is the end of all its processes",
    "ipc": "an IPC namespace",
    "environment": "started with an empty environment",
    "privileges": "no capability, no_new_privs, a user without rights",
    "syscalls": "tracing, mounting, io_uring, clocks, keys and foreign ABIs are refused by seccomp",
    "processes": "RLIMIT_NPROC, counted per session",
    "open_files": "RLIMIT_NOFILE",
    "file_size": "RLIMIT_FSIZE",
    "time": "wall-clock deadline and RLIMIT_CPU",
}
_BEST_EFFORT = {
    "memory": "RLIMIT_DATA holds for each process, not for their sum; no control group is set up",
    "disk": "the size of one file and of /tmp and home is limited; the workspace's sum is looked at every second",
}


def bubblewrap_report(version: str, digest: str) -> ProviderReport:
    """The report for one bubblewrap executable."""
    channels = [ChannelReport(name, ChannelState.OBSERVED, why) for name, why in _CHANNELS.items()]
    held = [ContainmentReport(name, ContainmentState.ENFORCED, why) for name, why in _ENFORCED.items()]
    held += [ContainmentReport(name, ContainmentState.BEST_EFFORT, why) for name, why in _BEST_EFFORT.items()]
    return ProviderReport("bubblewrap", version, tuple(channels), tuple(held), digest)
