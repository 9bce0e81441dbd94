"""Checks of a text, each for one kind of error: arithmetic, dates, references, and what ought to be there.

Each looks at nothing but the text, line by line or as a whole, and none is told where anything stands. They know plain
English as papers, plans and contracts have it; what is put in other words they miss.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

Lines = Sequence[str]


class Finding(NamedTuple):
    """What a reader objects to.

    Attributes:
        line: Where, from 1.
        kind: The check that found it.
        text: What is wrong, in a sentence.
    """

    line: int
    kind: str
    text: str


Found = Iterator[tuple[int, str]]
Check = Callable[[Lines], Found]

_DAY: Final = r"\d{1,2} [A-Z][a-z]+ \d{4}"
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WORDS: Final = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_DEFINED: Final = re.compile(r"\"([A-Z]\w+)\"|(?:the|hereafter) ((?:Supplier|Customer))\b")
_OWN: Final = frozenset({"Supplier", "Customer", "Table", "Price"})


def _each(lines: Lines, pattern: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each place where a pattern fits, with the number of its line."""
    for number, line in enumerate(lines, 1):
        for match in re.finditer(pattern, line):
            yield number, match


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _day(text: str) -> date | None:
    day, month, year = text.split()
    try:
        return date(int(year), _MONTHS.index(month) + 1, int(day))
    except ValueError:
        return None


def _rows(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, 1):
        if line.startswith("|"):
            yield number, [cell.strip() for cell in line.strip("|").split("|")]


def sums(lines: Lines) -> Found:
    """Add up the rows of each table above its total."""
    so_far: list[int] = []
    for number, cells in _rows(lines):
        if cells[0] == "Total":
            stated = _number(cells[-1])
            if sum(so_far) != stated:
                yield number, f"the rows come to {sum(so_far)}, not {stated}"
        so_far = [*so_far, int(cells[-1])] if cells[-1].isdigit() and cells[0] != "Total" else []


def percentages(lines: Lines) -> Found:
    """Compute each percentage of which both numbers are named."""
    for number, match in _each(lines, r"(\d+) of (\d+) \((\d+) %\)"):
        some, base, share = map(int, match.groups())
        if base and abs(100 * some / base - share) > 0.51:
            yield number, f"{some} of {base} are {100 * some / base:.0f} %, not {share} %"


def differences(lines: Lines) -> Found:
    """Compute each rise and fall of which both ends are named."""
    for number, match in _each(lines, r"from (\d+) to (\d+)[^.]*?\ba (?:rise|fall) of (\d+)"):
        first, second, stated = map(int, match.groups())
        if abs(second - first) != stated:
            yield number, f"from {first} to {second} is {abs(second - first)}, not {stated}"


def controls(lines: Lines) -> Found:
    """Ask for a control where some were given a treatment."""
    for number, match in _each(lines, r"\b(?:received|given|was given to)\b"):
        if re.search(r"[Ll]ots|list|coin", lines[number - 1]) and "control" not in lines[number - 1]:
            yield number, f"nothing is compared with those that {match[0]} it"
            return


def contradictions(lines: Lines) -> Found:
    """Hold what is said twice against each other: totals, and terms of payment."""
    said: dict[str, int] = {}
    counted = r"total of (?P<n>\d+) (?P<of>\w+)|(?P<m>\d+) (?P<in>\w+)(?: \w+)? in all"
    for number, match in _each(lines, rf"{counted}|within (?P<days>\d+) days of the (?P<what>invoice)"):
        groups = match.groupdict()
        value = int(groups["n"] or groups["m"] or groups["days"])
        of = str(groups["of"] or groups["in"] or groups["what"])
        if said.setdefault(of, value) != value:
            yield number, f"{said[of]} were named before, and {value} here"


def sources(lines: Lines) -> Found:
    """Ask for the source of what is said to be known."""
    for number, _ in _each(lines, r"well known that|(?:[Rr]esearch|[Ss]tudies) shows? that"):
        if not re.search(r"\[\d+\]", lines[number - 1]):
            yield number, "no source is given for what is said to be known"


def units(lines: Lines) -> Found:
    """Carry a rate from minutes to hours."""
    for number, match in _each(lines, r"(\d+) (\w+) (?:per|a) minute[^.]*?([\d,]+) (\w+) an hour"):
        if match[2] != match[4] or 60 * int(match[1]) != _number(match[3]):
            yield number, f"{match[1]} {match[2]} a minute are no {match[3]} {match[4]} an hour"


def references(lines: Lines) -> Found:
    """Look for each table, clause and source that is referred to."""
    tables = {match[1] for _, match in _each(lines, r"^Table (\d+):")}
    clauses = {match[1] for _, match in _each(lines, r"^## (\d+)\.")}
    listed = {match[1] for _, match in _each(lines, r"^\[(\d+)\]")}
    for pattern, there in ((r"Table (\d+)", tables), (r"clause (\d+)", clauses), (r"\[(\d+)\]", listed)):
        for number, match in _each(lines, pattern):
            if match[1] not in there:
                yield number, f"there is no {match[0]}"


