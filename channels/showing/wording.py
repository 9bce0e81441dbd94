"""How the fields of messages read: numbers, lists, identifiers, and what an officer's table wrote.

Any JSON gives a text, nothing raises: bodies of unknown types and from newer versions are worded as well (K4).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from moot.channels.showing import duties, panels, reviews
from moot.protocols.calls.books import shown
from moot.protocols.kernel.errors import unnumbered
from moot.protocols.kernel.minds import models_in
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rulebook
from moot.protocols.trading import deploy, promotion
from moot.protocols.trading.book_figures import too_few

HYPHENED: Final[Mapping[str, str]] = {"multi_factor": "multi-factor"}
"""Identifiers that people write with a hyphen."""

_NOUNS: Final = {"CONCEDE": "a concession", "RESUME_CONFIRMED": "a confirmation", "STRATEGY_MOVED": "a move"}
"""Types of messages whose names are no nouns, where they are owed."""

MISSING: Final = "?"
"""What stands for a field that a template needs and a body lacks."""

MOST_TEXT: Final = 240
"""Characters of one text field in a sentence."""

MOST_ITEMS: Final = 3
"""Items of a list that a sentence names."""

MOST_DIGITS: Final = 9
"""Decimals of a figure beside its limit."""

_DEPTH: Final = 4
_CODES: Final = re.compile(r"(?<![\w/#.-])[a-z]+(?:_[a-z]+)+(?![\w/-])")
_SILENCE: Final = re.compile(
    r"\bowed ([A-Z][A-Z_0-9]*(?: or [A-Z][A-Z_0-9]*)*) and was silent(?:; ([A-Za-z_]+)$)?"
)
_SEAT: Final = re.compile(r"(?:^|(?<=; ))[a-z]+(?= owed [A-Z]|: )|(?<= timeouts from )[a-z]+$")
_FIGURES: Final = re.compile(r"the log says (.+?), the message (.+)", re.DOTALL)
_SPACES: Final = re.compile(r"\s+")
# C0 but for line ends, C1, soft line ends, direction overrides and lone surrogates: what could move a cursor or hide a
# word.
_UNSAFE: Final = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def clean(text: str, most: int = MOST_TEXT) -> str:
    """Fold white space, replace what a terminal would obey, cut to `most` characters, behind a word if it can be."""
    if len(text) > 4 * most:
        text = text[: 4 * most] + "…"
    text = harmless(_SPACES.sub(" ", text)).strip()
    if len(text) <= most:
        return text
    head = text[:most].rpartition(" ")[0].rstrip(" .,;:")
    return (head if len(head) >= most // 4 else text[: most - 1].rstrip()) + "…"


def harmless(text: str) -> str:
    """Replace what a terminal would obey, or what could hide a word; line ends stay."""
    return _UNSAFE.sub("�", text)


def words(name: str) -> str:
    """Turn an identifier into words: `tail_risk` gives "tail risk"."""
    return HYPHENED.get(name) or clean(name).replace("_", " ").lower()


def spoken(text: str) -> str:
    """Turn the codes that an officer's text holds into words, "needs_adjustment" into "needs adjustment"; no id is."""
    return _CODES.sub(lambda code: words(code[0]), derived(text))


def derived(text: str) -> str:
    """Word what a table wrote for the log, which keeps its text: seats, types of messages and figures as people do."""
    text = _SEAT.sub(lambda seat: seat_name(seat[0]) if Seat(seat[0]) in rulebook().seats else seat[0], text)
    text = _SILENCE.sub(_silence, text)
    return _FIGURES.sub(_figures, text)


def _silence(found: re.Match[str]) -> str:
    kinds, outcome = found.groups()
    owed = " or ".join(_NOUNS.get(kind) or an(words(kind)) for kind in kinds.split(" or "))
    return f"owed {owed} and was silent" + (f"; ruled {words(outcome)}" if outcome else "")


