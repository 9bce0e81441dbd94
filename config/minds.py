"""What fills a seat, as a configuration says it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from moot.protocols.kernel.minds import SILENT, SIMULATED
from moot.protocols.kernel.redact import redact
from moot.protocols.kernel.seats import OFFICERS, PEOPLE, Seat
from moot.protocols.rulebook import rulebook

DOTTED: Final = re.compile(r"[A-Za-z_]\w*(\.\w+)*:\w+")
"""How a class is named: `package.module:Class`."""

LONGEST_S: Final = 1_800.0
"""Wall seconds that an answer of a mind may be given at most."""

MOST_TOKENS: Final = 1_000_000
"""Tokens that an answer of a model may be given at most."""

KINDS: Final = 'choose simulated, silent, a class as package.module:Class, or {model = "NAME"}'
"""What may fill a seat."""


class MindSettings(BaseModel):
    """What fills a seat: a module or a model; a configuration may write its `module` alone.

    Attributes:
        module: "simulated", "silent", or `package.module:Class` for a mind of one's own, which takes what else
            stands here as its options; "" where a model fills the seat.
        model: The NAME of a `[models.NAME]` that fills the seat; "" where none does.
        timeout_s: Wall seconds that one answer of one's own mind may take; None: as its class says.
        temperature: How freely a model chooses its words; None: as its server says.
        max_tokens: Tokens that one of a model's answers may have; None: as its prompts say.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    _file: str = PrivateAttr("")

    module: str = ""
    model: str = ""
    timeout_s: Annotated[float, Field(gt=0, le=LONGEST_S)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if not isinstance(value, str | Mapping | MindSettings):
            raise ValueError(f"{type(value).__name__} is no kind of mind: {KINDS}")
        return {"module": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_a_mind(self) -> MindSettings:
        if self.model and self.module:
            raise ValueError("name a model or a module, not both")
        if self.model:
            self._is_a_models()
        elif self.module in (SIMULATED, SILENT):
            if self.timeout_s is not None or self.options():
                raise ValueError(f"{self.module} takes no options")
        elif not DOTTED.fullmatch(self.module):
            raise ValueError(f"{KINDS}, not {redact(self.module)[:60]!r}" if self.module else KINDS)
        return self

    def _is_a_models(self) -> None:
        if self.timeout_s is not None:
            raise ValueError(f"timeout_s goes into [models.{self.model[:60]}]")
        if wrong := sorted(self.model_extra or {}):
            raise ValueError(f"a model's seat takes temperature and max_tokens, not {wrong[0][:60]!r}")

    def stands_in(self, file: Path) -> None:
        """Note in which file it stands, for who says what is wrong with it."""
        self._file = str(file)

    def where(self, name: str) -> str:
        """Say where it stands: under which name, and in which file if it is one's."""
        return f"{self._file}: {name}" if self._file else name

    def options(self) -> dict[str, Any]:
        """Return what is passed to the class, or what a model's seat is called with."""
        own = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {
            **{name: value for name, value in own.items() if value is not None},
            **(self.model_extra or {}),
        }

    def as_log(self) -> str | dict[str, Any]:
        """Return it as the log keeps it: a module without its options, a model with them."""
        return {"model": self.model, **self.options()} if self.model else self.module


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
