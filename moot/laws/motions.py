"""Laws of motions."""

from __future__ import annotations

from dataclasses import dataclass, field

from moot.laws.law import Findings, Memory, Message, hears
from moot.laws.recent import Recent
from moot.laws.verdicts import SLACK


@dataclass
class Motion:
    """What is known of a motion."""

    option: str = ""
    is_extended: bool = False
    severity: dict[int, str] = field(default_factory=dict)
    standing: set[int] = field(default_factory=set)
    is_heard: bool = False


class MotionsKeepTheirRounds(Memory, source="1.3, R-Q1, R-Q3, R-Q4"):
    """A motion has two rounds, and a third one where the Judge extended it, once, in honest doubt."""

    def __init__(self) -> None:
        self.extended: Recent[str, int] = Recent(512)

    @hears("EXTEND_MOTION")
    def extending(self, message: Message) -> Findings:
        """Note an extension."""
        body, before = message["body"], self.extended.get(message["case_id"])
        self.extended[message["case_id"]] = message["seq"]
        if before is not None:
            yield f"the second one, after seq {before}"
        for side in ("for_score", "against_score"):
            if not 0.55 <= body[side] <= 0.75:
                yield f"{side} is {body[side]}, outside 0.55 to 0.75"

    @hears("OBJECTIONS", "REPLIES")
    def speaking(self, message: Message) -> Findings:
        """Hold a round against the rounds there are."""
        number, most = message["body"]["round"], 3 if message["case_id"] in self.extended else 2
        return (f"round {number} of {most}",) if number > most else ()


class JudgmentsAreEarned(Memory, source="R-D7, R-D8, R-F9, R-Q5, R-Q6"):
    """A judgment names what stands; a claim is upheld by a stronger argument, and against no fatal objection."""

    def __init__(self) -> None:
        self.motions: Recent[str, Motion] = Recent(512)

    def _of(self, message: Message) -> Motion:
        found = self.motions.get(message["case_id"])
        if found is None:
            found = self.motions[message["case_id"]] = Motion()
        return found

    @hears("CLAIM")
    def claimed(self, message: Message) -> Findings:
        """Note what is claimed."""
        self._of(message).option = message["body"]["option"]
        return ()

    @hears("OBJECTIONS")
    def objected(self, message: Message) -> Findings:
        """Note what stands until it is answered."""
        motion = self._of(message)
        motion.is_heard = True
        for one in message["body"]["objections"]:
            motion.severity[one["number"]] = one["severity"]
            motion.standing.add(one["number"])
        return ()

    @hears("REPLIES")
    def replied(self, message: Message) -> Findings:
        """Take off what was answered."""
        motion = self._of(message)
        motion.standing -= {one["number"] for one in message["body"]["replies"] if not one["concede"]}
        return ()

    @hears("JUDGMENT")
    def judged(self, message: Message) -> Findings:
        """Hold a judgment against what was said."""
        motion, body = self._of(message), message["body"]
        missing = motion.standing - set(body["standing"])
        if missing:
            yield f"leaves out that {sorted(missing)} stand"
        if body["outcome"] != "UPHELD":
            return
        fatal = [number for number in body["standing"] if motion.severity.get(number) == "fatal"]
        if body["option"] != motion.option:
            yield f"upholds {body['option']!r}, {motion.option!r} was claimed"
        if not motion.is_heard:
            yield "upholds what the Critic never spoke to"
        if fatal:
            yield f"upholds against the fatal objection {fatal[0]}"
        if body["confidence"] < 0.6:
            yield f"upholds with a confidence of {body['confidence']}"
        if body["for_score"] - body["against_score"] < 0.05 - SLACK:
            yield f"upholds with {body['for_score']} for it and {body['against_score']} against it"
