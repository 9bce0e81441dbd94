"""What the functions of the API take in many forms, checked before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Final, TypeVar

from moot.channels.showing.wording import an
from moot.config.settings import Settings, load_settings
from moot.log_setup import quiet_logging
from moot.minds.choosing import MindSources
from moot.minds.model_choice import BudgetSource, ModelSource, Seated, Wanted, unseated
from moot.place import free_for_a_log
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.frozen import MAX_WHOLE
from moot.protocols.kernel.seats import Seat

T = TypeVar("T")

SECTIONS: Final = frozenset(Settings.model_fields)


def a_number(name: str, value: object) -> float:
    """Return a number.

    Raises:
        BadInput: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadInput(f"{name} {value!r}: give a number")
    return float(value)


def a_seed(value: object) -> int:
    """Return a seed, a whole number that every JSON reader reads alike.

    Raises:
        BadInput: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or abs(int(value)) > MAX_WHOLE:
        raise BadInput(f"seed {value!r}: choose a whole number from -{MAX_WHOLE} to {MAX_WHOLE}")
    return int(value)


def a_path(name: str, value: object) -> Path:
    """Return a path.

    Raises:
        BadInput: It is neither a text nor a path.
    """
    if not isinstance(value, str | Path):
        raise BadInput(f"{name}: give a path, not {an(type(value).__name__)}")
    return Path(value)


def place_of(out: Path | str | None) -> Path | None:
    """Return the directory that a log is to be kept in.

    Raises:
        BadInput: It is no path, or holds a log already.
    """
    quiet_logging()
    return None if out is None else free_for_a_log(a_path("out", out))


def minds_of(minds: Any) -> MindSources:
    """Return what fills the seats that are named; what it is, is judged where minds are made.

    Raises:
        BadInput: It names no seats.
    """
    if not isinstance(minds, Mapping | None):
        what = "text" if isinstance(minds, str) else getattr(minds, "__name__", type(minds).__name__)
        raise BadInput(f'minds: give a mapping of seat to mind, such as {{"critic": ...}}, not {an(what)}')
    return minds or {}


def seated(
    minds: Any,
    among: Collection[Seat],
    *,
    model: ModelSource | None,
    seats: Collection[str] | None,
    budget: BudgetSource | None,
) -> Seated:
    """Return what fills the seats of a case outside a society.

    Raises:
        BadInput: It names no seats.
        UnusableMind: Model, seats or budget cannot be used.
        NoKey: A key is missing.
    """
    known = unseated(settings_of(None))
    return Wanted(model=model, seats=seats, budget=budget).over(known, minds_of(minds), among)


def a_listener(progress: T) -> T:
    """Return what is called as something goes on.

    Raises:
        BadInput: It cannot be called.
    """
    if progress is not None and not callable(progress):
        raise BadInput(f"progress: give a function, not {an(type(progress).__name__)}")
    return progress


def settings_of(config: Path | str | Mapping[str, Any] | None) -> Settings:
    """Load a configuration.

    Raises:
        BadInput: It is neither a mapping nor a path.
        ConfigError: It cannot be used.
    """
    if isinstance(config, Mapping):
        return load_settings(**config)
    return load_settings(None if config is None else a_path("config", config))
