"""A record of a debate as people read its figures: the strategy, how it was argued and scored, how it fared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.channels.showing.wording import number, words
from moot.protocols.research.recorded import FIRST, PARAM, SCORE, SYMBOL

_SHARPE: Final = {
    "train_sharpe": "in train",
    "validation_sharpe": "in validation",
    "test_sharpe": "in the test",
}
_ARGUED: Final = {"alpha": "for it", "risk": "against it", "confidence": "confidence"}
_COURSE: Final = {"revised": "revised", "extended": "extended by a round"}


def facts_of(figures: Mapping[str, float]) -> list[tuple[str, str]]:
    """Word the figures of a record.

    Args:
        figures: By name, as a record has them; what debates do not have stands last, under `figures`.

    Returns:
        A name and a text for each fact that there is.
    """
    rest = dict(figures)
    found = [
        ("strategy", _strategy(rest, "")),
        ("as proposed", _strategy(rest, FIRST)),
        ("argued", _named(rest, _ARGUED, "{what} {value}")),
        ("course", ", ".join(said for name, said in _COURSE.items() if rest.pop(name, 0))),
        ("risk scores", _scores(rest)),
        ("Sharpe ratio", _named(rest, _SHARPE, "{value} {what}")),
        ("test", _test(rest)),
        ("figures", ", ".join(f"{words(name)} {number(value)}" for name, value in sorted(rest.items()))),
    ]
    return [(name, text) for name, text in found if text]


def _taken(rest: dict[str, float], prefix: str) -> dict[str, float]:
    """Take out what begins with a prefix, by the name behind it."""
    return {name.removeprefix(prefix): rest.pop(name) for name in sorted(rest) if name.startswith(prefix)}


def _strategy(rest: dict[str, float], prefix: str) -> str:
    symbols = _taken(rest, prefix + SYMBOL)
    params = _taken(rest, prefix + PARAM)
    said = [", ".join(sorted(symbols, key=lambda name: symbols[name]))]
    if (short := params.pop("allow_short", None)) is not None:
        said.append("long and short" if short else "long only")
    if (most := params.pop("target_vol", None)) is not None:
        said.append(f"volatility at most {number(round(most * 100, 2))} %")
    said.append(", ".join(f"{words(name)} {number(value)}" for name, value in params.items()))
    return "; ".join(filter(None, said))


def _scores(rest: dict[str, float]) -> str:
    scores = sorted(_taken(rest, SCORE).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{words(name)} {number(value)}" for name, value in scores)


def _named(rest: dict[str, float], names: Mapping[str, str], form: str) -> str:
    there = [(what, rest.pop(name)) for name, what in names.items() if name in rest]
    return ", ".join(form.format(what=what, value=number(value)) for what, value in there)


def _test(rest: dict[str, float]) -> str:
    said = []
    if (drawdown := rest.pop("test_drawdown", None)) is not None:
        said.append(f"drawdown {number(round(drawdown * 100, 2))} %")
    if (trades := rest.pop("test_trades", None)) is not None:
        said.append(f"{number(trades)} trade{'' if trades == 1 else 's'}")
    return ", ".join(said)
