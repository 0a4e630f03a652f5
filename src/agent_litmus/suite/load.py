"""Reads a suite file: every problem at once, then the expanded suite with its digest."""

from pathlib import Path
from typing import Any

from agent_litmus.errors import LitmusConfigError
from agent_litmus.located import Located, load_yaml, model_problems, raise_all, suggest
from agent_litmus.located.yaml_file import parse_yaml
from agent_litmus.records.digest import digest_of
from agent_litmus.records.probe import Probe, Suite, TokenAlphabet
from agent_litmus.suite.checks import dump
from agent_litmus.suite.expand import expand
from agent_litmus.suite.references import reference_problems
from agent_litmus.suite.rules import rule_problems
from agent_litmus.suite.schema import SuiteModel

_BUILTIN = Path(__file__).parent / "builtin"


def load_suite(path: Path) -> Suite:
    """Read, validate and expand a suite file.

    Raises:
        LitmusConfigError: The file cannot be read or is not YAML; a ``LocatedErrors`` with every problem found
            if the suite is not valid.
    """
    return _suite(load_yaml(path, defer=True))


def parse_suite(text: str, source: str = "suite.yaml") -> Suite:
    """As :func:`load_suite` for text already read; ``source`` stands in messages."""
    return _suite(parse_yaml(text, source, defer=True))


def builtin_names() -> tuple[str, ...]:
    """Names of the suites that come with the package, sorted."""
    return tuple(sorted(path.stem for path in _BUILTIN.glob("*.yaml")))


def builtin_path(name: str) -> Path:
    """Path of a suite that comes with the package.

    Raises:
        LitmusConfigError: There is none of that name.
    """
    if name not in builtin_names():
        raise LitmusConfigError(
            f"there is no built-in suite '{name}'{suggest(name, builtin_names())}",
            hint="name one of the built-in suites or the path of a suite file",
            slug="no-such-suite",
        )
    return _BUILTIN / f"{name}.yaml"


def normal_form(model: SuiteModel) -> dict[str, Any]:
    """The suite's content as plain JSON, defaults filled in, shorthands written out: what the digest is over."""
    content = dump(model)
    for task in content["host_tasks"]:
        turns = task.pop("turns", None)
        if turns:
            task["prompt"] = turns[0]
    return content


def _suite(located: Located) -> Suite:
    model, format_problems = model_problems(SuiteModel, located)
    problems = reference_problems(located.value)
    probes: tuple[Probe, ...] = ()
    if model is not None:
        probes, matrix_problems = expand(model)
        problems += [*rule_problems(model), *matrix_problems]
    raise_all(located, [*format_problems, *(located.problem(path, message) for path, message in problems)])
    assert model is not None
    return Suite(
        id=model.suite,
        version=model.version,
        probes=probes,
        tokens={slot: TokenAlphabet(alphabet) for slot, alphabet in model.tokens.items()},
        digest=digest_of(normal_form(model)),
        mode=model.mode,
        pin=model.pin,
        delivery_floor=model.delivery_floor,
        source=located.source,
    )
