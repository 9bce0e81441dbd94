"""What may be asked for in a log: a word that means nothing is refused, with what there is."""

from __future__ import annotations

from difflib import get_close_matches

from moot.protocols.kernel.errors import BadInput
from moot.protocols.rulebook import rulebook


def channel(name: str) -> str:
    """Return a channel's full name; `#` may be left out.

    Raises:
        BadInput: There is none.
    """
    full = name if name.startswith("#") else f"#{name}"
    known = rulebook().channel_names
    if full not in known:
        raise BadInput(f"there is no channel {full}: choose one of {' '.join(sorted(known))}")
    return full


def message_type(name: str) -> str:
    """Return the name of a message type of these rules, whatever its case.

    Raises:
        BadInput: There is none.
    """
    kind = name.upper()
    known = rulebook().messages
    if kind not in known:
        near = get_close_matches(kind, [*known], 1)
        hint = f"did you mean {near[0]}?" if near else "docs/reference/messages.md lists them"
        raise BadInput(f"there is no message type {kind}: {hint}")
    return kind


def seat(name: str) -> str:
    """Return the name of a seat.

    Raises:
        BadInput: There is none.
    """
    known = rulebook().seats
    if name not in known:
        raise BadInput(f"there is no seat {name!r}: choose one of {', '.join(sorted(known))}")
    return name
