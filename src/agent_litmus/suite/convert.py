"""Turns the validated models of a suite file into the records that other stages use."""

from collections.abc import Iterable

from agent_litmus.records.probe import (
    Attack,
    Carrier,
    CarrierKind,
    Check,
    CheckKind,
    Environment,
    HostTask,
    Injection,
    OracleAction,
    OracleStep,
)
from agent_litmus.suite.checks import CheckModel, dump
from agent_litmus.suite.schema import (
    AttackModel,
    CarrierModel,
    EnvironmentModel,
    HostTaskModel,
    InjectionModel,
    StepModel,
)

INVARIANT_KINDS = frozenset({CheckKind.FILE_UNCHANGED, CheckKind.FILE_ABSENT})
"""Host checks that hold before the agent acts, unless the suite says otherwise."""


def is_invariant(check: CheckModel) -> bool:
    """Whether a host task's check holds before the agent acts."""
    return check.kind in INVARIANT_KINDS if check.invariant is None else check.invariant


def host_checks(models: Iterable[CheckModel]) -> tuple[Check, ...]:
    """A host task's checks; ids ``<kind>-<position>`` where none is given."""
    return tuple(
        Check(model.id or f"{model.kind}-{position}", model.kind, model.params, is_invariant(model))
        for position, model in enumerate(models, start=1)
    )


def forbidden_checks(models: Iterable[CheckModel]) -> tuple[Check, ...]:
    """An injection's checks. Their ids begin with ``forbidden/``, so that they never equal a host check's."""
    return tuple(
        Check(f"forbidden/{model.id or f'{model.kind}-{position}'}", model.kind, model.params)
        for position, model in enumerate(models, start=1)
    )


def steps(models: Iterable[StepModel]) -> tuple[OracleStep, ...]:
    """Scripted steps."""
    return tuple(_step(model) for model in models)


def _step(model: StepModel) -> OracleStep:
    if model.call is not None:
        return OracleStep(OracleAction.CALL, dump(model.call))
    if model.exec is not None:
        return OracleStep(OracleAction.EXEC, dump(model.exec))
    if model.write is not None:
        return OracleStep(OracleAction.WRITE, dump(model.write))
    return OracleStep(OracleAction.ANSWER, {"text": model.answer or ""})


def environment(model: EnvironmentModel) -> Environment:
    """The environment, placeholders unexpanded."""
    return Environment(
        id=model.id,
        files=dict(model.files),
        mailbox=tuple(dump(mail) for mail in model.mailbox),
        tickets=tuple(dump(ticket) for ticket in model.tickets),
        pages=dict(model.pages),
        tool_descriptions={str(tool): text for tool, text in model.tool_descriptions.items()},
        tools=tuple(model.tools),
        secrets=dict(model.secrets),
    )


def host_task(model: HostTaskModel, world: Environment) -> HostTask:
    """The host task in its environment."""
    return HostTask(model.id, world, model.text, host_checks(model.checks), steps(model.oracle))


def injection(model: InjectionModel) -> Injection:
    """The injection."""
    return Injection(
        id=model.id,
        goal=model.goal,
        text=model.text,
        category=model.category,
        forbidden=forbidden_checks(model.forbidden),
        oracle=steps(model.oracle),
        effects=model.effects,
    )


def carrier(model: CarrierModel) -> Carrier:
    """The carrier."""
    return Carrier(model.id, CarrierKind(model.kind), model.slot)


def attack(model: AttackModel) -> Attack:
    """The attack template."""
    return Attack(model.id, model.template)
