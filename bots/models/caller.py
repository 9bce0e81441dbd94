"""What the mind of a model asks through: a call of one seat's model, within the society's budget (K26, K27)."""

from __future__ import annotations

from typing import Protocol

from moot.bots.minds.mind import View
from moot.bots.models.answer import Answer
from moot.bots.models.request import Request


class NoBudget(Exception):
    """Say in one line which budget a call does not fit into; nothing was sent."""


class Caller(Protocol):
    """Asks the model that fills a seat."""

    async def ask(self, view: View, turn: int, request: Request) -> Answer:
        """Make a call that stands in the log, or return what the same call was answered before.

        Args:
            view: What the seat's mind was shown; its obligation and attempt name the call.
            turn: Counts the calls of one answer, from 1.
            request: What is asked.

        Returns:
            How it ended; only an outcome `answered` may be used.

        Raises:
            NoBudget: It does not fit into what is left of a budget.
        """
        ...
