"""Laws that every log of a society keeps, whatever breaks: judged message by message, on what the log says alone.

* `law`: what a law is, and how one is written; `recent`, `instants`, `positions`: what they remember and reckon with.
* `watching`: `Watch`, many laws over one log.
* `logs`, `seats`, `rulings`, `escalations`, `cycles`, `debates`, `verdicts`, `strategies`, `trading`, `runs`, `panels`,
  `motions`, `calls`: the laws, by what they are about.

Nothing of the society is imported here, no machine and no table: the laws are read from the rules a second time.
"""

from moot.laws import (
    calls,
    cycles,
    debates,
    escalations,
    logs,
    motions,
    panels,
    rulings,
    runs,
    seats,
    strategies,
    trading,
    verdicts,
)
from moot.laws.law import Law, Message, Observer, laws_of
from moot.laws.watching import Broken, Watch

__all__ = ["LAWS", "OF_CONDUCT", "Broken", "Law", "Message", "Observer", "Watch"]

OF_CONDUCT: tuple[Law, ...] = tuple(
    law
    for module in (
        seats,
        rulings,
        escalations,
        cycles,
        debates,
        verdicts,
        strategies,
        trading,
        runs,
        panels,
        motions,
        calls,
    )
    for law in laws_of(vars(module))
)
"""Laws of what is said."""

LAWS: tuple[Law, ...] = (*laws_of(vars(logs)), *OF_CONDUCT)
"""All laws, those of the log itself first."""
