"""What the functions of the API take in many forms, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Final

from moot.config.settings import Settings, load_settings
from moot.log_setup import quiet_logging
from moot.place import free_for_a_log
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.frozen import MAX_WHOLE

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


def place_of(out: Path | str | None) -> Path | None:
    """Return the directory that a log is to be kept in.

    Raises:
        BadInput: It holds one already.
    """
    quiet_logging()
    return None if out is None else free_for_a_log(Path(out))


def settings_of(config: Path | str | Mapping[str, Any] | None) -> Settings:
    """Load a configuration.

    Raises:
        ConfigError: It cannot be used.
    """
    if isinstance(config, Mapping):
        return load_settings(**config)
    return load_settings(None if config is None else Path(config))
