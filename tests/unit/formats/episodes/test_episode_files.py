import dataclasses
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agent_litmus.errors import LitmusConfigError
from agent_litmus.formats.episodes import episode_writer, episodes_schema, open_episodes
from agent_litmus.formats.episodes.document import row_json
from agent_litmus.records.columns import FLAGS, MISSING, NUMBERS, TEXTS
from agent_litmus.records.episode import HostOutcome, InjectedOutcome
from agent_litmus.records.probe import Condition
from agent_litmus.records.session import Delivery
from agent_litmus.records.stored import EpisodesSummary, StoredEpisode

SCHEMA = Path(__file__).parents[4] / "docs/reference/episodes.schema.json"
EPISODE = StoredEpisode(
    agent="gärtner \x1b[31m",
    suite="flowers",
    host="h1",
    condition=Condition.INJECTED,
    delivery=Delivery.DELIVERED,
    host_outcome=HostOutcome.FAILED,
    injected_outcome=InjectedOutcome.EXECUTED,
    attack="plain",
    injection="i1",
    seed=3,
    semantic=0,
    physical=1,
    recorded_utility=False,
    recorded_security=True,
)
EPISODES = [
    EPISODE,
    dataclasses.replace(EPISODE, seed=4, recorded_utility=None, recorded_security=None, physical=-1),
    dataclasses.replace(EPISODE, seed=5, agent="other", recorded_utility=True),
]


