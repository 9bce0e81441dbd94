"""What models may spend: for a whole society, a UTC day, a seat and a case."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from moot.config.models import ModelSettings, public
from moot.protocols.calls.limits import told
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


def models_as_log(models: Mapping[str, ModelSettings], budget: BudgetSettings) -> dict[str, Any]:
    """Return what the log says of the models that there are, and of what they may spend; {} where there is nothing."""
    plain: dict[str, Any] = {}
    if models:
        plain["models"] = public(models)
    if budget != BudgetSettings():
        plain["budget"] = budget.as_log()
    return plain


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

    @property
    def counts_usd(self) -> bool:
        """Whether US dollars are limited anywhere, so that prices have to be known."""
        return any(one.usd is not None for one in (self, self.day, self.seat, self.case))

    def told(self) -> str:
        """Say what is limited: "budget $2.00, $0.50 a day"."""
        return told(self.as_log())

    def as_log(self) -> dict[str, Any]:
        """Return it as the log keeps it: what is limited and nothing else, dollars as decimal text."""
        plain = self.model_dump(mode="json", exclude_none=True)
        return {name: value for name, value in plain.items() if value != {}}