def scales(lines: Lines) -> Found:
    """Hold means against the scale that they are on."""
    for number, match in _each(lines, r"(\d+\.\d)[^.]*? on a scale from (\d+) to (\d+)"):
        if not float(match[2]) <= float(match[1]) <= float(match[3]):
            yield number, f"{match[1]} is off a scale from {match[2]} to {match[3]}"


def causes(lines: Lines) -> Found:
    """Ask how a cause is known where nothing was assigned."""
    if any(re.search(r"observational|only observed", line) for line in lines):
        for number, _ in _each(lines, r"\bproves?\b"):
            yield number, "nothing was assigned, so no cause is proved"


def orders(lines: Lines) -> Found:
    """See that what begins ends later."""
    for number, match in _each(lines, rf"[Ff]rom ({_DAY}) (?:to|until) ({_DAY})"):
        first, last = _day(match[1]), _day(match[2])
        if first and last and last < first:
            yield number, f"{match[2]} is before {match[1]}"


def weekdays(lines: Lines) -> Found:
    """Compute weekdays."""
    for number, match in _each(lines, rf"([A-Z][a-z]+day), ({_DAY})"):
        day = _day(match[2])
        if day and _DAYS[day.weekday()] != match[1]:
            yield number, f"{match[2]} is a {_DAYS[day.weekday()]}"


def owners(lines: Lines) -> Found:
    """Look for cells that somebody forgot."""
    for number, cells in _rows(lines):
        if "" in cells:
            yield number, f"nobody is named for {cells[0]!r}"


def budgets(lines: Lines) -> Found:
    """Hold totals against what they must not exceed."""
    totals = [_number(cells[-1]) for _, cells in _rows(lines) if cells[0] == "Total"]
    for number, match in _each(lines, r"EUR (\d+)"):
        if totals and totals[0] > int(match[1]) and "exceed" in lines[number - 1]:
            yield number, f"the total of {totals[0]} exceeds {match[1]}"


def terms(lines: Lines) -> Found:
    """Look for the definition of each term that is written as if it had one."""
    defined = {match[1] or match[2] for _, match in _each(lines, _DEFINED.pattern)}
    if defined & {"Goods", "Price"}:
        for number, match in _each(
            lines, r"\b[Tt]he ((?:[A-Z][a-z]+)(?: [A-Z][a-z]+)?) (?:are|from|<|to|\d)"
        ):
            if match[1] not in defined | _OWN:
                yield number, f"{match[1]!r} is defined nowhere"
        for number, match in _each(lines, r"provides the ((?:[A-Z][a-z]+)(?: [A-Z][a-z]+)?)"):
            if match[1] not in defined:
                yield number, f"{match[1]!r} is defined nowhere"


def numbers(lines: Lines) -> Found:
    """See that no number of a clause comes twice."""
    seen: set[str] = set()
    for number, match in _each(lines, r"^## (\d+)\."):
        if match[1] in seen:
            yield number, f"there was a clause {match[1]} before"
        seen.add(match[1])


def parties(lines: Lines) -> Found:
    """See that nobody owes anything to himself."""
    for number, match in _each(lines, r"[Tt]he (\w+) (?:pays|indemnifies|compensates) the \1\b"):
        yield number, f"the {match[1]} owes it to itself"


def figures(lines: Lines) -> Found:
    """Hold numbers in words against the figures beside them."""
    for number, match in _each(lines, r"(\w+) \((\d+)\)"):
        if match[1] in _WORDS and _WORDS.index(match[1]) != int(match[2]):
            yield number, f"{match[1]} is not {match[2]}"


CHECKS: Final[Mapping[str, Check]] = {
    "causal_overreach": causes,
    "claim_without_source": sources,
    "contradiction": contradictions,
    "dangling_reference": references,
    "dates_out_of_order": orders,
    "impossible_value": scales,
    "missing_control": controls,
    "missing_owner": owners,
    "over_budget": budgets,
    "repeated_number": numbers,
    "same_party": parties,
    "undefined_term": terms,
    "words_and_figures": figures,
    "wrong_difference": differences,
    "wrong_percentage": percentages,
    "wrong_sum": sums,
    "wrong_unit": units,
    "wrong_weekday": weekdays,
}
"""By the kind of error that each finds."""


def findings(kind: str, text: str) -> list[Finding]:
    """Make one check of a text.

    Raises:
        KeyError: There is no such check.
    """
    return [Finding(line, kind, said) for line, said in CHECKS[kind](text.split("\n"))]
