"""Importing AgentDojo's runs: MB/s and peak memory, beside reading and parsing the same files alone.

Usage: python benchmarks/import_agentdojo.py ARCHIVE_OR_DIRECTORY
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def read(source: Path) -> int:
    from agent_litmus.formats.agentdojo.source import raw_files

    return sum(len(raw.data) for raw in raw_files(source))


def parse(source: Path) -> int:
    from agent_litmus.formats.agentdojo.schema import parse_run
    from agent_litmus.formats.agentdojo.source import raw_files

    size = 0
    for raw in raw_files(source):
        parse_run(raw.data)
        size += len(raw.data)
    return size


def whole(source: Path) -> int:
    from agent_litmus.app.import_agentdojo import import_agentdojo

    with tempfile.TemporaryDirectory() as folder:
        return import_agentdojo(source, Path(folder, "episodes.jsonl")).bytes


STEPS = {"read": read, "parse": parse, "import": whole}


def peak_mib() -> float:
    """Peak resident memory of this process alone; ``getrusage`` may report that of the process it came from."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(source: Path, step: str) -> None:
    started = time.perf_counter()
    size = STEPS[step](source)
    seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    print(json.dumps({"mb": size / 1e6, "seconds": seconds, "cpu": cpu, "mib": peak_mib()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        measure(given.source, given.step)
        return
    print("| step | MB | wall, s | CPU, s | MB/s of CPU | peak memory, MiB |")
    print("|---|---|---|---|---|---|")
    for step in STEPS:
        command = [sys.executable, __file__, str(given.source), "--step", step]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(
            f"| {step} | {found['mb']:.0f} | {found['seconds']:.1f} | {found['cpu']:.1f} "
            f"| {found['mb'] / found['cpu']:.0f} | {found['mib']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
