"""Laws of System A's debates."""

from __future__ import annotations

from typing import Final

from moot.chaos.laws.instants import minutes
from moot.chaos.laws.law import OVERTAKEN, Findings, Memory, Message, hears
from moot.chaos.laws.recent import Recent

SLACK: Final = 1e-9
"""Differences of scores are floats."""


class OneRevision(Memory, source="1.2, R-D9"):
    """A debate is revised once at most."""

    def __init__(self) -> None:
        self.revised: Recent[tuple[str, str], int] = Recent()

    @hears("VERDICT", "FINAL_VERDICT", "REVISE_REQUEST", "REVISED_HYPOTHESIS")
    def revising(self, message: Message) -> Findings:
        """Note each step of a revision."""
        body, case = message["body"], message["case_id"]
        kind = body["type"]
        if body.get("verdict", "REVISE") != "REVISE":
            return ()
        if kind == "FINAL_VERDICT":
            return ("a final verdict asks for a revision",)
        before = self.revised.get((case, kind))
        self.revised[case, kind] = message["seq"]
        return () if before is None else (f"the second one, after seq {before}",)


class ThreeRounds(Memory, source="1.3, R-D5"):
    """A debate has two rounds, and a third one where the Evolver extended it, once, in honest doubt."""

    def __init__(self) -> None:
        self.extended: Recent[str, int] = Recent()

    @hears("EXTEND_DEBATE")
    def extending(self, message: Message) -> Findings:
        """Note an extension."""
        body, case = message["body"], message["case_id"]
        before = self.extended.get(case)
        self.extended[case] = message["seq"]
        if before is not None:
            yield f"the second one, after seq {before}"
        if body["extra_rounds"] != 1:
            yield f"adds {body['extra_rounds']} rounds"
        for side in ("alpha_argument_score", "risk_argument_score"):
            if not 0.55 <= body[side] <= 0.75:
                yield f"{side} is {body[side]}, outside 0.55 to 0.75"

    @hears("REBUTTAL", "CONCEDE", "RISK_ASSESSMENT")
    def speaking(self, message: Message) -> Findings:
        """Hold a round against the rounds there are."""
        number = message["body"]["round"]
        most = 3 if message["case_id"] in self.extended else 2
        return (f"round {number} of {most}",) if number != "revision" and number > most else ()


class TheCriticIsHeard(Memory, source="R-D10, R-F9"):
    """No verdict without the Critic's scores or its recorded silence, and no approval against a fatal flaw it found."""

    def __init__(self) -> None:
        self.heard: Recent[str, Message] = Recent()
        self.silent: Recent[str, int] = Recent()
        self.revised: Recent[str, int] = Recent()

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
        if not is_fresh or heard is None:
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


class ClearWordsEndIt(Memory, source="1.4, R-D3"):
    """Nobody argues on after the Critic was surer than 0.85, after the Explorer conceded, or after the verdict."""

    def __init__(self) -> None:
        self.over: Recent[str, str] = Recent()

    @hears("RISK_ASSESSMENT", "CONCEDE", "VERDICT", "FINAL_VERDICT", "REBUTTAL", "EXTEND_DEBATE")
    def said(self, message: Message) -> Findings:
        """Follow whether a debate is over."""
        case, body = message["case_id"], message["body"]
        kind = body["type"]
        why = self.over.get(case)
        if kind in ("VERDICT", "FINAL_VERDICT"):
            self.over[case] = f"the verdict of seq {message['seq']}"
            is_late = why is not None and why.startswith("the verdict") and kind == "VERDICT"
        else:
            is_late = why is not None and body.get("round") != "revision"
            if kind == "CONCEDE":
                self.over[case] = f"the concession of seq {message['seq']}"
            elif kind == "RISK_ASSESSMENT" and body["confidence"] > 0.85 and body["round"] != "revision":
                self.over[case] = f"the confidence {body['confidence']} of seq {message['seq']}"
        return (f"comes after {why}",) if is_late else ()


class CyclesKeepTheirTime(Memory, source="1.2, R-D6, R-F8"):
    """No revision begins that the cycle's 150 minutes do not have room for, nor does an extension."""

    def __init__(self) -> None:
        self.began: Recent[str, str] = Recent(64)
        self.cycles: Recent[str, str] = Recent(64)

    @hears("SOCIETY_STARTED", "CLOCK_SET")
    def shifted(self, message: Message) -> Findings:
        """Forget the cycles under way: time in which the society could do nothing is not theirs (K6)."""
        self.began.clear()
        return ()

    @hears("CYCLE_TRIGGER")
    def opened(self, message: Message) -> Findings:
        """Note when a cycle began."""
        self.began[message["case_id"]] = message["sent_at"]
        return ()

    @hears("HYPOTHESIS")
    def proposed(self, message: Message) -> Findings:
        """Note whose debate it is."""
        self.cycles[message["case_id"]] = message["body"]["cycle_id"]
        return ()

    @hears("VERDICT", "EXTEND_DEBATE")
    def lengthened(self, message: Message) -> Findings:
        """Hold what takes longer against what is left."""
        kind = message["body"]["type"]
        since = self.began.get(self.cycles.get(message["case_id"], ""))
        if since is None or (kind == "VERDICT" and message["body"]["verdict"] != "REVISE"):
            return ()
        needs = 35 if kind == "VERDICT" else 20
        spent = minutes(since, message["sent_at"])
        return (
            (f"comes {spent:.1f} minutes after the trigger and needs {needs}",) if spent + needs > 150 else ()
        )


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
        """Hold a backtest against the approval."""
        self.passed[message["case_id"]] = message["body"]["passed"]
        return () if message["case_id"] in self.approved else ("nobody approved it",)

    @hears("STRATEGY_MOVED")
    def moved(self, message: Message) -> Findings:
        """Hold a new candidate against its backtest."""
        body = message["body"]
        if message["author"] != "evolver" or body["from"] is not None or body["to"] != "candidates":
            return ()
        return () if self.passed.get(message["case_id"]) else (f"{body['strategy_id']} passed no backtest",)


class ConservativeMeansSure(Memory, source="5.3, R-B8"):
    """While System A is conservative nothing is approved with a confidence below 0.75."""

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
        """Hold an approval against the mode."""
        body = message["body"]
        if self.since and body["verdict"] == "APPROVE" and body["confidence"] < 0.75:
            return (
                f"approves with {body['confidence']}, and System A is conservative since seq {self.since}",
            )
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
