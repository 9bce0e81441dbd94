"""The dashboard of System A."""

from __future__ import annotations

from collections import Counter

from moot.channels.showing.wording import clean, number, seat_name, words
from moot.console.model.interface import ReadModel
from moot.console.page.figures_parts import (
    LAST,
    MOST_ROWS,
    Page,
    body_of,
    counted,
    day_of,
    is_number,
    last_of,
    mean,
    share,
)


async def system_a(model: ReadModel) -> Page:
    """Return the dashboard of System A: verdicts, debates, timeouts, principles."""
    reports = await last_of(model, "MICRO_CYCLE_REPORT")
    tests = await last_of(model, "BACKTEST_RESULT")
    pings = await last_of(model, "TIMEOUT_PING")
    reflections = await last_of(model, "META_REFLECTION")
    ended = [(day_of(env), str(body_of(env).get("verdict"))) for env in reports]
    verdicts = Counter(verdict for _, verdict in ended)
    days = sorted({day for day, _ in ended})
    names = [name for name in ("APPROVE", "REJECT", "REVISE") if verdicts[name]]
    decided = verdicts["APPROVE"] + verdicts["REJECT"]
    passed = sum(bool(body_of(env).get("passed")) for env in tests)
    quality: list[float] = [
        value for env in reflections if is_number(value := body_of(env).get("avg_debate_quality"))
    ]
    confidence: list[tuple[str, float]] = [
        (day_of(env), value) for env in reports if is_number(value := body_of(env).get("confidence"))
    ]
    by_day = {day: [value for at, value in confidence if at == day] for day in days}
    silent = Counter(str(body_of(env).get("seat")) for env in pings)
    principles = await model.memory("principles", limit=MOST_ROWS)
    return {
        "kind": "figures",
        "title": "System A",
        "about": "hypotheses, verdicts, principles",
        "note": LAST,
        "tiles": [
            ["cycles reported", str(len(reports)), ""],
            ["approved", share(verdicts["APPROVE"], decided), ""],
            ["backtests passed", f"{passed} of {len(tests)}", ""],
            ["debate quality, last week", number(quality[-1]) if quality else "–", ""],
            ["reminders", str(len(pings)), ""],
        ],
        "figures": [
            {
                "title": "Verdicts by day",
                "kind": "bar",
                "stack": True,
                "whole": True,
                "colours": ["--good", "--bar-hot", "--warn"],
                "x": [day[5:] for day in days],
                "series": [
                    {"name": words(name), "data": [ended.count((day, name)) for day in days]}
                    for name in names
                ],
            },
            {
                "title": "Mean confidence of the verdicts",
                "kind": "line",
                "x": [day[5:] for day in days],
                "series": [{"name": "confidence", "data": [mean(by_day[day]) for day in days]}],
            },
            counted("Reminders by seat", silent, seat_name),
        ],
        "tables": [
            {
                "title": "Principles",
                "head": ["", "statement", "evidence", "confidence", "from"],
                "nums": [2, 3],
                "rows": [
                    [
                        p.key,
                        clean(getattr(p, "statement", ""), 400),
                        str(getattr(p, "evidence_count", "")),
                        number(getattr(p, "confidence", 0.0)),
                        {"t": f"message {p.seq}", "go": f"/m/{p.seq}"},
                    ]
                    for p in principles
                ],
                "none": "No principle has been drawn yet: it takes three similar failures.",
            }
        ],
    }
