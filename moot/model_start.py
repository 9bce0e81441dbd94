"""Which models a society calls, and how each is called: found out before its start, at a small cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import NamedTuple

from moot.bots.models.advice import advice
from moot.bots.models.answer import Answer
from moot.bots.models.client import ModelClient
from moot.bots.models.errors import NoKey, NoNetwork, NoPackage, UnusableModel
from moot.bots.models.in_use import ModelInUse, endpoint_of
from moot.bots.models.key import key_of
from moot.bots.models.prices import price_of
from moot.bots.models.probing import PROBE_S, Probed, find_rung
from moot.clock import Clock, IoThread
from moot.clock.wall import monotonic_ns
from moot.config.budget import BudgetSettings
from moot.config.models import ModelSettings
from moot.minds.choosing import Chosen
from moot.protocols.calls.price import cost, most


class SeatLimit(NamedTuple):
    """What a seat lets an answer of its model have.

    Attributes:
        seat: The seat.
        max_tokens: Tokens.
    """

    seat: str
    max_tokens: int

    @property
    def setting(self) -> str:
        """Return where the configuration says so."""
        return f"[minds] {self.seat}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSeats:
    """Which models are to be called, as a configuration has it.

    Attributes:
        models: Those that fill seats, by name.
        temperatures: What they are called with, where a seat says it.
        budget: What they may spend.
        limits: The least that a seat lets an answer have, by model; none where no seat says.
    """

    models: Mapping[str, ModelSettings]
    temperatures: Mapping[str, float]
    budget: BudgetSettings
    limits: Mapping[str, SeatLimit] = field(default_factory=dict)

    @classmethod
    def of(
        cls, chosen: Mapping[str, Chosen], models: Mapping[str, ModelSettings], budget: BudgetSettings
    ) -> ModelSeats:
        """Return the models that fill seats.

        Args:
            chosen: What fills the seats.
            models: The models of the configuration.
            budget: What models may spend.

        Raises:
            UnusableModel: There is no model of a name.
        """
        seats = [one.model for one in chosen.values() if one.model is not None]
        for seat in seats:
            if seat.model not in models:
                raise UnusableModel(f"there is no [models.{seat.model}]: write it with url and model")
        return cls(
            models={seat.model: models[seat.model] for seat in sorted(seats, key=lambda one: one.model)},
            temperatures={seat.model: seat.temperature for seat in seats if seat.temperature is not None},
            budget=budget,
            limits=seat_limits(
                (seat, one.model.model, one.model.max_tokens)
                for seat, one in chosen.items()
                if one.model is not None
            ),
        )


def seat_limits(seats: Iterable[tuple[str, str, int | None]]) -> dict[str, SeatLimit]:
    """Return the least `max_tokens` of the seats of each model; a model with a seat that has none is left out.

    Args:
        seats: Seat, model and `max_tokens` each.
    """
    found: dict[str, SeatLimit] = {}
    unlimited = set()
    for seat, model, max_tokens in seats:
        if max_tokens is None:
            unlimited.add(model)
        elif model not in found or max_tokens < found[model].max_tokens:
            found[model] = SeatLimit(seat, max_tokens)
    return {model: limit for model, limit in found.items() if model not in unlimited}


def check_prices(models: Mapping[str, ModelSettings], budget: BudgetSettings, now: datetime) -> None:
    """Refuse a budget in dollars for what nobody knows the price of.

    Raises:
        UnusableModel: There is such a model.
    """
    if not budget.counts_usd:
        return
    for name, given in models.items():
        if price_of(given, now) is None:
            raise UnusableModel(
                f"models.{name}: a budget in US dollars needs its price, which is not known: write price into"
                f" [models.{name}] of a configuration, in US dollars for a million tokens, or limit tokens or calls"
            )


def client_of(name: str, given: ModelSettings, *, tries_again: bool = True) -> ModelClient:
    """Return the client of a model; `tries_again` as it takes it.

    Raises:
        UnusableModel: Its key or a package is missing, or the environment keeps requests from being sent.
    """
    try:
        key = key_of(name, given)
        return ModelClient(
            given,
            key,
            rng=Random(monotonic_ns()),
            now_s=lambda: monotonic_ns() / 1e9,
            tries_again=tries_again,
        )
    except NoKey as exc:
        raise UnusableModel(f"models.{name}: {str(exc).removeprefix(f'models.{name}: ')}") from None
    except (NoPackage, NoNetwork) as exc:
        raise UnusableModel(f"models.{name}: {exc}") from None


class _Probe:
    """Asks a model for its list, which costs nothing, and then how it is held to a form."""

    def __init__(self, client: ModelClient, temperature: float | None, limit: SeatLimit | None) -> None:
        self._client = client
        self._temperature = temperature
        self._max_tokens = None if limit is None else limit.max_tokens

    async def __call__(self) -> Probed:
        await self._client.open()
        told = await self._client.models()
        if isinstance(told, Answer):
            return Probed(None, (("prompt", told),))
        return await find_rung(self._client, PROBE_S, self._temperature, self._max_tokens)


def _in_use(
    name: str, client: ModelClient, found: Probed, clock: Clock, limit: SeatLimit | None
) -> ModelInUse:
    answers = [answer for _, answer in found.answers]
    if found.rung is None:
        setting = "" if limit is None else limit.setting
        what = advice(answers[-1], name, client.settings, setting)
        raise UnusableModel(f"models.{name}: {answers[-1].why}: {what}")
    price = price_of(client.settings, clock.now())
    used = [answer.usage for answer in answers if answer.usage is not None]
    worst = found.unreported
    return ModelInUse(
        name=name,
        settings=client.settings,
        rung=found.rung,
        endpoint=endpoint_of(client.settings, client.dialect.reasons, client.dialect.takes_temperature),
        price=price,
        probe={
            "calls": sum(answer.tries > 0 for answer in answers),
            # What is not reported is booked with the most that it may come to, as for any other call.
            "tokens": sum(usage.input + usage.output for usage in used) + sum(sum(one) for one in worst),
            "cost": None
            if price is None
            else sum(cost(price, usage) for usage in used) + sum(most(price, *one) for one in worst),
        },
    )


async def find_out(
    seats: ModelSeats, clients: Mapping[str, ModelClient], clock: Clock, io: IoThread
) -> dict[str, ModelInUse]:
    """Find out how models are called.

    Raises:
        UnusableModel: One cannot be called.
    """
    probes = [
        io.spawn(_Probe(client, seats.temperatures.get(name), seats.limits.get(name)))
        for name, client in clients.items()
    ]
    return {
        name: _in_use(name, client, await clock.from_thread(probe), clock, seats.limits.get(name))
        for (name, client), probe in zip(clients.items(), probes, strict=True)
    }
