"""Numbers on the command line: which a society can hold (K4), and one line for those that it cannot."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from moot.cli.errors import Unusable

MOST_WHOLE: Final = 2**53
"""The greatest whole number that every JSON reader gives back as it was, of either sign."""

REPLICAS: Final = (1, 3, 5)
"""On so many servers of NATS a log can be kept so that most of them are left when one or two are gone."""

MOST_WARM_UP: Final = 3650
"""Days: ten years are simulated for hours."""


def seed_option(about: str) -> Any:
    """Return `--seed`; `about` says what it seeds."""
    return typer.Option(
        "--seed", metavar="N", min=-MOST_WHOLE, max=MOST_WHOLE, help=f"{about}; by default 1."
    )


def some_speed(value: float | None) -> float | None:
    """Return a speed, if a society can run at it (K7).

    Raises:
        Unusable: It cannot.
    """
    from moot.protocols.kernel.times import a_speed

    try:
        return None if value is None else a_speed(value)
    except ValueError as exc:
        raise Unusable(str(exc)) from None


def some_days(value: float) -> float:
    """Return the length of a warm-up in days, if there can be one.

    Raises:
        Unusable: There cannot.
    """
    if not 0 <= value <= MOST_WARM_UP:
        raise Unusable(f"--warm-up {value:g}: choose a number of days from 0 to {MOST_WARM_UP}")
    return value


def _some_replicas(value: int | None) -> int | None:
    if value is not None and value not in REPLICAS:
        raise Unusable(f"--replicas {value}: choose {', '.join(map(str, REPLICAS[:-1]))} or {REPLICAS[-1]}")
    return value


Replicas = Annotated[
    int | None,
    typer.Option(
        "--replicas",
        metavar="N",
        callback=_some_replicas,
        help="On how many servers of a NATS cluster the log is kept: 1, 3 or 5; by default 1.",
    ),
]
