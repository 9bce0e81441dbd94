"""Laws of who speaks, where, and in whose place."""

from __future__ import annotations

from typing import Final

from moot.laws.law import Findings, Memory, Message, hears
from moot.laws.recent import Recent

SPEAKERS: Final = """
ANCHOR CLOCK_SET CONFIG_CHANGED SOCIETY_STARTED SOCIETY_STOPPED: timekeeper, #admin
CYCLE_TRIGGER CYCLE_DEFERRED CYCLE_SKIPPED: timekeeper, #a-arena
TRADING_DAY: timekeeper, #b-ops
AUDIT ESCALATION ESCALATION_PAGED ESCALATION_RESOLVED HEALTH_CHECK PERSON_NAMED: referee, #admin
DUTY_NOTICE RULING TIMEOUT_PING VIOLATION: referee
MODE_CHANGED: referee, #a-arena #b-ops
ESCALATION_ACK ESCALATION_ANSWER BUDGET_SET STOP: admin, #admin
OVERRIDE: admin
NOTE: admin viewer
SEAT_TAKEN SEAT_RELEASED: admin referee, #admin
RESEARCH_NOTE: explorer, #a-research
HYPOTHESIS REBUTTAL CONCEDE REVISED_HYPOTHESIS ARCHITECTURE_PROPOSAL ARCHITECTURE_REBUTTAL: explorer, #a-arena
RISK_ASSESSMENT THRESHOLDS_ADJUSTED ARCHITECTURE_CRITIQUE: critic, #a-arena
EXTEND_DEBATE REVISE_REQUEST THRESHOLD_REVIEW ARCHITECTURE_VERDICT: evolver, #a-arena
VERDICT FINAL_VERDICT BACKTEST_RESULT: evolver, #a-verdict
MICRO_CYCLE_REPORT PRINCIPLE_SYNTHESIS DAILY_REPORT WEEKLY_REPORT META_REFLECTION: evolver, #a-report
CAUSAL_RECORD REFLECTION: evolver referee, #a-report
STRATEGY_MOVED: admin evolver operator referee, #bridge
PERFORMANCE_FEEDBACK: evolver, #bridge
FEEDBACK_RESPONSE RECALL_REQUEST: operator, #bridge
METRICS_RECORDED: guardian, #bridge
DEPLOY_PROPOSAL DEPLOY_DECISION DEPLOY_NOTICE PROMOTION_PROPOSAL PROMOTION_DECISION: operator, #b-ops
RISK_DISCUSSION RISK_DECISION PRE_MARKET_CHECK MARKET_CLOSE CHECK_NEW_STRATEGIES: operator, #b-ops
DEPLOY_REVIEW PROMOTION_REVIEW: guardian trader, #b-ops
RISK_PROJECTION: guardian, #b-ops
FEASIBILITY: trader, #b-ops
RISK_ALERT OVERNIGHT_RISK_CHECK RISK_CHECK RECALL_FLAG: guardian, #b-risk
HALT: admin guardian operator, #b-risk
RESUME: admin operator, #b-ops
RESUME_CONFIRMED: admin guardian, #b-risk
SIGNAL ORDER NO_ORDER EXECUTION DESK_CHECK: trader, #b-desk
TRADING_SUMMARY DAILY_TRADING_REPORT WEEKLY_TRADING_REPORT: operator, #b-report
ARENA_TASK: admin evolver, #r-arena
DRAFT: planner, #r-arena
REVIEW: reviewer, #r-arena
FINAL_OUTPUT: finalizer, #r-arena
HOOK_RESULT RUN_FAULT: planner reviewer finalizer, #r-arena
RUN_TERMINATED: orchestrator, #r-arena
PANEL_OPENED: admin operator evolver, #r-panel
PHASE1 PHASE2: eic methodology domain perspective da, #r-panel
SYNTHESIS: synthesizer, #r-panel
LINT PANEL_DECIDED PANEL_ABORTED: orchestrator, #r-panel
MOTION: admin viewer, #motions
CLAIM REPLIES: advocate, #motions
OBJECTIONS: critic, #motions
EXTEND_MOTION JUDGMENT: judge, #motions
CALL_RESERVED CALL_SETTLED CALL_REFUSED: bursar, #calls
EXPERIMENT_STARTED EXPERIMENT_BATCH EXPERIMENT_ENDED: lab, #lab
"""
"""Types: who says them, and where, if not anywhere."""

