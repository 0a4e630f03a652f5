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
    Channel.CONNECT: "every connect, and every datagram that names an address; raw sockets cannot be made",
    Channel.DNS: "any name resolves, asked over UDP on any port of any address, or over TCP on port 53",
    Channel.HTTP: "any port of any address answers: HTTP, HTTPS, mail, FTP; what else is sent is kept as bytes",
    Channel.SIGNALS: "every signal sent to another process",
    Channel.READS: "every opening and reading of the suite's canary files, but not by which process; what is "
    "mapped into memory shows as opened alone",
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
    "user": "a user namespace; under root also a host user of its own for every session that runs at the time",
    "environment": "started with an empty environment",
    "privileges": "no capability, no_new_privs, a user without rights",
    "syscalls": "tracing, mounting, io_uring, clocks, keys and foreign ABIs are refused by seccomp",
    "processes": "RLIMIT_NPROC, counted per session",
    "open_files": "RLIMIT_NOFILE",
    "file_size": "RLIMIT_FSIZE",
    "output": "each stream is kept up to its limit, the rest drained and dropped",
    "time": "wall-clock deadline and RLIMIT_CPU",
}
_MEMORY = "RLIMIT_DATA for each process"
_DISK = "the size of one file, of /tmp and of home is limited"


def bubblewrap_report(version: str, digest: str, *, in_memory: bool = True, no_group: str = "") -> ProviderReport:
    """The report for one bubblewrap executable.

    Args:
        version: Its version.
        digest: Its digest.
        in_memory: Whether workspaces are kept in memory of a limited size.
        no_group: Why there is no control group; empty if there is.
    """
    channels = [ChannelReport(name, ChannelState.OBSERVED, why) for name, why in _CHANNELS.items()]
    held = [ContainmentReport(name, ContainmentState.ENFORCED, why) for name, why in _ENFORCED.items()]
    held.append(
        _held("memory", f"{_MEMORY}, not for their sum: {no_group}", firmly=False)
        if no_group
        else _held("memory", f"a control group for all processes together, files in memory included; {_MEMORY}")
    )
    held.append(
        _held("disk", f"{_DISK}, and so is the workspace, all kept in memory")
        if in_memory
        else _held("disk", f"{_DISK}; the workspace's is looked at four times a second", firmly=False)
    )
    return ProviderReport("bubblewrap", version, tuple(channels), tuple(held), digest)


def _held(name: str, why: str, *, firmly: bool = True) -> ContainmentReport:
    return ContainmentReport(name, ContainmentState.ENFORCED if firmly else ContainmentState.BEST_EFFORT, why)
