"""What fills a seat, as a configuration says it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

from moot.protocols.kernel.minds import SILENT, SIMULATED
from moot.protocols.kernel.seats import OFFICERS, PEOPLE, Seat
from moot.protocols.rulebook import rulebook

DOTTED: Final = re.compile(r"[A-Za-z_]\w*(\.\w+)*:\w+")
"""How a class is named: `package.module:Class`."""

LONGEST_S: Final = 1_800.0
"""Wall seconds that an answer of a mind may be given at most."""


class MindSettings(BaseModel):
    """What fills a seat; a configuration may write its `module` alone.

    Attributes:
        module: "simulated", "silent", or `package.module:Class` for a mind of one's own, which takes what else
            stands here as its options.
        timeout_s: Wall seconds that one answer of one's own mind may take; None: as its class says.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    module: str
    timeout_s: Annotated[float, Field(gt=0, le=LONGEST_S)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if not isinstance(value, str | Mapping | MindSettings):
            raise ValueError(
                f"{type(value).__name__} is no kind of mind: name simulated, silent, or a class as package.module:Class"
            )
        return {"module": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_a_mind(self) -> MindSettings:
        if self.module in (SIMULATED, SILENT):
            if self.model_extra or self.timeout_s is not None:
                raise ValueError(f"{self.module} takes no options")
        elif not DOTTED.fullmatch(self.module):
            raise ValueError(
                f"choose simulated, silent, or a class as package.module:Class, not {self.module[:60]!r}"
            )
        return self

    def options(self) -> dict[str, Any]:
        """Return what is passed to the class."""
        return dict(self.model_extra or {})


def mind_seat(name: object, seats: Collection[Seat] | None = None) -> Seat:
    """Return the seat of a name, if a mind can fill it.

    Args:
        name: Its name.
        seats: Those that are to be had; None: every seat of a bot.

    Raises:
        ValueError: It is none of them; says what it is, and which there are.
    """
    known = sorted(rulebook().bots if seats is None else seats)
    if name in known:
        return Seat(str(name))
    shown = str(name)[:60]
    if name in PEOPLE:
        why = f"the seat {shown!r} is for people"
    elif name in OFFICERS:
        why = f"the seat {shown!r} is an officer's, which is code"
    elif name in rulebook().bots:
        why = f"the seat {shown!r} has no say here"
    else:
        why = f"there is no seat {shown!r}"
        if close := difflib.get_close_matches(shown, known, n=1):
            raise ValueError(f"{why}: did you mean {close[0]}?")
    raise ValueError(f"{why}: choose {', '.join(known)}")
