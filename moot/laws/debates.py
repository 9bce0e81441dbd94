"""Laws of how System A debates: rounds, revisions, time."""

from __future__ import annotations

from dataclasses import dataclass

from moot.laws.instants import Uptime
from moot.laws.law import Findings, Memory, Message, hears
from moot.laws.recent import Recent


class DebatesOpenOnce(Memory, source="1.1, K9"):
    """A debate opens once, in a cycle that a trigger opened."""

    def __init__(self) -> None:
        self.cycles: Recent[str, int] = Recent()
        self.opened: Recent[str, int] = Recent()

    @hears("CYCLE_TRIGGER")
    def triggered(self, message: Message) -> Findings:
        """Note a cycle."""
        self.cycles[message["body"]["cycle_id"]] = message["seq"]
        return ()

    @hears("HYPOTHESIS")
    def proposed(self, message: Message) -> Findings:
        """Hold a hypothesis against the cycles, and those before it."""
        case, cycle = message["case_id"], message["body"]["cycle_id"]
        before, self.opened[case] = self.opened.get(case), message["seq"]
        if before is not None:
            return (f"was opened by seq {before}",)
        return () if cycle in self.cycles else (f"no CYCLE_TRIGGER opened {cycle}",)


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


@dataclass
class Turns:
    """How far a debate has come."""

    assessed: int = 0
    rebutted: int = 1
    rounds: int = 2
    is_over: bool = False
    revision: str = ""


class EachInItsTurn(Memory, source="1.1, 1.2, 1.4, R-D10"):
    """Rebuttal and assessment take turns to the last round, then comes the verdict; a revision goes step by step."""

    def __init__(self) -> None:
        self.debates: Recent[str, Turns] = Recent()

    @hears("HYPOTHESIS")
    def opened(self, message: Message) -> Findings:
        """Begin a debate."""
        self.debates[message["case_id"]] = Turns()
        return ()

    @hears("EXTEND_DEBATE")
    def extended(self, message: Message) -> Findings:
        """Add a round, after the last one."""
        turns = self._of(message)
        was_over = turns.assessed == turns.rounds == 2 and not turns.is_over
        turns.rounds = 3
        return () if was_over else (f"comes after {turns.assessed} assessments",)

    @hears("RULING")
    def silent(self, message: Message) -> Findings:
        """Note that a silence ends the exchange, or the wait for what was owed."""
        if message["case_id"] in self.debates:
            turns = self._of(message)
            turns.is_over = True
            turns.revision = "assessed" if turns.revision == "revised" else turns.revision
        return ()

    @hears("REBUTTAL", "CONCEDE", "RISK_ASSESSMENT")
    def argued(self, message: Message) -> Findings:
        """Hold a round against the one before it."""
        turns, body = self._of(message), message["body"]
        number = body["round"]
        if number == "revision":
            before, turns.revision = turns.revision, "assessed"
            return () if before == "revised" else ("nothing was revised that it could assess",)
        if body["type"] == "RISK_ASSESSMENT":
            is_next = number == turns.assessed + 1 == turns.rebutted
            turns.assessed, turns.is_over = number, turns.is_over or body["confidence"] > 0.85
        else:
            is_next = number == turns.assessed + 1 == turns.rebutted + 1
            turns.rebutted, turns.is_over = number, turns.is_over or body["type"] == "CONCEDE"
        return () if is_next else (f"round {number} comes out of turn",)

    @hears("VERDICT", "FINAL_VERDICT")
    def judged(self, message: Message) -> Findings:
        """Hold a verdict against the exchange before it."""
        turns, body = self._of(message), message["body"]
        if body["type"] == "FINAL_VERDICT":
            return () if turns.revision == "assessed" else ("comes before a revision was assessed",)
        if body["verdict"] == "REVISE":
            turns.revision = "asked"
        if turns.is_over or turns.assessed == turns.rounds:
            return ()
        return (f"comes after {turns.assessed} of {turns.rounds} rounds, and nothing ended them",)

    @hears("REVISE_REQUEST", "REVISED_HYPOTHESIS")
    def revising(self, message: Message) -> Findings:
        """Hold a step of a revision against the one before it."""
        turns, is_request = self._of(message), message["body"]["type"] == "REVISE_REQUEST"
        before, turns.revision = turns.revision, "requested" if is_request else "revised"
        return () if before == ("asked" if is_request else "requested") else ("nobody asked for it",)

    def _of(self, message: Message) -> Turns:
        return self.debates.get(message["case_id"]) or Turns()


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
        self.began: Recent[str, float] = Recent(64)
        self.cycles: Recent[str, str] = Recent(64)
        self.up = Uptime()

    @hears()
    def any(self, message: Message) -> Findings:
        """Follow the time."""
        self.up.take(message)
        return ()

    @hears("CYCLE_TRIGGER")
    def opened(self, message: Message) -> Findings:
        """Note when a cycle began."""
        self.began[message["case_id"]] = self.up.at(message)
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
        spent = self.up.at(message) - since
        return (
            (f"comes {spent:.1f} minutes after the trigger and needs {needs}",) if spent + needs > 150 else ()
        )
