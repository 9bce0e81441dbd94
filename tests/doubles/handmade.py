"""Logs made by hand: a message a line, all that it does not say filled in.

    +90m critic RISK_ASSESSMENT hyp_1 {round: 1, ^obligation_id: hyp_1/assessment-1/critic}

That is how long after the message before it (a minute, if left out), who, which type, which case (`-` is none), and
the body; a name with `^` is a field of the envelope.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

_LINE = re.compile(r"(?:\+(\d+)([smhd]) )?(\S+) ([A-Z_0-9]+) (\S+)(?: (\{.*\}))?", re.DOTALL)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_OFFICERS = ("referee", "timekeeper", "orchestrator", "bursar", "lab")


def handmade(
    lines: Iterable[str], start: datetime = datetime(2026, 2, 23, 10, tzinfo=UTC)
) -> list[dict[str, Any]]:
    """Return the messages of a log that was written by hand, as stored JSON."""
    at, made = start, []
    for seq, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line)
        assert found is not None, f"no message: {line}"
        number, unit, author, kind, case, fields = found.groups()
        given = yaml.safe_load(fields or "{}")
        at += timedelta(**{_UNITS[unit]: int(number)}) if unit else timedelta(minutes=1)
        role = "officer" if author in _OFFICERS else "human" if author == "admin" else "bot"
        made.append(
            {
                "v": 2,
                "seq": seq,
                "id": f"message-{seq}",
                "channel": "",
                "author": author,
                "actor": {"kind": role, "platform": "moot", "user_id": ""},
                "case_id": None if case == "-" else case,
                "obligation_id": None,
                "attempt": 0,
                "tenure": 0,
                "in_reply_to": None,
                "hops": 0,
                "sent_at": f"{at:%Y-%m-%dT%H:%M:%S.%f}Z",
                "body": {"type": kind, **{name: value for name, value in given.items() if name[0] != "^"}},
                "hash": f"{seq:064x}",
            }
            | {name[1:]: value for name, value in given.items() if name[0] == "^"}
        )
    return made
