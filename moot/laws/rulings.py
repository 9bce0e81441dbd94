"""Laws of what is owed, and of the Referee's word on it."""

from __future__ import annotations

from typing import Final

from moot.laws.instants import Uptime
from moot.laws.law import ASIDES, OVERTAKEN, Findings, Memory, Message, hears
from moot.laws.recent import Recent
from moot.laws.seats import PEOPLE

RULED: Final = " RULING"


class AnsweredOnce(Memory, source="K1, K5"):
    """What is owed ends once: one answer counts, or one ruling, and none after a ruling."""

    def __init__(self) -> None:
        self.ended: Recent[str, str] = Recent()

    @hears()
    def answered(self, message: Message) -> Findings:
        """Note an answer."""
        owed = message["obligation_id"]
        return self._end(owed, message) if owed is not None else ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Note a ruling; one that came after an answer has no effect (K5)."""
        owed = message["body"]["obligation_id"]
        is_overtaken = owed is None or not self.ended.get(owed, RULED).endswith(RULED)
        return () if is_overtaken else self._end(owed, message)

    def _end(self, owed: str, message: Message) -> Findings:
        before = self.ended.get(owed)
        self.ended[owed] = f"seq {message['seq']} {message['body']['type']}"
        return () if before is None else (f"{owed} was ended by {before} already",)


GRACE: Final = 0.9
"""Minutes from a reminder to the ruling at least: the shortest grace is one, and logs of before count it from when a
reminder was due, which was then sent seconds late."""


class SilenceIsToldFirst(Memory, source="1.4, R-D1, K6", is_raw=True):
    """No bot is ruled silent whom no TIMEOUT_PING reminded, nor before the society ran for the grace after it."""

    def __init__(self) -> None:
        self.pinged: Recent[str, float] = Recent()
        self.up = Uptime()

    @hears()
    def any(self, message: Message) -> Findings:
        """Follow the time."""
        self.up.take(message)
        return ()

    @hears("TIMEOUT_PING")
    def reminded(self, message: Message) -> Findings:
        """Note a reminder; one is enough."""
        owed = message["body"]["obligation_id"]
        if owed in self.pinged:
            return (f"{owed} was pinged before",)
        self.pinged[owed] = self.up.at(message)
        return ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Hold a ruling against the reminder."""
        body = message["body"]
        owed = body["obligation_id"]
        if owed is None or body["reason"] != "timeout" or _is_of_person(owed):
            return ()
        at = self.pinged.pop(owed, None)
        if at is None:
            return (f"{owed} is ruled a timeout, and nobody was reminded",)
        since = self.up.at(message) - at
        return (
            () if since >= GRACE else (f"{owed} is ruled a timeout {since:.1f} minutes after its reminder",)
        )


MOST_REMINDERS: Final = 5
"""Reminders of one duty at most."""


def _is_of_person(owed: str) -> bool:
    return owed.rpartition("/")[2] in PEOPLE


class PeopleAreReminded(Memory, source="R-E2, R-G16", is_raw=True):
    """A person is never pinged, but asked for a duty once, and reminded of it five times at most."""

    def __init__(self) -> None:
        self.reminded: Recent[str, int] = Recent()

    @hears("TIMEOUT_PING")
    def pinged(self, message: Message) -> Findings:
        """Hold a ping against whose duty it is about."""
        owed = message["body"]["obligation_id"]
        return (f"{owed} is a person's, who is never pinged",) if _is_of_person(owed) else ()

    @hears("DUTY_NOTICE")
    def remembered(self, message: Message) -> Findings:
        """Hold a reminder against the ones before it."""
        body = message["body"]
        owed, n = body["obligation_id"], body["n"]
        if not _is_of_person(owed):
            return (f"{owed} is no person's",)
        before = self.reminded.get(owed, -1)
        self.reminded[owed] = n
        if n == before + 1 and n <= MOST_REMINDERS:
            return ()
        return (f"notice {n} of {owed} follows {before}, {MOST_REMINDERS} are most",)


class RulingsSayWhatTheyEnd(Memory, source="K5, messages"):
    """A ruling names the one obligation or the one case that it is about, why, and by which rule."""

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Look at what it names."""
        body = message["body"]
        owed, case = body["obligation_id"], body["case_id"]
        if (owed is None) == (case is None):
            return (
                "names both an obligation and a case" if owed else "names neither an obligation nor a case",
            )
        if not body["reason"] or not body["rule"]:
            return ("gives no reason" if body["rule"] else "names no rule",)
        return ()


class StoppedIsOver(Memory, source="K21, K23"):
    """A stopped system opens no cycle and no day until the next start, and a stopped case is over."""

    def __init__(self) -> None:
        self.stopped: dict[str, int] = {}
        self.over: Recent[str, int] = Recent()
        self.halts: Recent[str, int] = Recent()

    @hears("HALT", "RISK_ALERT")
    def halted(self, message: Message) -> Findings:
        """Note a halt, which a STOP leaves as it is (R-B5)."""
        body = message["body"]
        self.halts[body["halt_id"] if body["type"] == "HALT" else body["alert_id"]] = message["seq"]
        return ()

    @hears("STOP")
    def stop(self, message: Message) -> Findings:
        """Note what is stopped."""
        scope = message["body"]["scope"]
        system = scope.removeprefix("system ").removeprefix("System ").upper()
        for one in ("A", "B"):
            if scope == "society" or one == system:
                self.stopped.setdefault(one, message["seq"])
        return ()

    @hears("SOCIETY_STARTED")
    def started(self, message: Message) -> Findings:
        """Let all go on."""
        self.stopped.clear()
        return ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Note which case is over."""
        body = message["body"]
        if body["outcome"] == "stop" and body["case_id"] not in self.halts:
            self.over[body["case_id"]] = message["seq"]
        return ()

    @hears("CYCLE_TRIGGER", "TRADING_DAY")
    def opened(self, message: Message) -> Findings:
        """Hold what the Timekeeper opens against what is stopped."""
        system = "A" if message["body"]["type"] == "CYCLE_TRIGGER" else "B"
        since = self.stopped.get(system)
        is_under_way = since is None or message["seq"] <= since + OVERTAKEN
        return () if is_under_way else (f"system {system} was stopped by seq {since}",)

    @hears()
    def any(self, message: Message) -> Findings:
        """Hold what bots say against the cases that are over."""
        if not self.over or message["actor"]["kind"] != "bot" or message["body"]["type"] in ASIDES:
            return ()
        if message["case_id"] in self.over:
            return (f"{message['case_id']} was stopped by seq {self.over[message['case_id']]}",)
        return ()
