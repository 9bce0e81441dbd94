"""Whether the reports are those of the panel: so many, each once, one of each role (spec 6 and 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from moot.protocols.panel import audit
from moot.protocols.panel.contract import Contract
from moot.protocols.panel.reports import Report


@dataclass(frozen=True, slots=True)
class Source:
    """A text that somebody named.

    Attributes:
        name: How it was named, for the tags.
        text: What it says; None when it cannot be read as text.
        problem: Why not.
    """

    name: str
    text: str | None
    problem: str = ""


def counted(contract: Contract, reports: Sequence[Source], *, is_whole: bool) -> Iterator[str]:
    """Tell when there are too many or too few reports, or one of them twice."""
    size = contract.panel_size
    if is_whole and len(reports) != size:
        yield audit.panel_cardinality(f"{len(reports)} reports for a panel of {size}")
    elif not 1 <= len(reports) <= size:
        yield audit.panel_cardinality(f"{len(reports)} reports, layer 1 takes 1 to {size}")
    first: dict[str, str] = {}
    for source in reports:
        if source.text is None:
            continue
        if source.text in first:
            yield audit.panel_cardinality(f"the same report twice: {first[source.text]} and {source.name}")
        first.setdefault(source.text, source.name)


def seated(
    seats: Sequence[str],
    roles: Sequence[str],
    reports: Sequence[tuple[str, Report]],
    named: int,
    *,
    is_whole: bool,
) -> Iterator[str]:
    """Tell who reviews and does not sit on the panel, or sits there and does not review."""
    for role in dict.fromkeys(roles):
        if role not in seats:
            yield audit.panel_cardinality(f"role {role} does not sit on this panel: {', '.join(seats)} do")
        elif roles.count(role) > 1:
            yield audit.panel_cardinality(f"role {role} is sent twice")
    if is_whole and roles:
        for role in seats:
            if role not in roles:
                yield audit.panel_cardinality(
                    f"role {role} is not sent, and the panel is not complete without it"
                )
    sent = roles or seats
    for name, report in reports:
        if report.role not in seats:
            yield audit.panel_cardinality(
                f"{name}: contract_role {report.role[:40]} does not sit on this panel: {', '.join(seats)} do"
            )
        elif report.role not in sent:
            yield audit.panel_cardinality(f"{name}: role {report.role} was not sent: {', '.join(sent)} were")
    times = Counter(report.role for _, report in reports)
    for role, n in times.items():
        if role in seats and n > 1:
            yield audit.panel_cardinality(f"role {role} reports {n} times")
    # While a report cannot be read, its role is not known to be missing.
    if is_whole and len(reports) == named:
        for role in seats:
            if role not in times:
                yield audit.panel_cardinality(f"role {role} does not report")
