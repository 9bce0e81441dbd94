"""The minds of models in one society: made of what calls them, with a simulated one in reserve for a spent budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, TypeVar

from moot.bots.minds.mind import Mind, Reply, View
from moot.bots.minds.model.asking import ModelOptions
from moot.bots.minds.model.mind import NOTHING, DelayOf, ModelMind, at_once, drawn
from moot.bots.minds.model.toolkit import Toolkit
from moot.bots.minds.model.writing import ModelPanelWriter, ModelWriter
from moot.bots.models.caller import Caller
from moot.bots.seats.panel import PanelWriter
from moot.bots.seats.writer import Writer
from moot.clock import Clock
from moot.config.prompts import PromptSettings
from moot.minds.choosing import Chosen
from moot.minds.foreseeing import fault_of
from moot.model_service import ModelService
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.minds import model_named
from moot.protocols.kernel.seats import Seat

T = TypeVar("T")

A_MOMENT: Final = timedelta(milliseconds=10)
"""Society time between two looks whether the log says yet that a simulated mind answers."""


SHIPPED: Final = PromptSettings()
"""Moot's own prompts."""


class ModelMinds:
    """Makes the mind of each seat that a model fills."""

    def __init__(
        self,
        chosen: Mapping[str, Chosen],
        calls: ModelService | None,
        clock: Clock,
        seed: int,
        prompts: PromptSettings = SHIPPED,
    ) -> None:
        """Take what fills the seats, and what calls models; None where none is called.

        Raises:
            WrongPrompt: A prompt cannot be used.
        """
        self._models = {seat: one.model for seat, one in chosen.items() if one.model is not None}
        self._calls = calls
        self._clock = clock
        self._delay: DelayOf = at_once if clock.kind == "real" else drawn(seed)
        self._settings = prompts
        self._prompts = prompts.load()

    def as_log(self) -> dict[str, Any]:
        """Return which prompts the models are told, as the log keeps it."""
        return self._settings.as_log(self._prompts, self._models.keys())

    def fills(self, seat: Seat) -> bool:
        """Say whether a model fills a seat."""
        return self._calls is not None and seat in self._models

    def mind(
        self, seat: Seat, simulated: Mind, *, measured: Mind | None = None, kit: Toolkit = NOTHING
    ) -> Mind:
        """Return the mind of a seat that a model fills.

        Args:
            seat: The seat.
            simulated: Answers while a budget is spent, where that is chosen.
            measured: Gives what is measured of its messages; None: nothing is.
            kit: What may be looked up.
        """
        caller, options = self._made_of(seat)
        mind = ModelMind(
            caller,
            options,
            self._prompts,
            delay=self._delay,
            kit=kit,
            measured=measured,
            when_spent=self._spare(seat, simulated),
            tell=self._tell,
            fault_of=self._fault_of,
        )
        return self.or_simulated(seat, mind, simulated)

    def writer(self, seat: Seat, simulated: Writer) -> Writer:
        """Return what writes in a seat of the Arena."""
        caller, options = self._made_of(seat)
        return ModelWriter(
            caller,
            options,
            self._prompts,
            delay=self._delay,
            when_spent=self._spare(seat, simulated),
            tell=self._tell,
        )

    def panel_writer(self, seat: Seat, simulated: PanelWriter) -> PanelWriter:
        """Return what writes in a seat of a panel."""
        caller, options = self._made_of(seat)
        return ModelPanelWriter(
            caller,
            options,
            self._prompts,
            delay=self._delay,
            when_spent=self._spare(seat, simulated),
            tell=self._tell,
        )

    def or_simulated(self, seat: Seat, mind: Mind, simulated: Mind) -> Mind:
        """Return a mind that leaves its seat to a simulated one as long as the log says so."""
        return _ModelOrSimulated(lambda: self._office.is_simulated(seat), mind, simulated)

    @property
    def _office(self) -> ModelService:
        assert self._calls is not None
        return self._calls

    def _made_of(self, seat: Seat) -> tuple[Caller, ModelOptions]:
        given = self._models[seat]
        options = ModelOptions(
            name=model_named(given.model, self._office.as_log()),
            temperature=given.temperature,
            max_tokens=given.max_tokens or self._office.models[given.model].settings.max_tokens,
        )
        return self._office.caller(given.model), options

    def _fault_of(self, view: View, body: Message) -> str:
        return fault_of(self._office.host, view, body)

    async def _tell(self, view: View, why: str) -> None:
        await self._office.host.audit_silence(view, why)

    def _spare(self, seat: Seat, simulated: T) -> Callable[[View], Awaitable[T | None]]:
        """Return what gives who answers when no call fits: a simulated mind, once the log says so; else nobody."""

        async def spare(_view: View) -> T | None:
            while self._office.is_changing:
                await self._clock.sleep(A_MOMENT)
            return simulated if self._office.is_simulated(seat) else None

        return spare


class _ModelOrSimulated(Mind):
    """Is asked for a model's seat, which a simulated mind fills while the log says so."""

    def __init__(self, is_simulated: Callable[[], bool], model: Mind, simulated: Mind) -> None:
        self._is_simulated = is_simulated
        self._model = model
        self._simulated = simulated

    @property
    def _current(self) -> Mind:
        return self._simulated if self._is_simulated() else self._model

    def begins_at_once(self, view: View) -> bool:
        return self._current.begins_at_once(view)

    def consider(self, view: View) -> timedelta | None:
        return self._current.consider(view)

    async def answer(self, view: View) -> Reply | None:
        mind = self._current
        reply = await mind.answer(view)
        return replace(reply, is_stand_in=True) if reply is not None and mind is self._simulated else reply
