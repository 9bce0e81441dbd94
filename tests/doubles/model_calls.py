"""A caller over the real client, with neither log nor budget: what a model's mind asks goes to a server as it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random

from moot.bots.minds.mind import View
from moot.bots.models.answer import Answer
from moot.bots.models.caller import NoBudget
from moot.bots.models.client import ModelClient
from moot.bots.models.request import Request, Rung
from moot.config.models import ModelSettings
from tests.doubles.model_server import ModelServer


async def no_wait(_seconds: float) -> None:
    """Wait for nothing between retries."""


def client_of(server: ModelServer) -> ModelClient:
    """Make a client of a server's model."""
    settings = ModelSettings.model_validate({"api": server.api, "url": server.url, "model": server.model})
    return ModelClient(settings, server.key, rng=Random(1), now_s=lambda: 0.0, sleep=no_wait)


class PlainCaller:
    """Asks a client.

    Args:
        client: It.
        rung: How the endpoint is held to forms.
        run: Runs a call where the client's loop is; None: here.
        most: Calls that the budget has room for; None: any number.
    """

    def __init__(
        self,
        client: ModelClient,
        rung: Rung = "json_schema",
        *,
        run: Callable[[Callable[[], Awaitable[Answer]]], Awaitable[Answer]] | None = None,
        most: int | None = None,
    ) -> None:
        self.client = client
        self.rung = rung
        self.most = most
        self.asked: list[tuple[View, int, Request]] = []
        self._run = run

    async def ask(self, view: View, turn: int, request: Request) -> Answer:
        if self.most is not None and len(self.asked) >= self.most:
            raise NoBudget("the society's budget of $0.01 has no room for another call")
        self.asked.append((view, turn, request))

        async def call() -> Answer:
            return await self.client.call(request, self.rung)

        return await (call() if self._run is None else self._run(call))