@pytest.fixture(params=["jsonl", "parquet"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / f"ë episodes.{request.param}"


def write(path: Path, episodes: Iterable[StoredEpisode] = EPISODES, **summary: Any) -> Path:
    with episode_writer(path) as writer:
        count = 0
        for episode in episodes:
            writer.add(episode)
            count += 1
        writer.finish(EpisodesSummary(**{"source": "test", "episodes": count, **summary}))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    rows = []
    for batch in open_episodes(path).batches():
        for index in range(batch.rows):
            row: dict[str, Any] = {n: c.labels[c.codes[index]] for n, c in batch.texts.items()}
            rows.append(row | {name: int(column[index]) for name, column in batch.numbers.items()})
    return rows


def expected(episode: StoredEpisode) -> dict[str, Any]:
    row: dict[str, Any] = {name: str(getattr(episode, name)) for name in TEXTS}
    row |= {name: getattr(episode, name) for name in NUMBERS}
    flags = {name: getattr(episode, name) for name in FLAGS}
    return row | {name: MISSING if value is None else int(value) for name, value in flags.items()}


def test_what_is_written_is_read_back(path: Path) -> None:
    write(path, warnings=("mind this",), rejected=2, reasons=("2 x $: broken",))
    assert read(path) == [expected(episode) for episode in EPISODES]
    file = open_episodes(path)
    assert sum(batch.rows for batch in file.batches()) == len(EPISODES)
    assert file.summary == EpisodesSummary("test", len(EPISODES), 2, ("2 x $: broken",), ("mind this",))


def test_many_batches_are_one_file(path: Path) -> None:
    many = [dataclasses.replace(EPISODE, seed=seed) for seed in range(40_000)]
    rows = read(write(path, many))
    assert [row["seed"] for row in rows] == list(range(40_000))


def test_the_published_schema_is_current_and_fits() -> None:
    assert json.loads(SCHEMA.read_text()) == episodes_schema(), (
        "run: litmus import schema > docs/reference/episodes.schema.json"
    )
    for episode in EPISODES:
        jsonschema.validate(json.loads(row_json(episode)), episodes_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**json.loads(row_json(EPISODE)), "colour": "red"}, episodes_schema())


def test_a_file_without_its_summary_is_not_written(path: Path) -> None:
    path.write_text("precious")
    with episode_writer(path) as writer:
        writer.add(EPISODE)
    with pytest.raises(ZeroDivisionError):
        write(path, (dataclasses.replace(EPISODE, seed=1 // seed) for seed in (1, 0)))
    assert path.read_text() == "precious"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(LitmusConfigError, match="cannot be written"),
        episode_writer(tmp_path / "no/file") as writer,
    ):
        writer.add(EPISODE)


ROW = row_json(EPISODE)
LINES: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "cut inside a line": (lambda lines: [*lines[:2], lines[2][:30]], ":3: $: not complete JSON"),
    "cut after a line": (lambda lines: lines[:3], ":4: $: nothing there: the file was cut short"),
    "a row fewer": (lambda lines: [lines[0], lines[1], *lines[3:]], ":4: $.summary.episodes: 3, but 2 lines"),
    "more behind the end": (lambda lines: [*lines, lines[1]], ":6: $: something stands behind"),
    "an unknown field": (
        lambda lines: [lines[0], '{"colour":1,' + lines[1][1:], *lines[2:]],
        ":2: $.colour: unknown",
    ),
    "a wrong type": (
        lambda lines: [lines[0], lines[1].replace('"seed":3', '"seed":"3"'), *lines[2:]],
        ":2: $.seed: ",
    ),
    "no such outcome": (
        lambda lines: [lines[0], lines[1].replace("failed", "great"), *lines[2:]],
        "$.host_outcome: ",
    ),
    "NaN": (lambda lines: [lines[0], lines[1].replace('"seed":3', '"seed":NaN'), *lines[2:]], ":2: $.seed: "),
    "a missing field": (
        lambda lines: [lines[0], lines[1].replace('"host":', '"probe":'), *lines[2:]],
        ":2: $.host: ",
    ),
    "an array": (lambda lines: [lines[0], "[]", *lines[2:]], ":2: $: not an object"),
    "deep nesting": (lambda lines: [lines[0], "[" * 100_000, *lines[2:]], ":2: $: "),
    "another version": (lambda lines: [lines[0].replace(": 1", ": 2"), *lines[1:]], ":1: $.schema_version: 2"),
    "another format": (lambda lines: ["{}", *lines[1:]], ":1: $.format: not"),
    "a huge line": (lambda lines: [lines[0], '{"agent":"' + "x" * (1 << 20) + '"}', *lines[2:]], ":2: $: longer"),
}


@pytest.mark.parametrize("fault", LINES)
def test_a_faulty_line_ends_it_with_its_place(tmp_path: Path, fault: str) -> None:
    change, message = LINES[fault]
    path = write(tmp_path / "episodes.jsonl")
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")
    with pytest.raises(LitmusConfigError) as caught:
        read(path)
    assert message in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 600


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    whole = write(tmp_path / "episodes.parquet").read_bytes()
    for data in (whole[:-10], whole[: len(whole) // 2], b"PAR1"):
        (tmp_path / "damaged.parquet").write_bytes(data)
        with pytest.raises(LitmusConfigError, match=r"damaged\.parquet: "):
            read(tmp_path / "damaged.parquet")


def test_a_parquet_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    good = parquet.read_table(write(tmp_path / "good.parquet"))
    metadata = parquet.ParquetFile(tmp_path / "good.parquet").metadata.metadata
    null = arrow.array([None, "a", "b"], arrow.string())
    faults = {
        "column is missing": good.drop_columns(["host"]),
        r"\$\.agent: not text in every row": good.set_column(good.schema.names.index("agent"), "agent", null),
        r"\$\.seed: not a whole number": good.set_column(
            good.schema.names.index("seed"), "seed", arrow.array([1.0, float("nan"), 2.0])
        ),
        "2 rows, but its summary says 3": good.slice(0, 2),
    }
    for message, table in faults.items():
        parquet.write_table(table.replace_schema_metadata(metadata), tmp_path / "bad.parquet")
        with pytest.raises(LitmusConfigError, match=message):
            read(tmp_path / "bad.parquet")
    parquet.write_table(good.replace_schema_metadata({}), tmp_path / "bad.parquet")
    with pytest.raises(LitmusConfigError, match="no episode file"):
        read(tmp_path / "bad.parquet")