PEOPLE: Final = frozenset({"admin", "viewer"})


def _speakers() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    found = {}
    for line in SPEAKERS.strip().splitlines():
        kinds, said = line.split(": ")
        seats, _, channels = said.partition(", ")
        for kind in kinds.split():
            found[kind] = frozenset(seats.split()), frozenset(channels.split())
    return found


WHO: Final = _speakers()


class EachItsOwnWord(Memory, source="messages", is_raw=True):
    """A type is said by the seats that may say it, in the channel where it belongs, and by nobody else."""

    @hears()
    def any(self, message: Message) -> Findings:
        """Look author and channel up."""
        known = WHO.get(message["body"]["type"])
        if known is None:
            return ()
        seats, channels = known
        if message["author"] not in seats:
            return (f"was said by {message['author']}",)
        if channels and message["channel"] not in channels:
            return (f"was said in {message['channel']}",)
        return ()


class NobodySpeaksForAnother(Memory, source="K14"):
    """A person speaks in a bot's place only where they took its seat, and the bot not while they hold it."""

    def __init__(self) -> None:
        self.tenures: dict[str, int] = {}
        self.holders: dict[str, str] = {}

    @hears("SEAT_TAKEN", "SEAT_RELEASED")
    def changed(self, message: Message) -> Findings:
        """Follow who sits where."""
        body = message["body"]
        self.tenures[body["seat"]] = message["seq"]
        if body["type"] == "SEAT_TAKEN":
            self.holders[body["seat"]] = body["user_id"]
        else:
            self.holders.pop(body["seat"], None)
        return ()

    @hears()
    def any(self, message: Message) -> Findings:
        """Hold an author against who sits there."""
        author, actor = message["author"], message["actor"]
        kind = actor["kind"]
        if author in PEOPLE or kind == "officer":
            return ()
        holder, tenure = self.holders.get(author), self.tenures.get(author, 0)
        if kind == "human" and actor["user_id"] != holder:
            return (f"{actor['user_id']} speaks as {author}, and {holder or 'nobody'} took that seat",)
        if kind == "bot" and holder is not None:
            return (f"the bot speaks as {author} while {holder} holds that seat",)
        if message["tenure"] != tenure:
            return (f"is of tenure {message['tenure']}, and the seat's is {tenure}",)
        return ()


class RefusedOnce(Memory, source="K10", is_raw=True):
    """A VIOLATION names a message of a seat before it, and no two name the same one."""

    def __init__(self) -> None:
        self.latest: Recent[int, tuple[str, str]] = Recent(512)
        self.refused: Recent[int, int] = Recent(512)

    @hears()
    def any(self, message: Message) -> Findings:
        """Keep the latest authors, and hold a VIOLATION against them."""
        seq, body = message["seq"], message["body"]
        self.latest[seq] = message["author"], message["actor"]["kind"]
        if body["type"] != "VIOLATION":
            return ()
        of, before = body["of_seq"], self.refused.get(body["of_seq"])
        self.refused[of] = seq
        if before is not None:
            return (f"refuses seq {of}, as seq {before} does",)
        author, kind = self.latest.get(of, (body["seat"], "bot"))
        if of >= seq or kind == "officer":
            return (
                f"refuses seq {of}, "
                + ("which is not before it" if of >= seq else f"an officer's ({author})"),
            )
        if author != body["seat"]:
            return (f"calls seq {of} {body['seat']}'s, and {author} said it",)
        return ()