def _figures(found: re.Match[str]) -> str:
    if "\\" in found[0]:
        return found[0]
    try:
        says, told = _apart(*map(ast.literal_eval, found.groups()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return found[0]
    return f"the log says {says}, the message {told}"


def _apart(says: object, told: object) -> tuple[str, str]:
    """Word two figures so that they read apart; of two objects what differs."""
    if isinstance(says, Mapping) and isinstance(told, Mapping):
        names = sorted({*says, *told}, key=str)
        pairs = [(words(str(name)), says.get(name), told.get(name)) for name in names]
        both = [(name, _apart(one, other)) for name, one, other in pairs if one != other]
        return tuple(joined((f"{name} {two[n]}" for name, two in both), ", ", 8) for n in (0, 1))  # type: ignore[return-value]
    if _is_number(says) and _is_number(told):
        return beside(says, told)  # type: ignore[arg-type]
    return plain(says), plain(told)


def an(noun: str) -> str:
    """Put the article before a noun: "an int", "a dict"."""
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


def seat_name(seat: str) -> str:
    """Write a seat as people do: Critic, but EIC (editor in chief) and DA (devil's advocate)."""
    info = rulebook().seats.get(Seat(seat))
    return info.shown if info is not None else seat.capitalize()


def number(value: float) -> str:
    """Write a number with two decimals, or as many as a small one needs."""
    if isinstance(value, int) or (math.isfinite(value) and value == int(value) and abs(value) < 1e15):
        return str(int(value)) if abs(value) < 1e15 else f"{value:.3g}"
    if not math.isfinite(value):
        return MISSING
    return f"{value:.2g}" if abs(value) < 0.095 else f"{value:.2f}" if abs(value) < 1e15 else f"{value:.3g}"


def beside(value: float, limit: float) -> tuple[str, str]:
    """Write a number and what it is held against, with as many decimals as tell them apart."""
    told = number(value), number(limit)
    digits = 3
    while told[0] == told[1] and value != limit and digits <= MOST_DIGITS:
        told = f"{value:.{digits}f}", f"{limit:.{digits}f}"
        digits += 1
    return told


def plain(value: object, depth: int = 0) -> str:
    """Word any JSON value."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, str):
        return clean(value)
    if depth >= _DEPTH:
        return "…"
    if isinstance(value, Mapping):
        # By name, as the log keeps it, so that host and guests read the same.
        names = sorted(value, key=str)
        return joined((f"{words(str(name))} {plain(value[name], depth + 1)}" for name in names), ", ", 8)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return joined((plain(item, depth + 1) for item in value), "; ")
    return clean(str(value))


def joined(items: Iterable[str], between: str = "; ", most: int = MOST_ITEMS) -> str:
    """Join the first items and count the rest."""
    texts = [item for item in items if item]
    rest = len(texts) - most
    said = [*texts[:most], *([f"and {rest} more"] if rest > 0 else [])]
    # After a whole sentence there is no mark to put.
    return "".join([*(one + (" " if one.endswith(".") else between) for one in said[:-1]), *said[-1:]])


def _percent(value: object, _arg: str) -> str:
    return f"{number(round(value * 100, 2))} %" if _is_number(value) else plain(value)  # type: ignore[operator]


def _scores(value: object, _arg: str) -> str:
    if not isinstance(value, Mapping):
        return plain(value)
    rated = [(str(name), score) for name, score in value.items() if _is_number(score)]
    rated.sort(key=lambda item: (-item[1], item[0]))
    high = [item for item in rated if item[1] >= 0.3][:MOST_ITEMS] or rated[:1]
    return ", ".join(f"{words(name)} {number(score)}" for name, score in high)


def _each(value: object, arg: str) -> str:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return plain(value)
    return joined(
        " ".join(filter(None, (_told(item, name) for name in arg.split())))
        if isinstance(item, Mapping)
        else plain(item)
        for item in value
    )


def _told(item: Mapping[str, object], name: str) -> str:
    """Word a field; one that is true says its name, or what stands behind =, and one that is false nothing."""
    name, _, said = name.partition("=")
    value = item.get(name)
    return (said or words(name) if value else "") if isinstance(value, bool) else plain(value)


def _count(value: object, arg: str) -> str:
    n = len(value) if isinstance(value, Sequence | Mapping) and not isinstance(value, str) else value
    one, _, several = arg.partition(",")
    several = several or f"{one}s"
    if not isinstance(n, int):
        return f"{plain(value)} {several}"
    return f"{plain(n) if n else 'no'} {one if n == 1 else several}"


def _few(value: object, _arg: str) -> str:
    return too_few(value) if isinstance(value, int) else plain(value)


def _dollars(value: object, _arg: str) -> str:
    if not _is_number(value) or abs(value) >= 1e15:  # type: ignore[arg-type]
        return plain(value)
    return f"{'-' if value < 0 else ''}${abs(value):,.2f}"  # type: ignore[operator, arg-type]


def _micro(value: object, _arg: str) -> str:
    return shown("usd", value) if type(value) is int and 0 <= value < 1e15 else plain(value)


def _statuses(value: object, _arg: str) -> str:
    if not isinstance(value, Mapping):
        return plain(value)
    ailing = {
        str(name): said
        for name, one in value.items()
        if (said := one.get("status") if isinstance(one, Mapping) else one) != "ok"
    }
    found = (f"{words(name)} {plain(ailing[name])}" for name in sorted(ailing))
    return joined(found, ", ", 8) or "all seats ok"


def _either(value: object, arg: str) -> str:
    yes, _, no = arg.partition(",")
    return yes if value is True else no if value is False else plain(value)


def _when(value: object, _arg: str) -> str:
    text = plain(value)
    return f"{text[:10]} {text[11:16]}" if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d", text) else text


ENDS: Final[Mapping[str, str]] = {
    "expired": "nobody answered, closed",
    "k_max_reached": "all trials were carried out",
    "converged": "nothing new came any more",
    "user_interrupt": "interrupted",
    "error": "failed",
    "lost": "lost, it fell silent",
}
"""How an escalation or an experiment ended, where its name alone says too little."""

EFFECTS: Final[Mapping[str, str]] = {
    "none": "nothing else follows",
    "conservative": "uncertain hypotheses are rejected",
    "conservative_b": "every position is halved",
    "restart_seat": "the seat's bot is restarted",
    "retire_lineage": "the lineage is retired",
    "diversify": "the search is widened",
    "resume": "trading is to be resumed",
    "halt_desk": "the desk is to be halted",
    "deploy": "it is deployed",
    "deploy_modified": "it is deployed with the reviewers' limits",
    "reject_deployment": "it is not deployed",
    "stay_silent": "seats for which no call fits stay silent",
    "simulate": "simulated minds answer for the models",
    "raise_budget": "the budget is raised by the same amount again",
    "stop_society": "the society stops",
}
"""What the answer to an escalation leads to; an effect of a newer version reads as its name."""


RECORDED: Final[Mapping[str, str]] = {
    "refused": "a refused post",
    "timeout": "a silence",
    "mind_failed": "a failed answer",
    "outage": "an outage",
    "surface_trouble": "trouble of a surface",
    "stream_limited": "limits of the stream",
}
"""What the audit keeps; what only a newer version keeps reads as its name."""

BUDGETS: Final[Mapping[str, str]] = {
    "society": "the society",
    "day": "a day",
    "seat": "each seat",
    "case": "each case",
}
"""What a budget is for."""


def ended(outcome: str) -> str:
    """Say how a case ended."""
    return ENDS.get(outcome) or decided(outcome)


def decided(what: str) -> str:
    """Name a decision without what all of its kind begin with: `TERMINATED_`, `editorial_decision=`."""
    return words(what.removeprefix("TERMINATED_").rpartition("=")[2])


def _known(names: Mapping[str, str]) -> Way:
    return lambda value, _arg: names.get(value) or words(value) if isinstance(value, str) else plain(value)


def _row(means: Mapping[int, str]) -> Way:
    return lambda value, _arg: ": ".join(
        filter(None, (plain(value), means.get(value, "") if type(value) is int else ""))
    )


def _unless(value: object, arg: str) -> str:
    said = plain(value)
    return "" if said == arg else said if " " in said else words(said)


def _unsaid(value: object, _arg: str) -> str:
    return plain(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _models(value: object, _arg: str) -> str:
    return "; ".join(f"{joined(seats, ', ')}: {model}" for model, seats in models_in(value).items())


Way = Callable[[object, str], str]

WAYS: Final[Mapping[str, Way]] = {
    "plain": lambda value, _arg: plain(value),
    "percent": _percent,
    "scores": _scores,
    "each": _each,
    "count": _count,
    "few": _few,
    "either": _either,
    "when": _when,
    "spoken": lambda value, _arg: spoken(plain(value)),
    "words": lambda value, _arg: words(value) if isinstance(value, str) else plain(value),
    "dollars": _dollars,
    "micro": _micro,
    "budget": _known(BUDGETS),
    "statuses": _statuses,
    "models": _models,
    "recorded": _known(RECORDED),
    "ended": _known(ENDS),
    "effect": _known(EFFECTS),
    "unless": _unless,
    "unsaid": _unsaid,
    "derived": lambda value, _arg: plain(derived(value) if isinstance(value, str) else value),
    "unnumbered": lambda value, _arg: plain(derived(unnumbered(value)) if isinstance(value, str) else value),
    "whole": lambda value, _arg: str(round(value)) if _is_number(value) else plain(value),  # type: ignore[call-overload]
    "deployment": _row(deploy.MEANS),
    "promotion": _row(promotion.MEANS),
    "duty": lambda value, _arg: duties.duty(plain(value)),
    "seat": lambda value, _arg: seat_name(plain(value)),
    "verdict": reviews.said,
    "open": reviews.left_open,
    "action": panels.action,
    "planned": panels.planned,
    "judged": panels.judged,
    "notable": panels.notable,
}
"""How a field is worded: a share as per cent, the highest scores of an object, one field of each item or several, the
number of items with a noun (and its plural, if not with an s), that a number of sessions is too small for a Sharpe
ratio (left out where it is not), one of two words, an instant to the minute, a text of a table with its codes in
words, or only its seats, types and figures, an identifier in words, an amount of money, one in millionths of a
dollar, what a budget is for, the seats that are not ok, those of a configuration that models fill (left out where
none does), a duty, a seat, what a review does, what it leaves open, how an escalation or an experiment ended and what
follows from it, a field that says nothing new where it is the argument, a list that is left out where another field
names all of it, an estimate without decimals, what the row of a decision table asks for, a panel's decision, how much
a Phase 1 plans, what a report or a synthesis decides, tags that stand beside a decision."""
