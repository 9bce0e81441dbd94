"""System A's published figures against the log: counts of days and weeks, thresholds, the desk's day (R-D14, R-D17,
R-F3, R-F6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from tests.independent.money import Money
from tests.independent.said import ZERO, Said, differ, instant, part

DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)
APPROVE_RATE: Final = Decimal("0.2")
"""Below this share of approvals a week escalates (5.1, R-F3)."""
SPOKEN: Final = frozenset({"TIMEOUT_PING", "NOTE", "AUDIT", "VIOLATION"})
"""What is said in a debate's case and moves nothing."""

Found = Iterator[str]


@dataclass
class Debate:
    """A debate, as far as the log has it."""

    cycle: str = ""
    lineage: str = ""
    is_revised: bool = False
    verdict: str = ""
    rating: str = ""
    quality: Decimal | None = None
    passed: bool | None = None
    sharpe: Decimal | None = None
    is_stopped: bool = False
    is_linked: bool = False
    moved_at: datetime | None = None
    ended_at: datetime | None = None
    strategy: str = ""
    regime: str | None = None

    @property
    def is_approved(self) -> bool:
        return self.verdict == "APPROVE"

    @property
    def first(self) -> str:
        return "REVISE" if self.is_revised else self.verdict


class Research:
    """Compare each report of System A, before it is taken in."""

    def __init__(self, money: Money) -> None:
        self.money = money
        self.debates: dict[str, Debate] = {}
        self.cycles: dict[str, datetime] = {}
        """When each cycle came to its report."""
        self.asked: dict[str, tuple[str, datetime]] = {}
        """Mode and nominal instant of each cycle."""
        self.production: set[str] = set()
        self.thresholds: dict[str, Decimal] = {}
        self.factor = Decimal(1)
        self.expects: tuple[Decimal, str] | None = None
        """The approve rate of the last META_REFLECTION, until the next."""
        self.compared: Counter[str] = Counter()

    def take(self, said: Said) -> list[str]:
        """Return what a message publishes wrongly, and take it in."""
        compare = COMPARED.get(said.kind)
        found: list[str] = []
        if compare is not None:
            self.compared[said.kind] += 1
            found = [f"{said.seq} {said.kind} {said.at:%d.%m. %H:%M} {one}" for one in compare(self, said)]
        self._note(said)
        return found

    # ------------------------------------------------------------ folding

    def _note(self, said: Said) -> None:
        body = said.body
        if said.kind == "CYCLE_TRIGGER":
            self.asked[said.case] = (body["mode"], instant(body["nominal_at"]))
        elif said.kind == "HYPOTHESIS":
            debate = Debate(body["cycle_id"], body["lineage_id"] or said.case, regime=body.get("regime"))
            self.debates.setdefault(said.case, debate)
        elif said.kind == "OVERRIDE" and said.case not in self.debates and said.case.startswith("hyp_"):
            self.debates[said.case] = Debate(is_linked=True)
        elif said.kind == "RULING" and "/hypothesis/" in (body["obligation_id"] or ""):
            self.cycles.setdefault(said.case, said.at)
        elif said.kind == "STRATEGY_MOVED":
            change = self.production.add if body["to"] == "production" else self.production.discard
            change(body["strategy_id"])
        debate = self.debates.get(said.case)
        if debate is not None and said.kind not in SPOKEN:
            self._debated(said, debate)

    def _debated(self, said: Said, debate: Debate) -> None:
        body, is_record = said.body, said.kind in ("CAUSAL_RECORD", "REFLECTION")
        if is_record and said.author == "referee":
            return
        was_judged = bool(debate.verdict)
        if said.kind == "RISK_ASSESSMENT":
            debate.rating = body["risk_rating"]
        elif said.kind in ("VERDICT", "FINAL_VERDICT"):
            debate.quality = Decimal(body["debate_quality"])
            debate.is_revised = debate.is_revised or body["verdict"] == "REVISE"
            debate.verdict = body["verdict"] if body["verdict"] != "REVISE" else ""
        elif said.kind == "OVERRIDE":
            debate.verdict, debate.passed, debate.sharpe = body["verdict"], None, None
        elif said.kind == "BACKTEST_RESULT":
            debate.passed, debate.sharpe = body["passed"], Decimal(body["metrics"]["sharpe"])
        elif said.kind == "STRATEGY_MOVED":
            debate.moved_at, debate.strategy = said.at, body["strategy_id"]
        elif said.kind == "RULING":
            is_rejected = body["outcome"] == "REJECT"
            if is_rejected:
                debate.verdict = "REJECT"
            debate.is_stopped = body["outcome"] == "stop"
            if not (
                is_rejected
                or debate.is_stopped
                or (was_judged and "/move/" not in (body["obligation_id"] or ""))
            ):
                return
        if is_record or said.kind == "RULING":
            debate.ended_at = said.at
            self.cycles.setdefault(debate.cycle, said.at)

    # ------------------------------------------------------------ counting

    def _window(self, said: Said, span: timedelta) -> tuple[datetime, datetime]:
        until = self.asked[said.case][1]
        return until - span, until

    def _ended(self, since: datetime, until: datetime) -> list[Debate]:
        return [
            debate
            for debate in self.debates.values()
            if debate.ended_at is not None and since < debate.ended_at <= until and not debate.is_stopped
        ]

    def _cycles(self, since: datetime, until: datetime) -> int:
        return sum(1 for cycle, at in self.cycles.items() if cycle and since < at <= until)

    def _best(self, since: datetime, until: datetime) -> tuple[Decimal, str] | None:
        moved = [d for d in self.debates.values() if d.moved_at is not None and since < d.moved_at <= until]
        return max(((d.sharpe, d.strategy) for d in moved if d.sharpe is not None), default=None)

    def micro(self, said: Said) -> Found:
        since = said.at.replace(hour=22, minute=0, second=0, microsecond=0)
        since -= DAY if since >= said.at else timedelta(0)
        # What the cycle counted when it came to its report; later ones of the day were not there yet.
        until = self.cycles.get(said.case, said.at)
        since = since if until > since else since - DAY
        ended = self._ended(since, until)
        summary = said.body["daily_summary"]
        yield from differ("cycles_completed", summary["cycles_completed"], self._cycles(since, until))
        approved = sum(1 for debate in ended if debate.is_approved)
        yield from differ("strategies_approved", summary["strategies_approved"], approved)
        yield from differ("strategies_rejected", summary["strategies_rejected"], len(ended) - approved)
        debate = next((d for d in self.debates.values() if d.cycle == said.case), None)
        yield from differ(
            "verdict", said.body["verdict"], (debate.verdict or "REJECT") if debate else "timeout"
        )
        yield from differ("backtest_sharpe", said.body["backtest_sharpe"], debate.sharpe if debate else None)

    def daily(self, said: Said) -> Found:
        body, (since, until) = said.body, self._window(said, DAY)
        ended = self._ended(since, until)
        approved = sum(1 for debate in ended if debate.is_approved)
        best = self._best(since, until)
        wanted: dict[str, Any] = {
            "date": f"{until:%Y-%m-%d}",
            "cycles_completed": self._cycles(since, until),
            "strategies_approved": approved,
            "strategies_rejected": len(ended) - approved,
            "strategies_revised": sum(1 for debate in ended if debate.is_revised),
        }
        for name, value in wanted.items():
            yield from differ(name, body[name], value)
        top = body["top_strategy"]
        yield from differ("top_strategy", (Decimal(top["sharpe"]), top["id"]) if top else None, best)
        desk = body["trading_feedback"]
        yield from differ("production_strategies", desk["production_strategies"], len(self.production))
        yield from differ("daily_pnl_pct", desk["daily_pnl_pct"], self._pnl(since, until))

    def _pnl(self, since: datetime, until: datetime) -> Decimal | None:
        """Return the desk's day: equity at the window's close over that at the close before it (R-F6)."""
        closes = [(equity, before) for at, equity, before in self.money.closes if since < at <= until]
        if not closes:
            return None
        equity, before = closes[-1]
        return part(equity - before, before)

    def weekly(self, said: Said) -> Found:
        body, (since, until) = said.body, self._window(said, WEEK)
        best = self._best(since, until)
        yield from differ("total_cycles", body["total_cycles"], self._cycles(since, until))
        approved = sum(1 for debate in self._ended(since, until) if debate.is_approved)
        yield from differ("strategies_approved", body["strategies_approved"], approved)
        yield from differ("best_strategy_sharpe", body["best_strategy_sharpe"], best[0] if best else None)

    def meta(self, said: Said) -> Found:
        body, ended = said.body, self._ended(*self._window(said, WEEK))
        total = len(ended)
        firsts = Counter(debate.first or "REJECT" for debate in ended)
        qualities = [debate.quality for debate in ended if debate.quality is not None]
        approved = sum(1 for debate in ended if debate.is_approved)
        overrode = sum(1 for debate in ended if debate.is_approved and debate.rating == "REJECT")
        yield from differ("total_debates", body["total_debates"], total)
        for name in ("APPROVE", "REJECT", "REVISE"):
            yield from differ(
                f"verdict_distribution.{name}", body["verdict_distribution"][name], firsts[name]
            )
        yield from differ(
            "avg_debate_quality", body["avg_debate_quality"], _share(sum(qualities, ZERO), len(qualities))
        )
        yield from differ("explorer_win_rate", body["explorer_win_rate"], _share(approved, total))
        yield from differ("critic_override_rate", body["critic_override_rate"], _share(overrode, total))
        self.expects = (_share(approved, total), f"{approved} of {total}") if total else None

    def escalated(self, said: Said) -> Found:
        if said.body["trigger_code"] != "approve_rate":
            return
        if self.expects is None or self.expects[0] >= APPROVE_RATE:
            yield f"an approve rate below 20 % with {self.expects[1] if self.expects else 'no debate'} approved"
        elif self.expects[1] not in said.body["context"]:
            yield f"says {said.body['context']}, it was {self.expects[1]}"

    def thresholds_reviewed(self, said: Said) -> Found:
        body, ended = said.body, self._ended(*self._window(said, WEEK))
        passed = {}
        for debate in self.debates.values():
            if debate.ended_at is not None and debate.is_approved and debate.passed and not debate.is_stopped:
                passed[debate.lineage] = max(debate.ended_at, passed.get(debate.lineage, debate.ended_at))
        rejects = [debate for debate in ended if not debate.is_approved]
        wrongly = [d for d in rejects if d.lineage in passed and passed[d.lineage] > d.ended_at]
        approvals = [debate for debate in ended if debate.is_approved]
        failed = sum(1 for debate in approvals if debate.passed is False)
        wanted = {
            "rejects": len(rejects),
            "wrongly_rejected": len(wrongly),
            "approvals": len(approvals),
            "failed_backtests": failed,
            "false_negative_rate": _share(len(wrongly), len(rejects)),
            "false_positive_rate": _share(failed, len(approvals)),
        }
        for name, value in wanted.items():
            yield from differ(name, body[name], value)
        is_dear = failed * 5 > len(approvals) * 2
        word = "raise" if is_dear else "lower" if len(wrongly) * 10 > len(rejects) * 3 else "keep"
        self.factor = {"raise": Decimal("1.1"), "lower": Decimal("0.9"), "keep": Decimal(1)}[word]
        yield from differ("recommendation", body["recommendation"], word)
        yield from differ("factor", Decimal(body["factor"]), self.factor)

    def recorded(self, said: Said) -> Found:
        """Compare the regime of a record that the referee writes with the hypothesis's own (R-F10)."""
        debate = self.debates.get(said.case)
        if said.author == "referee" and debate is not None and not debate.is_linked:
            yield from differ("record.regime", said.body["record"]["regime"], debate.regime)

    def adjusted(self, said: Said) -> Found:
        before, after = said.body["before"], said.body["after"]
        if self.thresholds:
            yield from differ("before", before, self.thresholds)
        for name, value in before.items():
            moved = min(max(Decimal(value) * self.factor, Decimal("0.2")), Decimal("0.95"))
            yield from differ(f"after.{name}", after[name], moved)
        self.thresholds = after


def _share(of: Decimal | int, whole: int) -> Decimal:
    return Decimal(of) / whole if whole else ZERO


COMPARED: Final[Mapping[str, Callable[[Research, Said], Found]]] = {
    "MICRO_CYCLE_REPORT": Research.micro,
    "DAILY_REPORT": Research.daily,
    "WEEKLY_REPORT": Research.weekly,
    "META_REFLECTION": Research.meta,
    "THRESHOLD_REVIEW": Research.thresholds_reviewed,
    "THRESHOLDS_ADJUSTED": Research.adjusted,
    "ESCALATION": Research.escalated,
    "REFLECTION": Research.recorded,
    "CAUSAL_RECORD": Research.recorded,
}
