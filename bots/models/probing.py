"""Which rung of the ladder holds an endpoint to a form, found by asking it; and one typed answer as a trial."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from moot.bots.models.answer import Answer
from moot.bots.models.client import ModelClient
from moot.bots.models.forms import form_of
from moot.bots.models.request import LONGER, Request, Rung

TOKENS: Final = 300
"""Tokens that a probe may generate where the model's settings do not say. It is less than any form of a seat may take,
and an answer that was cut off is asked for again as seats do, so that what passes here is answered there too."""

PROBE_S: Final = 120.0
"""Wall seconds that one probe may take."""

_LASTING: Final = frozenset({"no_server", "tls", "key", "no_model", "credit", "rate", "redirect"})
"""Faults that no other rung would mend."""


class Colour(BaseModel):
    """A colour and a number."""

    model_config = ConfigDict(extra="forbid", strict=True)

    colour: Literal["red", "green", "blue"]
    number: int


class Judgement(BaseModel):
    """An answer to a question, with reasons."""

    model_config = ConfigDict(extra="forbid", strict=True)

    answer: Literal["yes", "no"]
    confidence: Annotated[float, Field(ge=0, le=1)]
    reasons: list[str]


_OBEDIENT: Final = Request(
    messages=({"role": "user", "content": "Name a colour (red, green or blue) and any whole number."},),
    max_tokens=TOKENS,
    form=form_of(Colour),
)

_CONTRARY: Final = replace(
    _OBEDIENT,
    messages=(
        {"role": "user", "content": "Name a colour: red, green or blue. One bare word, please, and no JSON."},
    ),
    shows_schema=False,
)
"""Answered with an object only by an endpoint that enforces the schema: many take it and then ignore it."""

TRIAL: Final = Request(
    messages=(
        {
            "role": "user",
            "content": "Is 17 larger than 5? Say yes or no, how confident you are from 0 to 1, and one reason.",
        },
    ),
    max_tokens=TOKENS,
    form=form_of(Judgement),
)


class Probed(NamedTuple):
    """What the probes found.

    Attributes:
        rung: The surest that works; None when none does.
        answers: What came of each call, in order.
        unreported: Of each call that may have been charged and reports no usage: the bytes that were sent, and the
            tokens that may have been generated.
    """

    rung: Rung | None
    answers: tuple[tuple[Rung, Answer], ...]
    unreported: tuple[tuple[int, int], ...] = ()


async def find_rung(
    client: ModelClient, limit_s: float, temperature: float | None = None, max_tokens: int | None = None
) -> Probed:
    """Try the ladder from its top with one small call each; stop at the first that works, or at a lasting fault.

    Args:
        client: The model; its dialect learns whatever the endpoint refuses of these calls.
        limit_s: Wall seconds that one probe may take.
        temperature: Sent along, where calls will have one.
        max_tokens: What seats may have generated; None: as the model's settings say.
    """
    answers: list[tuple[Rung, Answer]] = []
    unreported: list[tuple[int, int]] = []
    for rung in client.endpoint.ladder:
        probe = replace(
            _CONTRARY if rung == "json_schema" else _OBEDIENT,
            temperature=temperature,
            max_tokens=max_tokens or client.settings.max_tokens or TOKENS,
        )
        tokens = probe.max_tokens
        for answer in await asked(client, probe, rung, limit_s):
            answers.append((rung, answer))
            if answer.usage is None and not answer.is_free:
                sent = client.written(replace(probe, max_tokens=tokens), rung)
                unreported.append((len(json.dumps(sent, ensure_ascii=False).encode()), tokens))
            tokens *= LONGER
        last = answers[-1][1]
        if last.outcome == "answered":
            return Probed(rung, tuple(answers), tuple(unreported))
        if last.fault in _LASTING or last.outcome in ("timed_out", "unknown"):
            break
    return Probed(None, tuple(answers), tuple(unreported))


async def asked(client: ModelClient, request: Request, rung: Rung, limit_s: float) -> list[Answer]:
    """Make a call, and once more with room for more tokens when its answer was cut off, as seats do."""
    answers = [await client.call(request, rung, deadline_s=client.now_s() + limit_s)]
    if answers[0].outcome == "truncated":
        longer = replace(request, max_tokens=request.max_tokens * LONGER)
        answers.append(await client.call(longer, rung, deadline_s=client.now_s() + limit_s))
    return answers
