"""What is filled into a text: right figures, and wrong ones beside them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Final

import numpy as np

NAMES: Final = (
    *("Abend", "Aubry", "Bakker", "Castro", "Dahl", "Eklund", "Farkas", "Garnier", "Hanna"),
    *("Ilves", "Jansen", "Kowal", "Laskar", "Moreau", "Nadel", "Okafor", "Petrov", "Quist"),
    *("Rossi", "Sandoval", "Tamm", "Ueda", "Varga", "Weiss", "Yilmaz", "Zeman"),
)

FIRMS: Final = (
    "Brandt & Daughters",
    "Kestrel Works",
    "Lindqvist Ltd",
    "Oak & Iron",
    "Papadaki Brothers",
    "Tern Services",
)
CLIENTS: Final = (
    "the parish of St Anne",
    "Harbour Museum",
    "Upland College",
    "the Mill Road clinic",
    "Savings Bank East",
)

OTHER_UNITS: Final = {
    "litres": "millilitres",
    "millilitres": "litres",
    "kilograms": "tonnes",
    "grams": "kilograms",
}
NO_UNIT: Final = "metres"
"""For what is counted: nobody counts passengers in metres."""

WORDS: Final = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)

DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

DESIGNS: Final = ("trial", "survey")


def facts(sort: str, topic: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Draw the figures, dates and names of a document; what is wrong on purpose is called `wrong_…`."""

    def whole(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    found: dict[str, Any] = {name: value for name, value in topic.items() if isinstance(value, str)}
    for kind in ("row", "task"):
        found |= {f"{kind}_{n}": text for n, text in enumerate(topic.get(f"{kind}s", ()), 1)}
    found["design"] = DESIGNS[whole(0, 1)]
    names = rng.permutation(NAMES)
    found |= {
        role: str(name) for role, name in zip(("Name", "Other", "Third", "Fourth"), names, strict=False)
    }
    found |= {"Firm": FIRMS[whole(0, len(FIRMS) - 1)], "Client": CLIENTS[whole(0, len(CLIENTS) - 1)]}
    found |= {"year_1": whole(1998, 2012), "year_2": whole(2013, 2021), "places": "four"}

    half = whole(30, 200)
    n, some = 2 * half, whole(half // 2, 2 * half - half // 3)
    pct = round(100 * some / n)
    found |= {"n": n, "half": half, "Half": half, "some": some, "pct": pct}
    found |= {"wrong_n": n + _off(rng, 10, 25), "wrong_pct": pct + _off(rng, 6, 14)}

    before, change = whole(60, 160), whole(8, 40)
    way = ("rise", "fall")[whole(0, 1)]
    found |= {"before": before, "after": before + (change if way == "rise" else -change), "way": way}
    found |= {"change": change, "wrong_change": change + whole(3, 15)}

    parts = rng.multinomial(some - 8, [0.25] * 4) + 2 if sort == "paper" else rng.integers(12, 90, 4) * 50
    total = int(parts.sum())
    found |= {f"v{at}": int(value) for at, value in enumerate(parts, 1)}
    slip = whole(3, 9) if sort == "paper" else whole(2, 9) * 50
    found |= {"total": total, "wrong_total": total + slip * (1 if whole(0, 1) else -1)}
    found |= {"cap": total - total % 500 + 500 * whole(2, 4), "low_cap": total - 100 * whole(6, 9)}

    rate, flow = whole(11, 95), str(topic["flow"])
    found |= {"rate": rate, "hourly": f"{60 * rate:,}", "wrong_flow": OTHER_UNITS.get(flow, NO_UNIT)}
    found["mean"], found["wrong_mean"] = f"{whole(18, 46) / 10:.1f}", f"{whole(54, 89) / 10:.1f}"
    small = whole(2, 20)
    wrong_small = (small + whole(1, 9) - 2) % 19 + 2
    found |= {"small": small, "small_word": WORDS[small - 2], "wrong_small": wrong_small}
    days = (14, 21, 30, 45, 60)[whole(0, 4)]
    found |= {"days": days, "wrong_days": days + (7, 10, 15)[whole(0, 2)], "count": whole(12, 400)}
    hundred = (40, 50, 80, 120, 200)[whole(0, 4)]
    tenth = hundred * whole(1, 4) // 10
    share = round(100 * tenth / hundred)
    found |= {"hundred": hundred, "tenth": tenth, "tenth_pct": share, "wrong_tenth_pct": share + whole(6, 14)}
    found["beyond"] = whole(4, 9)
    found |= _dates(whole)
    for name in ("units", "outcome", "treatment"):
        found |= {name.capitalize(): str(topic.get(name, "")).capitalize()}
    device = str(topic["device"])
    return found | {"device_low": device[0].lower() + device[1:]}


def _dates(whole: Any) -> dict[str, Any]:
    start, weeks = date(2027, 1, 4) + timedelta(days=whole(0, 400)), whole(5, 26)
    steps = [start + timedelta(days=7 * weeks * k // 4 - 1) for k in range(1, 5)]
    return {
        "start": told(start),
        "end": told(start + timedelta(weeks=weeks)),
        "weeks": weeks,
        "wrong_weeks": weeks + whole(2, 6),
        "start_day": DAYS[start.weekday()],
        "wrong_start_day": DAYS[(start.weekday() + whole(1, 6)) % 7],
        **{f"date_{n}": told(day) for n, day in enumerate(steps, 1)},
    }


def told(day: date) -> str:
    """Return a day in words, such as 4 March 2027."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _off(rng: np.random.Generator, low: int, high: int) -> int:
    return int(rng.integers(low, high + 1)) * (1 if rng.random() < 0.5 else -1)
