"""Sends the requests of trials over the real client, with neither log nor budget."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from random import Random

from moot.arbiter.asking import EMBEDDING, Place, Sent
from moot.bots.models.caller import NoBudget
from moot.bots.models.client import ModelClient
from moot.bots.models.request import Request
from moot.config.models import ModelSettings
from tests.doubles.model_server import ModelServer


class DirectPost:
    """Asks one server, whatever the slug.

    Args:
        server: It.
        now: Tells the time.
        most: Requests that the budget has room for; None: any number.
    """

    def __init__(self, server: ModelServer, now: Callable[[], datetime], most: int | None = None) -> None:
        self.sent: list[tuple[Place, str, Request]] = []
        self._now = now
        self._most = most
        self._clients = {
            api: ModelClient(
                ModelSettings.model_validate({"api": api, "url": server.url, "model": server.model}),
                server.key,
                rng=Random(1),
                now_s=lambda: now().timestamp(),
                tries_again=False,
            )
            for api in ("openai", "embeddings")
        }

    async def send(self, place: Place, model: str, request: Request, until: datetime) -> Sent:
        if self._most is not None and len(self.sent) >= self._most:
            raise NoBudget("the budget of the society is $0.01, which leaves no room for the call")
        self.sent.append((place, model, request))
        client, began = self._client(place), self._now()
        body = client.written(request)
        answer = await client.call(request, body=body, deadline_s=until.timestamp())
        return Sent(answer, json.loads(json.dumps(body)), began, self._now())

    def learns(self, model: str, sent: Sent) -> bool:
        answer = sent.answer
        return answer.fault == "request" and self._clients["openai"].dialect.learns(answer.why, sent.body)

    def _client(self, place: Place) -> ModelClient:
        return self._clients["embeddings" if place.call == EMBEDDING else "openai"]

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()
