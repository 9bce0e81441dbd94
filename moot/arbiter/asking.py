"""How a trial asks a model: one request after the other until one is answered, or there is no sense in another.

Retries are those of the run's configuration, so whoever sends a request sends it once.

Source: Arbiter spec, "Phase B v0 protocol", timeout/retry defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, Protocol

from moot.bots.models.answer import Answer
from moot.bots.models.request import Request
from moot.clock import Clock
from moot.protocols.arbiter.generated import ResolvedConfiguration

EMBEDDING: Final = 9
"""The call of a trial that embeds its answer; those before it are asked from 0 on."""

_NUMBERS: Final = 100
_CALLS: Final = 10


class Place(NamedTuple):
    """Which request of a run it is: the same in each life of the run.

    Attributes:
        trial_id: The trial.
        call: Which of its calls, from 0; at most `EMBEDDING`.
        number: Counts what was asked there, from 0.
    """

    trial_id: int
    call: int
    number: int

    @property
    def turn(self) -> int:
        """One number for all three, from 1: trial 37, call 2, first request is 37201."""
        return (self.trial_id * _CALLS + self.call) * _NUMBERS + self.number + 1


class Sent(NamedTuple):
    """What came of a request.

    Attributes:
        answer: How it ended.
        body: What was sent; no key is in it.
        began: When it was sent, UTC, or when it was in an earlier life of the run.
        ended: When its reply was kept.
    """

    answer: Answer
    body: Mapping[str, Any]
    began: datetime
    ended: datetime


class Post(Protocol):
    """Sends requests; each once."""

    async def send(self, place: Place, model: str, request: Request, until: datetime) -> Sent:
        """Send a request, or return what it was answered in an earlier life of the run.

        Args:
            place: Which one it is.
            model: The model's slug.
            request: What is asked.
            until: Its answer is of no use after that.

        Raises:
            NoBudget: It does not fit into what is left of a budget.
        """
        ...

    def learns(self, model: str, sent: Sent) -> bool:
        """Take into account what an endpoint refused of a request; say whether it would now be written otherwise."""
        ...


class Patience(NamedTuple):
    """How long a call may take, and how often it may be tried.

    Attributes:
        limit: For the whole call, with its retries and pauses.
        retries: How often a request that failed is sent again, at most.
        backoff: The pause before that.
    """

    limit: timedelta
    retries: int
    backoff: timedelta

    @classmethod
    def of(cls, config: ResolvedConfiguration, retries: int) -> Patience:
        """Return that of a run, with so many retries."""
        return cls(
            limit=timedelta(milliseconds=config.protocol.timeouts.per_call_timeout_ms),
            retries=retries,
            backoff=timedelta(milliseconds=config.execution.retry_policy.backoff_ms),
        )


class Asked(NamedTuple):
    """What came of a call.

    Attributes:
        sent: Its last request; its `began` is when the first was sent.
        retries: How often one was sent again.
    """

    sent: Sent
    retries: int


async def ask(
    post: Post, clock: Clock, place: Place, model: str, request: Request, patience: Patience
) -> Asked:
    """Make a call.

    A request is sent again after HTTP 429, 5xx and where no connection stood or one broke; and at once where an
    endpoint takes it only otherwise, which is no retry.

    Args:
        post: Sends.
        clock: Tells the time, and waits.
        place: Of the first request.
        model: The model's slug.
        request: What is asked.
        patience: How long, and how often.

    Raises:
        NoBudget: A request does not fit into what is left of a budget.
    """
    until = clock.now() + patience.limit
    began: datetime | None = None
    retries = 0
    while True:
        sent = await post.send(place, model, request, until)
        began = began or sent.began
        sent = sent._replace(began=began)
        is_last = place.number + 1 >= _NUMBERS
        if not is_last and post.learns(model, sent):
            place = place._replace(number=place.number + 1)
            continue
        if is_last or retries == patience.retries or not is_retryable(sent.answer):
            return Asked(sent, retries)
        if clock.now() + patience.backoff >= until:
            why = f"{sent.answer.why}; no time is left to send it again"
            return Asked(sent._replace(answer=replace(sent.answer, outcome="timed_out", why=why)), retries)
        retries += 1
        if sent.answer.outcome != "unknown":
            # What nobody knows the end of is asked again under its own name, so that it is known where it stands.
            place = place._replace(number=place.number + 1)
        if patience.backoff:
            await clock.sleep(patience.backoff)


def is_retryable(answer: Answer) -> bool:
    """Say whether the same request might be answered: the server was busy or broken, or nobody reached it."""
    # An error in the body of a success is one of its own kind.
    if status := answer.retry_status or answer.status:
        return status == 429 or status >= 500
    return answer.outcome == "unknown" or answer.fault == "no_server"
