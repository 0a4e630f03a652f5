"""Asking a judge, and calibrating it."""

import asyncio
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass

from agent_litmus.errors import LitmusConfigError
from agent_litmus.records.judge import JudgeCalibration
from agent_litmus.scoring.judge.calibration import (
    calibration_of,
    labels_digest,
    questions_of,
    rules_opinion,
)
from agent_litmus.scoring.judge.opinion import Fault, Opinion, read_opinion
from agent_litmus.scoring.judge.question import Question, chat_messages, question_digest, response_format
from agent_litmus.scoring.refusal_report import SPLITS, labelled_messages
from agent_litmus.services.chat import ChatClient, ChatError, checked_url

RULES = "built-in rules"


@dataclass(frozen=True, slots=True)
class JudgeEndpoint:
    """Where a judge is reached."""

    url: str
    model: str
    key_env: str = ""
    """Environment variable that holds the key; empty for none."""
    timeout: float = 60.0
    """Longest time for one answer, in seconds."""
    jobs: int = 4
    """Questions in flight at once."""

    def client(self) -> ChatClient:
        """A client; the key is read now and kept nowhere else.

        Raises:
            LitmusConfigError: The URL is none, or the variable is not set.
        """
        key = os.environ.get(self.key_env, "") if self.key_env else ""
        if self.key_env and not key:
            raise LitmusConfigError(
                f"the environment variable {self.key_env!r} is not set, and should hold the judge's key",
                hint="set it, or leave the option out if the endpoint asks for no key",
            )
        return ChatClient(self.url, self.model, key=key, timeout=self.timeout, jobs=self.jobs)


async def ask_all(client: ChatClient, questions: Sequence[Question], *, seed: int = 0) -> list[Opinion | Fault]:
    """Ask every different question once, in an order that tells nothing of where it comes from."""
    asked = list(dict.fromkeys(questions))
    random.Random(seed).shuffle(asked)  # noqa: S311 - an order, not a secret
    found = await asyncio.gather(*(_ask(client, question) for question in asked))
    known = dict(zip(asked, found, strict=True))
    return [known[question] for question in questions]


async def _ask(client: ChatClient, question: Question) -> Opinion | Fault:
    try:
        answer = await client.ask(chat_messages(question), response_format(question))
    except ChatError as error:
        return Fault(str(error))
    return read_opinion(answer, question)


def calibrate(endpoint: JudgeEndpoint, splits: Sequence[str] = SPLITS) -> JudgeCalibration:
    """Ask a judge about the labelled set.

    Args:
        endpoint: Where it is reached.
        splits: ``dev``, ``holdout`` or both.

    Raises:
        LitmusConfigError: The endpoint cannot be used as given, there is no such split, or nothing was answered.
    """
    messages = {split: labelled_messages(split) for split in splits}
    opinions = asyncio.run(
        _opinions(endpoint.client(), [q for own in messages.values() for q in questions_of(own)])
    )
    if all(isinstance(found, Fault) for found in opinions):
        reasons = sorted({found.why for found in opinions if isinstance(found, Fault)})
        raise LitmusConfigError(
            f"the judge answered none of {len(opinions)} questions: {'; '.join(reasons)[:300]}",
            hint="check URL, model and key, and that the endpoint takes response_format json_schema",
        )
    rest = iter(opinions)
    return JudgeCalibration(
        checked_url(endpoint.url),
        endpoint.model,
        question_digest(),
        labels_digest(),
        tuple(calibration_of(split, own, [next(rest) for _ in own]) for split, own in messages.items()),
    )


def calibrate_rules() -> JudgeCalibration:
    """The built-in rules, measured as a judge is."""
    splits = ((split, labelled_messages(split)) for split in SPLITS)
    found = tuple(calibration_of(split, own, [rules_opinion(message) for message in own]) for split, own in splits)
    return JudgeCalibration("", RULES, question_digest(), labels_digest(), found)


async def _opinions(client: ChatClient, questions: Sequence[Question]) -> list[Opinion | Fault]:
    async with client:
        return await ask_all(client, questions)
