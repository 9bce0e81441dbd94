"""Minds that ask a model, and answer whatever it says with a ready answer."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from moot.bots.minds.mind import Reply, View
from moot.bots.models.answer import Answer
from moot.bots.models.caller import Caller, NoBudget
from moot.bots.models.request import Request
from moot.config.budget import BudgetSettings
from moot.config.models import ModelSettings
from moot.model_start import ModelSeats
from tests.doubles.canned import CannedMind
from tests.doubles.model_server import ModelServer

PRICE = {"input": 1, "output": 10}
"""A micro-dollar for a token that is read, ten for one that is written."""


def seats(
    server: ModelServer, price: Any = PRICE, budget: dict[str, Any] | None = None, **settings: Any
) -> ModelSeats:
    """Return a society's models: one named local, which the server has."""
    given = ModelSettings.model_validate(
        {"url": server.url, "model": server.model, "price": price, **settings}
    )
    return ModelSeats(
        models={"local": given}, temperatures={}, budget=BudgetSettings.model_validate(budget or {})
    )


def question(text: str, most: int = 50) -> Request:
    """Return a request for a text."""
    return Request(messages=({"role": "user", "content": text},), max_tokens=most)


class AskingMind(CannedMind):
    """Asks a model once for each obligation, `turns` times, and remembers what came of it."""

    def __init__(
        self, caller: Caller, delay: timedelta = timedelta(minutes=5), turns: int = 1, at_once: int = 1
    ) -> None:
        super().__init__(delay)
        self.caller = caller
        self.turns = turns
        self.at_once = at_once
        self.answers: list[Answer] = []
        self.refusals: list[str] = []

    def begins_at_once(self, view: View) -> bool:
        return True

    async def answer(self, view: View) -> Reply | None:
        for first in range(1, self.turns + 1, self.at_once):
            turns = range(first, first + self.at_once)
            came = await asyncio.gather(*(self._ask(view, turn) for turn in turns), return_exceptions=True)
            for one in came:
                if isinstance(one, NoBudget):
                    self.refusals.append(str(one))
                elif isinstance(one, BaseException):
                    raise one
                else:
                    self.answers.append(one)
        return await super().answer(view)

    async def _ask(self, view: View, turn: int) -> Answer:
        return await self.caller.ask(view, turn, question(f"{view.obligation.id}, turn {turn}"))
