"""Which model takes which seats, and what it may spend, as a command line or a caller says over a configuration."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from moot.bots.models.key import key_of
from moot.channels.showing.wording import an
from moot.clock.wall import utc_ns
from moot.config.budget import BudgetSettings
from moot.config.minds import MindSettings, mind_seat
from moot.config.models import ModelSettings, no_model
from moot.config.settings import Settings
from moot.minds.choosing import Chosen, MindSources, UnusableMind
from moot.model_start import check_prices
from moot.protocols.kernel.faults import first_fault
from moot.protocols.kernel.minds import in_short
from moot.protocols.kernel.seats import Seat

KEY_VARIABLE: Final = "MOOT_MODEL_KEY"
"""Where the key of a model is that no configuration names, unless somebody says otherwise."""

ModelSource = str | Mapping[str, Any]
"""A model: NAME of a `[models.NAME]`; "URL#NAME"; or what a `[models.NAME]` holds, with temperature and max_tokens."""

BudgetSource = float | Decimal | str | Mapping[str, Any]
"""What may be spent: US dollars, or what `[budget]` holds."""

_CALLED_WITH: Final[tuple[str, ...]] = ("temperature", "max_tokens")


class Seated(NamedTuple):
    """What fills seats once all is said.

    Attributes:
        settings: The configuration with the models that are called and what they may spend.
        minds: What fills which seat.
    """

    settings: Settings
    minds: MindSources

    @property
    def models(self) -> dict[str, ModelSettings]:
        """The models that sit somewhere, by name."""
        names = sorted({name for source in self.minds.values() if (name := model_of(source))})
        return {name: self.settings.models[name] for name in names}

    @property
    def budget(self) -> BudgetSettings:
        """What they may spend; no limit where there are none."""
        return self.settings.budget if self.models else BudgetSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What somebody says over a configuration.

    Attributes:
        model: The model; None: as configured.
        seats: Those that it takes; None: all that there are, but those for which another mind is given.
        budget: What may be spent; None: as configured.
        key_env: The variable that holds the key of "URL#NAME"; None: `KEY_VARIABLE`, where that is set.
        is_typed: Whether it was said by options on a command line, which faults then name.
    """

    model: ModelSource | None = None
    seats: Collection[str] | None = None
    budget: BudgetSource | None = None
    key_env: str | None = None
    is_typed: bool = False

    def over(self, settings: Settings, minds: MindSources, among: Collection[Seat]) -> Seated:
        """Put it over a configuration, and find out whether the models that then sit somewhere can be called at all.

        Args:
            settings: The configuration, with the minds that it puts into the seats.
            minds: What somebody puts into seats besides; it goes before the model.
            among: The seats that there are.

        Raises:
            UnusableMind: No such model or seat, or a wrong amount.
            UnusableModel: A price has to be known, and is not.
            NoKey: A key is missing.
        """
        settings = settings.model_copy(update={"budget": self._budget(settings.budget)})
        taken: dict[str, MindSettings] = {}
        if self.model is not None:
            name, held, options = self.named(settings.models)
            settings = settings.model_copy(update={"models": {**settings.models, name: held}})
            taken = dict.fromkeys(self._seats(minds, among), MindSettings(model=name, **options))
        elif self.seats is not None or self.key_env is not None:
            option = "seats" if self.seats is not None else "key_env"
            raise self._fault(option, f"name a model too, with {self._said('model')}")
        configured = {seat: mind for seat, mind in settings.minds.items() if seat in among}
        every: MindSources = {**configured, **taken, **minds}
        names = sorted({name for source in every.values() if (name := model_of(source))})
        if self.budget is not None and not names:
            raise self._fault("budget", f"no seat is filled by a model: name one with {self._said('model')}")
        found = Seated(settings, every)
        for name in names:
            if name not in settings.models:
                raise UnusableMind(f"minds: {no_model(name, settings.models)}")
            key_of(name, settings.models[name])
        check_prices(found.models, found.budget, _now())
        return found

    def named(self, known: Mapping[str, ModelSettings]) -> tuple[str, ModelSettings, dict[str, Any]]:
        """Return the model that is wanted: its name, what it is, and what its seats call it with.

        Args:
            known: Those that are configured.

        Raises:
            UnusableMind: There is no such model, or it cannot be one.
        """
        given = self.model
        if isinstance(given, Mapping):
            plain = dict(given)
            options = {name: plain.pop(name) for name in _CALLED_WITH if name in plain}
        elif not isinstance(given, str):
            raise self._fault(
                "model", f'give "URL#NAME", a configured name or a mapping, not {an(type(given).__name__)}'
            )
        elif "#" not in given and "://" not in given:
            if given not in known:
                raise UnusableMind(no_model(given, known))
            if self.key_env is not None:
                raise self._fault("key_env", f"goes with URL#NAME: [models.{given}] has a key_env of its own")
            return given, known[given], {}
        else:
            url, _, name = given.partition("#")
            if not name:
                raise self._fault("model", "write URL#NAME, such as http://127.0.0.1:8080/v1#qwen3:8b")
            plain, options = {"url": url, "model": name}, {}
        if not plain.keys() & {"key_env", "key_file"}:
            plain["key_env"] = key_variable(self.key_env)
        try:
            held = ModelSettings.model_validate(plain)
            MindSettings.model_validate({"model": held.model, **options})
        except ValidationError as exc:
            field, why = first_fault(exc, "", [*ModelSettings.model_fields, *_CALLED_WITH])
            if field == "key_env" and self.key_env is not None:
                raise self._fault("key_env", why) from None
            raise self._fault("model", f"{field}: {why}" if field else why) from None
        return _free_name(held, known), held, options

    def _seats(self, minds: MindSources, among: Collection[Seat]) -> list[Seat]:
        if self.seats is None:
            return [seat for seat in among if seat not in minds]
        if isinstance(self.seats, str) or not isinstance(self.seats, Collection):
            raise self._fault("seats", 'give a list of seats, such as ["critic", "evolver"]')
        found = []
        for name in self.seats:
            try:
                found.append(mind_seat(name, among))
            except ValueError as exc:
                raise self._fault("seats", str(exc)) from None
            if name in minds:
                raise self._fault("seats", f"the {name} has a mind already: leave one of the two out")
        if not found:
            raise self._fault("seats", f"name a seat: {', '.join(sorted(among))}")
        return found

    def _budget(self, configured: BudgetSettings) -> BudgetSettings:
        given = self.budget
        if given is None:
            return configured
        plain = dict(given) if isinstance(given, Mapping) else {**configured.as_log(), "usd": given}
        try:
            return BudgetSettings.model_validate(plain)
        except ValidationError as exc:
            field, why = first_fault(exc, "", BudgetSettings.model_fields)
            raise self._fault("budget", f"{field}: {why}" if isinstance(given, Mapping) else why) from None

    def _fault(self, option: str, why: str) -> UnusableMind:
        return UnusableMind(f"{self._said(option)}: {why}")

    def _said(self, option: str) -> str:
        return f"--{option.replace('_', '-')}" if self.is_typed else option


