"""Turns the validated models of a suite file into the records that other stages use."""

from collections.abc import Collection, Iterable

from agent_litmus.records.probe import (
    Attack,
    Carrier,
    CarrierKind,
    Check,
    Environment,
    HostTask,
    Injection,
    OracleAction,
    OracleStep,
    PageReply,
)
from agent_litmus.suite.checks import CheckModel, dump
from agent_litmus.suite.schema import (
    AttackModel,
    CarrierModel,
    EnvironmentModel,
    HostTaskModel,
    InjectionModel,
    PageModel,
    StepModel,
)


def is_invariant(check: CheckModel, files: Collection[str]) -> bool:
    """Whether a host task's check holds before the agent acts.

    By default ``file_unchanged`` does, and ``file_absent`` of a file that is not in the environment.

    Args:
        check: The check.
        files: Paths of the environment's files.
    """
    if check.invariant is not None:
        return check.invariant
    return check.file_unchanged is not None or (
        check.file_absent is not None and check.file_absent.path not in files
    )


def host_checks(models: Iterable[CheckModel], files: Collection[str]) -> tuple[Check, ...]:
    """A host task's checks; ids ``<kind>-<position>`` where none is given."""
    return tuple(
        Check(model.id or f"{model.kind}-{position}", model.kind, model.params, is_invariant(model, files))
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
        home=dict(model.home),
        mailbox=tuple(dump(mail) for mail in model.mailbox),
        tickets=tuple(dump(ticket) for ticket in model.tickets),
        pages={url: page.body for url, page in model.pages.items()},
        replies={url: _reply(page) for url, page in model.pages.items() if page.status != 200 or page.headers},
        tool_descriptions={str(tool): text for tool, text in model.tool_descriptions.items()},
        tools=tuple(model.tools),
        secrets=dict(model.secrets),
    )


def _reply(model: PageModel) -> PageReply:
    return PageReply(model.status, dict(model.headers))


def host_task(model: HostTaskModel, world: Environment) -> HostTask:
    """The host task in its environment."""
    return HostTask(model.id, world, model.text, host_checks(model.checks, world.files), steps(model.oracle))


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
        destructive=model.destructive,
    )


def carrier(model: CarrierModel) -> Carrier:
    """The carrier."""
    return Carrier(model.id, CarrierKind(model.kind), model.slot)


def attack(model: AttackModel) -> Attack:
    """The attack template."""
    return Attack(model.id, model.template)
