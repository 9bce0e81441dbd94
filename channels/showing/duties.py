"""How a duty is named to people: `the rebuttal of round 2 in hyp_20260223_1018`, not the id that a program uses.

What an obligation's id holds is said once, at `Obligation`; what a step is called stands with its protocol.
"""

from __future__ import annotations

import re
from calendar import month_name
from typing import Final

from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rulebook

_ID: Final = re.compile(r"([^/]+)/([^/]+)/[^/]+")
_COUNTED: Final = re.compile(r"([a-z_]+\d?(?:-[a-z_]+)*?)-(\w*\d[\w-]*)")
_TICK: Final = re.compile(r"(?:\d{4}(0[1-9]|1[0-2])([0-3]\d)-)?([01]\d|2[0-3])([0-5]\d)")
_NUMBER: Final = "{n}"
_WHOSE: Final = "a seat's"


def duty(obligation_id: str) -> str:
    """Name a duty in words, with the case that it belongs to; what is no id of one is returned as it is."""
    found = _ID.fullmatch(obligation_id)
    return f"the {_called(*found.groups())} in {found[1]}" if found else obligation_id


def owed(obligation_id: str, position: str = "") -> str:
    """Name a duty where its case is known: `rebuttal of round 2`; what is no id of one is returned as it is.

    Args:
        obligation_id: Its id.
        position: What of the desk's it is about, as `position` says it.
    """
    found = _ID.fullmatch(obligation_id)
    told = _called(*found.groups()) if found else obligation_id
    return f"{told}, {position}" if position else told


def position(subject: object) -> str:
    """Name the position that a duty is about, as the same is owed of each: `SIM-ALFA of strat_1`; "" for none."""
    symbol, strategy_id = getattr(subject, "symbol", ""), getattr(subject, "name", "")
    return f"{symbol} of {strategy_id}" if symbol and strategy_id else ""


def _called(case_id: str, step: str) -> str:
    """Name a step in words; a time in its name is told, a number where its protocol says of what it is one.

    A step that was entered again has the count of its entries behind it (R-G15).
    """
    step, _, entry = step.partition("@")
    if entry:
        return f"{_called(case_id, step)}, round {entry}"
    if (noun := _noun(case_id, step)) is not None:
        return noun.replace(f" of round {_NUMBER}", "")
    found = _COUNTED.fullmatch(step)
    if found is None:
        return _plain(step)
    base, rest = found[1], found[2]
    noun = _noun(case_id, base) or _about(case_id, base) or _plain(base)
    if _NUMBER in noun:
        return noun.replace(_NUMBER, rest.partition("-")[0])
    return f"{noun}{_at(rest)}"


def _about(case_id: str, name: str) -> str:
    """Return what a step is called whose name ends with the seat that it is about; "" for no such step."""
    step, _, seat = name.rpartition("-")
    noun, info = _noun(case_id, step), rulebook().seats.get(Seat(seat))
    return noun.replace(_WHOSE, f"the {info.shown}'s") if noun and info is not None else ""


def _noun(case_id: str, name: str) -> str | None:
    """Return what a protocol calls a step, in cases such as this one or in any; None where it does not say."""
    known = rulebook().duties
    return known.get(f"{case_id.partition('_')[0]}/{name}") or known.get(name)


def _plain(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def _at(rest: str) -> str:
    """Word the time of a tick of the trading day, which its name has by New York's clock; "" for what is none."""
    found = _TICK.fullmatch(rest)
    if found is None:
        return ""
    month, day, hour, minute = found.groups()
    on = f"{int(day)} {month_name[int(month)]}, " if day else ""
    return f" of {on}{hour}:{minute} New York time"
