"""Laws of what System A decides, and what follows from it."""

from __future__ import annotations

from typing import Final

from moot.laws.law import OVERTAKEN, Findings, Memory, Message, hears
from moot.laws.recent import Recent

SLACK: Final = 1e-9
"""Differences of scores are floats."""


class TheCriticIsHeard(Memory, source="R-D10, R-F9"):
    """No verdict without the Critic's scores or its recorded silence, and no approval against a fatal flaw it found."""

    def __init__(self) -> None:
        self.heard: Recent[str, Message] = Recent()
        self.silent: Recent[str, int] = Recent()
        self.revised: Recent[str, int] = Recent()
        self.changed: Recent[str, int] = Recent()

    @hears("REBUTTAL")
    def rebutted(self, message: Message) -> Findings:
        """Note that the strategy is another one, which nobody assessed yet."""
        if message["body"].get("strategy") is not None:
            self.changed[message["case_id"]] = message["seq"]
        return ()

    @hears("RISK_ASSESSMENT")
    def assessed(self, message: Message) -> Findings:
        """Keep the latest assessment."""
        self.heard[message["case_id"]] = message
        return ()

    @hears("REVISED_HYPOTHESIS")
    def restated(self, message: Message) -> Findings:
        """Note that an assessment is owed anew."""
        self.revised[message["case_id"]] = message["seq"]
        return ()

    @hears("RULING")
    def ruled(self, message: Message) -> Findings:
        """Note a silence."""
        if "/assessment" in (message["body"]["obligation_id"] or ""):
            self.silent[message["case_id"]] = message["seq"]
        return ()

    @hears("VERDICT", "FINAL_VERDICT")
    def judged(self, message: Message) -> Findings:
        """Hold a verdict against the assessment."""
        case, body = message["case_id"], message["body"]
        heard = self.heard.get(case)
        is_fresh = heard is not None and heard["seq"] > self.revised.get(case, 0)
        if not is_fresh and self.silent.get(case, 0) <= self.revised.get(case, 0):
            return ("the Critic neither spoke nor was ruled silent",)
        if body["verdict"] != "APPROVE":
            return ()
        if not is_fresh or heard is None or heard["seq"] < self.changed.get(case, 0):
            return ("approves what the Critic did not assess",)
        flaws = heard["body"]["fatal_flaws"]
        return (f"approves against a fatal flaw of seq {heard['seq']}: {flaws[0]}",) if flaws else ()


class ApprovalsAreEarned(Memory, source="R-D7, R-D8, R-F9"):
    """An approval has a confidence of 0.6, an argument 0.05 stronger than the other, and a backtest to follow."""

    @hears("VERDICT", "FINAL_VERDICT")
    def judged(self, message: Message) -> Findings:
        """Look at its scores."""
        body = message["body"]
        if body["verdict"] != "APPROVE":
            return
        if body["confidence"] < 0.6:
            yield f"approves with a confidence of {body['confidence']}"
        if body["alpha_argument_score"] - body["risk_argument_score"] < 0.05 - SLACK:
            yield f"approves with {body['alpha_argument_score']} for it and {body['risk_argument_score']} against it"
        if body["next_action"] != "backtest":
            yield f"approves, and then comes {body['next_action']}"


class BacktestsFollowApprovals(Memory, source="R-D15, 1.2"):
    """Only what was approved is backtested, and only what passed becomes a candidate."""

    def __init__(self) -> None:
        self.approved: Recent[str, int] = Recent()
        self.passed: Recent[str, bool] = Recent()

    @hears("VERDICT", "FINAL_VERDICT", "OVERRIDE")
    def judged(self, message: Message) -> Findings:
        """Note an approval; that of an ended debate opens a case of its own (K23)."""
        body = message["body"]
        if body["verdict"] == "APPROVE":
            self.approved[message["case_id"]] = message["seq"]
            self.approved[body.get("override_id") or message["case_id"]] = message["seq"]
        return ()

    @hears("BACKTEST_RESULT")
    def tested(self, message: Message) -> Findings:
        """Hold a backtest against the approval, and what it says against its figures."""
        body, case = message["body"], message["case_id"]
        figures, self.passed[case] = body["metrics"], body["passed"]
        passes = figures["sharpe"] >= 0.3 and figures["max_drawdown"] <= 0.2 and figures["total_trades"] >= 20
        if case not in self.approved:
            return ("nobody approved it",)
        return () if body["passed"] == passes else (f"passed is {body['passed']}, its figures say {passes}",)

    @hears("STRATEGY_MOVED")
    def moved(self, message: Message) -> Findings:
        """Hold a new candidate against its backtest."""
        body = message["body"]
        if message["author"] != "evolver" or body["from"] is not None or body["to"] != "candidates":
            return ()
        return () if self.passed.get(message["case_id"]) else (f"{body['strategy_id']} passed no backtest",)


