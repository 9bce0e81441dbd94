"""Laws that every log of a society keeps, whatever breaks: judged message by message, on what the log says alone.

* `law`: what a law is, and how one is written; `recent`: memory that cannot grow without end.
* `watching`: `Watch`, many laws over one log.
* `logs`, `debates`: the laws.

Nothing of the society is imported here, no machine and no table: the laws are read from the rules a second time.
"""

from moot.chaos.laws import debates, logs
from moot.chaos.laws.law import Law, Message, Observer, law
from moot.chaos.laws.watching import Broken, Watch

__all__ = ["LAWS", "Broken", "Law", "Message", "Observer", "Watch"]

LAWS: tuple[Law, ...] = tuple(
    law(memory)
    for memory in (
        logs.Dense,
        logs.TimeNeverGoesBack,
        logs.IdsOnce,
        debates.OneRevision,
        debates.ThreeRounds,
    )
)
"""All laws."""
