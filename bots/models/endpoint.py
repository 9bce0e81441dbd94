"""How an API is spoken: where requests go, how one is written, what a reply means."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from moot.bots.models.answer import Answer
from moot.bots.models.reading import BodyError
from moot.bots.models.request import LADDER, SAMPLED, Request, Rung
from moot.bots.models.usage import is_plausible, usage_of
from moot.config.models import ModelSettings

if TYPE_CHECKING:
    import anthropic
    import httpx2
    import openai


@dataclass(slots=True)
class Dialect:
    """What an endpoint takes; learned from what it refuses.

    Attributes:
        reasons: Whether its model reasons, and is asked accordingly.
        takes_temperature: Whether it takes one.
        refused: What else of how answers are drawn it does not take.
    """

    reasons: bool = False
    takes_temperature: bool = True
    refused: set[str] = field(default_factory=set)

    def learns(self, complaint: str, body: Mapping[str, Any]) -> bool:
        """Take the refusal of a request into account; say whether it would now be written otherwise."""
        if "temperature" in body and "temperature" in complaint.lower():
            self.takes_temperature = False
            return True
        named = {name for name in SAMPLED[1:] if name in body and name in complaint.lower()}
        self.refused |= named
        return bool(named)

    def fit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a body as the endpoint takes it."""
        left_out = self.refused if self.takes_temperature else {"temperature", *self.refused}
        return {name: one for name, one in body.items() if name not in left_out}


class Endpoint(ABC):
    """One model at one address; knows its API and does no I/O.

    Attributes:
        package: The package whose SDK sends the requests.
        headers: What its API wants in each request.
        ladder: The ways in which it can be held to a form, the surest first.
        dialect: What it takes, as far as is known.
        path: Where requests go, below the settings' `url`.
        models_path: Where its models are listed.
    """

    package: ClassVar[str]
    headers: ClassVar[Mapping[str, str]] = {}
    ladder: ClassVar[tuple[Rung, ...]] = LADDER
    dialect: Dialect
    path: str
    models_path: str

    def __init__(self, settings: ModelSettings) -> None:
        """Keep where the model is."""
        self.settings = settings

    @abstractmethod
    def write(self, request: Request, rung: Rung) -> dict[str, Any]:
        """Write a request as it would go out now; the same request gives the same body."""

    def as_sent(self, body: Mapping[str, Any], request: Request) -> Mapping[str, Any]:
        """Return a body as it goes out; what is kept of it may hold less."""
        return body

    def read(self, status: int, raw: bytes, request: Request, rung: Rung) -> Answer:
        """Say what a reply to a request means."""
        answer = self.read_reply(raw, request, rung) if status < 300 else self.read_refusal(status, raw)
        return replace(answer, status=status, reply=raw)

    def read_error(self, error: BodyError, raw: bytes) -> Answer:
        """Return what an error means that came with the status of a success: what it means with its own status."""
        answer = self.read_refusal(error.status, json.dumps(error.reply, default=str).encode())
        # What was generated before the error is charged.
        told = json.loads(raw)
        usage = usage_of(told) if isinstance(told, dict) else None
        if usage is not None and not is_plausible(usage, has_output=False):
            usage = None
        return replace(
            answer, why=f"an error with status 200: {answer.why}", retry_status=error.status, usage=usage
        )

    @abstractmethod
    def read_reply(self, raw: bytes, request: Request, rung: Rung) -> Answer:
        """Say what a reply with status 200 means."""

    @abstractmethod
    def read_refusal(self, status: int, raw: bytes) -> Answer:
        """Say what a reply with a status beyond 299 means."""

    @abstractmethod
    def sdk(self, key: str, http: httpx2.AsyncClient) -> openai.AsyncOpenAI | anthropic.AsyncAnthropic:
        """Import the SDK and make its client, which sends each request once, over the given connections."""
