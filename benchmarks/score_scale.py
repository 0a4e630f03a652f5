"""Scoring time and memory against the number of episodes: linear time, flat memory.

Generates episode files of made-up agents as Parquet and scores each in a process of its own, intervals and frontier
included, so that peak memory is that of the one size. Usage: python benchmarks/score_scale.py [SIZES...]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from agent_litmus.formats.episodes.document import METADATA, head, summary_json
from agent_litmus.formats.episodes.parquet import arrow, arrow_schema
from agent_litmus.records.columns import FLAGS, NUMBERS
from agent_litmus.records.stored import EpisodesSummary

AGENTS, HOSTS, INJECTIONS = 4, 50, 40
ROWS = 1 << 20
DELIVERIES = ("absent", "undelivered", "delivered", "unknown")
HOST_OUTCOMES = ("completed", "partial", "refused", "failed", "unassessed")
INJECTED = ("none", "declined", "ignored", "attempted", "executed", "unassessed")


def labels() -> dict[str, list[str]]:
    hosts = [f"host-{number}" for number in range(HOSTS)]
    injections = [f"injection-{number}" for number in range(INJECTIONS)]
    probes = [f"{host}/{injection}" for host in hosts for injection in injections]
    return {
        "agent": [f"agent-{number}" for number in range(AGENTS)],
        "suite": ["made-up"],
        "host": hosts,
        "injection": ["", *injections],
        "attack": ["", "plain"],
        "category": ["", "exfiltration", "destruction"],
        "carrier": ["", "mail"],
        "probe": [*hosts, *probes],
        "condition": ["control", "injected"],
        "delivery": list(DELIVERIES),
        "host_outcome": list(HOST_OUTCOMES),
        "injected_outcome": list(INJECTED),
    }


def rows_of(start: int, count: int, controls: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Codes of rows ``start`` to ``start + count``; the first ``controls`` of a file are controls."""
    index = np.arange(start, start + count)
    control = index < controls
    inner = np.where(control, index, index - controls)
    agent, inner = inner % AGENTS, inner // AGENTS
    host, inner = inner % HOSTS, inner // HOSTS
    injection = np.where(control, 0, inner % INJECTIONS + 1)
    seed = np.where(control, inner, inner // INJECTIONS)
    strength = 0.55 + 0.1 * agent
    done = rng.random(count) < strength
    hijacked = ~control & (rng.random(count) < 0.4 - 0.1 * agent)
    delivered = rng.random(count) < 0.95
    return {
        "agent": agent,
        "host": host,
        "injection": injection,
        "attack": np.where(control, 0, 1),
        "category": np.where(control, 0, 1 + injection % 2),
        "carrier": np.where(control, 0, 1),
        "probe": np.where(control, host, HOSTS + host * INJECTIONS + injection - 1),
        "condition": np.where(control, 0, 1),
        "delivery": np.where(control, 0, np.where(delivered, 2, 1)),
        "host_outcome": np.where(done, 0, rng.integers(1, 5, count)),
        "injected_outcome": np.where(control, 0, np.where(hijacked, 4, rng.integers(1, 3, count))),
        "seed": seed,
        "physical": np.where(control, -1, hijacked),
    }


def generate(path: Path, episodes: int) -> None:
    """Write an episode file: controls first, then every host with every injection, seed by seed."""
    pa, schema, names, rng = arrow(), arrow_schema(), labels(), np.random.default_rng(0)
    per_seed = AGENTS * HOSTS
    seeds = max(1, episodes // (per_seed * (INJECTIONS + 1)))
    controls, total = per_seed * seeds, per_seed * seeds * (INJECTIONS + 1)
    with pa.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, total, ROWS):
            count = min(ROWS, total - start)
            codes, columns = rows_of(start, count, controls, rng), []
            for field in schema:
                if field.name in FLAGS:
                    columns.append(pa.nulls(count, pa.bool_()))
                elif field.name in NUMBERS:
                    default = 0 if field.name in {"seed", "repeat"} else -1
                    values = codes.get(field.name, np.full(count, default))
                    columns.append(pa.array(values, type=field.type))
                else:
                    values = codes.get(field.name, np.zeros(count, dtype=np.int32)).astype(np.int32)
                    columns.append(pa.DictionaryArray.from_arrays(values, names.get(field.name, [""])))
            writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=ROWS)
        summary = EpisodesSummary("generated", total)
        writer.add_key_value_metadata({METADATA: json.dumps({**head(), **summary_json(summary)})})


def peak_mib() -> float:
    """Peak resident memory of this process alone; ``getrusage`` may report that of the process it came from."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(path: Path) -> None:
    """Score one file in this process and print what it took."""
    from agent_litmus.app.frontier import frontier_of
    from agent_litmus.app.score import pool_files, score_pool

    started = time.perf_counter()
    pooled = pool_files([path])
    counted = time.perf_counter()
    score = score_pool(pooled)
    scored = time.perf_counter()
    compared = frontier_of(pooled)
    ended = time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "episodes": score.episodes,
                "rows": len(score.rows),
                "frontier": list(compared.frontier.members),
                "count": counted - started,
                "intervals": scored - counted,
                "dominance": ended - scored,
                "seconds": ended - started,
                "cpu": used.ru_utime + used.ru_stime,
                "mib": peak_mib(),
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure)
        return
    print(
        "| episodes | file, MiB | counting, s | intervals, s | frontier, s | all, s | CPU, s | peak memory, MiB |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in given.sizes:
            path = Path(folder, f"{size}.parquet")
            generate(path, size)
            command = [sys.executable, __file__, "--measure", str(path)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(
                f"| {found['episodes']:,} | {path.stat().st_size / 2**20:.1f} | {found['count']:.2f} "
                f"| {found['intervals']:.2f} | {found['dominance']:.2f} | {found['seconds']:.2f} "
                f"| {found['cpu']:.2f} | {found['mib']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
