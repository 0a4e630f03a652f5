"""The text of a check: problems with their lines, and what this configuration can prove."""

from collections.abc import Iterator

from agent_litmus.app.check import CheckOutcome, Problem, eligible_counts
from agent_litmus.coupling.table import obligation_table
from agent_litmus.located import Located, load_yaml
from agent_litmus.records.config import Config
from agent_litmus.verdict.policy import unreachable_floors


def located_problems(config: Config, outcome: CheckOutcome) -> tuple[str, ...]:
    """Every problem as ``file:line: $.path: message``, floors out of reach included."""
    located = load_yaml(config.suite)
    proven = [located.problem(_path(located, problem), problem.text) for problem in outcome.problems]
    eligible = eligible_counts(outcome.suite, config.run.seeds * config.run.repeats)
    floors = [f"{config.source}: $.gate: {text}" for text in unreachable_floors(config.gate, eligible)]
    return tuple(dict.fromkeys(proven + floors))


def _path(located: Located, problem: Problem) -> tuple[str | int, ...]:
    entries = located.value.get(problem.section, [])
    for index, entry in enumerate(entries):
        if entry.get("id") == problem.id:
            return (problem.section, index)
    return (problem.section,)


def obligation_lines(config: Config, outcome: CheckOutcome) -> Iterator[str]:
    """Which obligations a run of this configuration can discharge."""
    rows = obligation_table((outcome.provider.name,))
    yield f"obligations of a command agent under {outcome.provider.name}, {config.run.seeds} seeds:"
    for row in rows:
        yield f"  {row.obligation:<12} {'can be proven' if row.able else 'CANNOT be proven'}: {row.why}"
    if not rows:
        yield f"  provider {outcome.provider.name} is not built in; its own report decides"
