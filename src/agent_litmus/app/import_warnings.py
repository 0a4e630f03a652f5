"""What an imported set of runs hides, in sentences."""

from collections import defaultdict
from collections.abc import Iterator

from agent_litmus.app.import_agentdojo import ImportOutcome, PipelineTally


def warnings_of(outcome: ImportOutcome) -> Iterator[str]:
    """Everything a reader of figures from these runs should know, pipeline by pipeline."""
    for name, tally in sorted(outcome.pipelines.items()):
        yield from (f"{name}: {what}" for what in _of_pipeline(name, tally))
    for name, count in outcome.without_control.items():
        yield f"{name}: {count} user tasks were attacked but have no clean run; their pairs are unknown"
    yield from _collisions(outcome)


def _of_pipeline(name: str, tally: PipelineTally) -> Iterator[str]:
    if tally.rejected:
        yield f"{tally.rejected} run files were rejected; figures lack them"
    if empty := +tally.empty:
        where = ", ".join(f"{count} in {suite}" for suite, count in sorted(empty.items()))
        yield f"{empty.total()} empty transcripts ({where}) are scored in the files; unassessed here"
    if tally.errored:
        attacked = (
            f"{tally.errored_attacked} attacked, of which {tally.scored_as_success} recorded as attack successes"
        )
        yield f"{tally.errored} errored runs ({attacked}) are scored in the files; unassessed here"
    if tally.names != {name}:
        yield f"its files record another pipeline_name: {', '.join(map(repr, sorted(tally.names)))}"
    if len(tally.versions) > 1:
        versions = ", ".join(
            f"{count} of {version or 'no version'}" for version, count in sorted(tally.versions.items())
        )
        yield f"its files are of more than one benchmark version: {versions}"
    if tally.later:
        yield f"{tally.later} attacked runs are of tasks newer than v1.1.2, which published figures leave out"


def _collisions(outcome: ImportOutcome) -> Iterator[str]:
    owners: dict[str, list[str]] = defaultdict(list)
    for pipeline, tally in sorted(outcome.pipelines.items()):
        for name in tally.names:
            owners[name].append(pipeline)
    for name, pipelines in sorted(owners.items()):
        if len(pipelines) > 1:
            yield f"{len(pipelines)} agents record the same pipeline_name {name!r}: {', '.join(pipelines)}"
