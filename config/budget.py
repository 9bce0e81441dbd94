"""What models may spend: for a whole society, a UTC day, a seat and a case."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from moot.protocols.calls.price import as_written

MOST_USD: Final = 1_000_000_000
MOST: Final = 10**15

PLACES: Final = 6
"""Money is booked in millionths of a US dollar."""


def _plain(value: Decimal) -> Decimal:
    """Give equal amounts one way of being written."""
    if value != round(value, PLACES):
        raise ValueError(f"choose at most {PLACES} decimal places, not {value}")
    return Decimal(f"{value:f}".rstrip("0").rstrip(".")) if value % 1 else Decimal(int(value))


Dollars = Annotated[
    Decimal,
    BeforeValidator(as_written),
    Field(ge=0, le=MOST_USD, allow_inf_nan=False),
    AfterValidator(_plain),
]
Count = Annotated[int, Field(ge=0, le=MOST)]


class Limits(BaseModel):
    """How much, at most; what is None is not limited, and with 0 no call fits.

    Attributes:
        usd: US dollars, to a millionth.
        tokens: Tokens, of prompts and of answers together.
        calls: Requests to a model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    usd: Dollars | None = None
    tokens: Count | None = None
    calls: Count | None = None


class BudgetSettings(Limits):
    """What the models of a society may spend; a call fits into all that is limited, or is not made (K27).

    Attributes:
        day: In each UTC day.
        seat: Each seat, for good.
        case: Each case.
        on_exhausted: What the seat of a model does for which no call fits: stay silent, or let a simulated mind answer.
    """

    day: Limits = Limits()
    seat: Limits = Limits()
    case: Limits = Limits()
    on_exhausted: Literal["silent", "simulated"] = "silent"

    @property
    def is_limited(self) -> bool:
        """Whether anything is limited."""
        return bool(self.as_log().keys() - {"on_exhausted"})

    def as_log(self) -> dict[str, Any]:
        """Return it as the log keeps it: what is limited and nothing else, dollars as decimal text."""
        plain = self.model_dump(mode="json", exclude_none=True)
        return {name: value for name, value in plain.items() if value != {}}