class LessonsFitTheOutcome(Memory, source="1.2, R-D15, K23"):
    """A rejected debate ends with a REFLECTION, an approved one with a CAUSAL_RECORD of how its backtest went."""

    def __init__(self) -> None:
        self.outcomes: Recent[str, str] = Recent()
        self.ended: Recent[str, int] = Recent()

    @hears("HYPOTHESIS")
    def opened(self, message: Message) -> Findings:
        """Note a debate."""
        self.outcomes[message["case_id"]] = "nothing"
        return ()

    @hears("VERDICT", "FINAL_VERDICT", "OVERRIDE")
    def judged(self, message: Message) -> Findings:
        """Note a verdict; that of an ended debate opens a case of its own."""
        body, case = message["body"], message["case_id"]
        is_over = body["type"] == "OVERRIDE" and case in self.ended
        self.outcomes[body["override_id"] if is_over else case] = body["verdict"]
        return ()

    @hears("BACKTEST_RESULT")
    def tested(self, message: Message) -> Findings:
        """Note how a backtest went."""
        case = message["case_id"]
        self.outcomes[case] = "success" if message["body"]["passed"] else "failure"
        return (f"the debate ended with seq {self.ended[case]}",) if case in self.ended else ()

    @hears("REFLECTION", "CAUSAL_RECORD")
    def recorded(self, message: Message) -> Findings:
        """Hold the Evolver's last word on a debate against its outcome; the Referee's is on a silence."""
        body, case = message["body"], message["case_id"]
        if message["author"] != "evolver" or case not in self.outcomes:
            return ()
        outcome, before = self.outcomes[case], self.ended.get(case)
        self.ended[case] = message["seq"]
        if before is not None:
            return (f"the debate ended with seq {before}",)
        fits = outcome == "REJECT" if body["type"] == "REFLECTION" else outcome == body["record"]["kind"]
        return () if fits else (f"ends what came to {outcome}",)


class ConservativeMeansSure(Memory, source="5.3, R-B8"):
    """While System A is conservative nothing is approved or revised with a confidence below 0.75."""

    def __init__(self) -> None:
        self.since = 0

    @hears("MODE_CHANGED")
    def changed(self, message: Message) -> Findings:
        """Follow the mode."""
        body = message["body"]
        if body["system"] == "A":
            self.since = message["seq"] if body["mode"] == "conservative" else 0
        return ()

    @hears("VERDICT", "FINAL_VERDICT")
    def judged(self, message: Message) -> Findings:
        """Hold what goes on against the mode."""
        body = message["body"]
        if self.since and body["verdict"] != "REJECT" and body["confidence"] < 0.75:
            how = f"{body['verdict']} with {body['confidence']}"
            return (f"says {how}, and System A is conservative since seq {self.since}",)
        return ()


class OnlyAnAdminEndsCaution(Memory, source="R-F2", is_raw=True):
    """System A's conservative mode ends when an admin has decided something, be it late; no text ends it."""

    def __init__(self) -> None:
        self.since = 0
        self.decided = -OVERTAKEN

    @hears("ESCALATION_ANSWER", "OVERRIDE", "RESUME", "RESUME_CONFIRMED")
    def deciding(self, message: Message) -> Findings:
        """Note a decision."""
        if message["author"] == "admin" and message["body"].get("option", 0) is not None:
            self.decided = message["seq"]
        return ()

    @hears("MODE_CHANGED")
    def changed(self, message: Message) -> Findings:
        """Hold the end of the mode against the decisions since it began."""
        body, since = message["body"], self.since
        if body["system"] != "A":
            return ()
        self.since = message["seq"] if body["mode"] == "conservative" else 0
        if since and not self.since and self.decided <= since - OVERTAKEN:
            return (f"ends what began with seq {since}, and no admin decided anything",)
        return ()
