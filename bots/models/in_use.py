"""A model as a society calls it: what was found out at a start holds until the next one, and stands in the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Self

from pydantic import ValidationError

from moot.bots.models.client import ENDPOINTS
from moot.bots.models.endpoint import Endpoint
from moot.bots.models.errors import UnusableModel
from moot.bots.models.record import Read
from moot.bots.models.request import Request, Rung
from moot.config.models import ModelSettings
from moot.protocols.calls.price import ModelPrice, most
from moot.protocols.kernel.faults import line

_FOUND: Final = ("rung", "reasons", "takes_temperature", "probe")
"""What the log says of a model beside its settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInUse:
    """How one model of the configuration is called; requests are written the same whenever, and by whatever process.

    Attributes:
        name: Its name in the configuration.
        settings: Where it is.
        rung: How it is held to a form.
        endpoint: How its API is spoken, as the probes learned it; it learns nothing more.
        price: What it costs; None: nobody knows.
        probe: What the probes used: calls, tokens, and their cost in micro-USD or None.
    """

    name: str
    settings: ModelSettings
    rung: Rung
    endpoint: Endpoint
    price: ModelPrice | None
    probe: Mapping[str, int | None] = field(default_factory=dict)

    def written(self, request: Request) -> bytes:
        """Write a request as it is sent and kept: JSON, without a key."""
        body = self.endpoint.write(request, self.rung)
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    def worst(self, body: bytes, request: Request) -> tuple[int | None, int]:
        """Return the most micro-USD and tokens that a call may come to: a token for each byte that is sent."""
        price = self.price
        cost = None if price is None else most(price, len(body), request.max_tokens)
        return cost, len(body) + request.max_tokens

    def reader(self, request: Request) -> Read:
        """Return what says what a reply to a request means."""
        return partial(self.endpoint.read, request=request, rung=self.rung)

    def as_log(self) -> dict[str, Any]:
        """Return it as the log's configuration keeps it, under `models.NAME`."""
        price = {} if self.price is None else {"price": self.price.model_dump(mode="json", exclude_none=True)}
        return {
            **self.settings.public(),
            **price,
            "rung": self.rung,
            "reasons": self.endpoint.dialect.reasons,
            "takes_temperature": self.endpoint.dialect.takes_temperature,
            "probe": dict(self.probe),
        }

    @classmethod
    def of_log(cls, name: str, told: Mapping[str, Any]) -> Self:
        """Return the model as a log's configuration has it.

        Raises:
            UnusableModel: It does not say how the model is called.
        """
        try:
            settings = ModelSettings.model_validate(
                {key: one for key, one in told.items() if key not in _FOUND}
            )
            return cls(
                name=name,
                settings=settings,
                rung=told["rung"],
                endpoint=endpoint_of(settings, told["reasons"], told["takes_temperature"]),
                price=settings.price,
                probe=told["probe"],
            )
        except (ValidationError, KeyError) as exc:
            why = (
                line(exc, "settings", ModelSettings.model_fields)
                if isinstance(exc, ValidationError)
                else f"{exc} is missing"
            )
            raise UnusableModel(f"models.{name} in the log: {why}") from None


def endpoint_of(settings: ModelSettings, reasons: bool, takes_temperature: bool) -> Endpoint:
    """Return how a model's API is spoken when so much is known of what it takes."""
    endpoint = ENDPOINTS[settings.api](settings)
    endpoint.dialect.reasons = reasons
    endpoint.dialect.takes_temperature = takes_temperature
    return endpoint
