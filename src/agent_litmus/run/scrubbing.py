"""Takes the upstream's key out of a record before it is written, wherever the agent repeated it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from agent_litmus.records.session import CheckResult, ModelCall, SessionRecord

Scrub = Callable[[str], str]


def scrubbed(record: SessionRecord, scrub: Scrub) -> SessionRecord:
    """The record with every text that came from agent or upstream passed through ``scrub``."""
    return replace(
        record,
        answer=None if record.answer is None else scrub(record.answer),
        answer_why=scrub(record.answer_why),
        stderr_tail=scrub(record.stderr_tail),
        effects=tuple(replace(effect, detail=_values(effect.detail, scrub)) for effect in record.effects),
        model_calls=tuple(_call(call, scrub) for call in record.model_calls),
        host_checks=_checks(record.host_checks, scrub),
        forbidden_checks=_checks(record.forbidden_checks, scrub),
    )


def _call(call: ModelCall, scrub: Scrub) -> ModelCall:
    return replace(
        call,
        request_text=scrub(call.request_text),
        response_text=scrub(call.response_text),
        error=scrub(call.error),
    )


def _checks(checks: tuple[CheckResult, ...], scrub: Scrub) -> tuple[CheckResult, ...]:
    return tuple(
        replace(
            check,
            why=scrub(check.why),
            tokens=tuple(replace(t, value=scrub(t.value), lead=scrub(t.lead)) for t in check.tokens),
        )
        for check in checks
    )


def _values(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {scrub(str(key)): _values(part, scrub) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_values(part, scrub) for part in value]
    return value