def key_variable(named: str | None) -> str:
    """Return the variable that holds the key of a model that no configuration names; "" where none does."""
    return named or (KEY_VARIABLE if os.environ.get(KEY_VARIABLE) else "")


def unseated(settings: Settings) -> Settings:
    """Return a configuration without its minds, for what is held of it alone: its models and its budget."""
    return settings.model_copy(update={"minds": {}})


def model_of(source: object) -> str:
    """Return the name of the model that fills a seat, "" where none does."""
    if isinstance(source, Chosen):
        return source.model.model if source.model else ""
    if isinstance(source, MindSettings):
        return source.model
    return str(source.get("model", "")) if isinstance(source, Mapping) and "module" not in source else ""


def models_told(minds: Mapping[str, Chosen], settings: Settings) -> str:
    """Say in one line which seats are models', where those are, and what they may spend; "" where none is."""
    seats: dict[str, list[str]] = {}
    for seat, one in sorted(minds.items()):
        if one.model:
            seats.setdefault(one.model.model, []).append(seat)
    if not seats:
        return ""
    models = settings.models
    told = (
        f"{', '.join(taken)}: {models[name].model} at {models[name].url}" for name, taken in seats.items()
    )
    return "; ".join([*told, settings.budget.told()])


def _free_name(held: ModelSettings, known: Mapping[str, ModelSettings]) -> str:
    """Return a name for a model that no other has."""
    short = in_short(held.model)
    name, n = short, 1
    while known.get(name, held) != held:
        n += 1
        name = f"{short[:36]}-{n}"
    return name


def _now() -> datetime:
    return datetime.fromtimestamp(utc_ns() // 1_000_000_000, UTC)
