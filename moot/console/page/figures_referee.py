"""The dashboard of the referee."""

from __future__ import annotations

from collections import Counter

from moot.channels.showing.wording import clean, derived, seat_name, words
from moot.console.model.interface import ReadModel
from moot.console.page.figures_parts import (
    LAST,
    MOST_ROWS,
    Page,
    body_of,
    case_link,
    counted,
    last_of,
    link_to,
    minute_of,
)


async def referee(model: ReadModel) -> Page:
    """Return the referee's dashboard: violations and rulings."""
    violations = await last_of(model, "VIOLATION")
    rulings = await last_of(model, "RULING")
    pings = await last_of(model, "TIMEOUT_PING")
    outcomes = Counter(str(body_of(env).get("outcome")) for env in rulings)
    return {
        "kind": "figures",
        "title": "Referee",
        "about": "violations and rulings",
        "note": LAST,
        "tiles": [
            ["violations", str(len(violations)), ""],
            ["rulings", str(len(rulings)), ""],
            ["reminders", str(len(pings)), ""],
        ],
        "figures": [
            counted(
                "Violations by seat", Counter(str(body_of(env).get("seat")) for env in violations), seat_name
            ),
            counted("Rulings by outcome", outcomes, words),
            counted("Rulings by reason", Counter(str(body_of(env).get("reason")) for env in rulings), words),
        ],
        "tables": [
            {
                "title": "Violations",
                "head": ["when", "seat", "why", ""],
                "rows": [
                    [
                        minute_of(env),
                        seat_name(clean(str(b.get("seat")), 30)),
                        clean(derived(str(b.get("why"))), 400),
                        link_to(env),
                    ]
                    for env in reversed(violations[-MOST_ROWS:])
                    for b in (body_of(env),)
                ],
                "none": "Nobody has broken a rule.",
            },
            {
                "title": "Rulings",
                "head": ["when", "case", "outcome", "reason", ""],
                "rows": [
                    [
                        minute_of(env),
                        case_link(env),
                        words(str(b.get("outcome"))),
                        words(str(b.get("reason"))),
                        link_to(env),
                    ]
                    for env in reversed(rulings[-MOST_ROWS:])
                    for b in (body_of(env),)
                ],
                "none": "Nothing had to be ruled.",
            },
        ],
    }
