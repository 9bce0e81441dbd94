"""The Advocate of motions: an option by seed, plain grounds, replies."""

from __future__ import annotations

from typing import Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.answering import Answering
from moot.bots.minds.simulated.motion.passages import of_work
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.wording import quoted, sentence
from moot.protocols.motion import messages as m

PHRASES: Final = Phrases("motion/advocate")

CONCEDES: Final = 0.15
LEAVES_OUT: Final = 0.1
"""How often an objection is conceded, and how often it gets no reply."""


def claim(asked: Answering) -> Reply:
    """Claim an option."""
    options = asked.view.brief["options"]
    option = options[int(asked.rng("option").integers(len(options)))]
    facts = {"option": quoted(option), "question": quoted(asked.view.brief["question"])}
    grounds = [m.Ground(text=sentence(asked.voice.say(PHRASES["asked"], **facts)))]
    if work := of_work(asked):
        text = sentence(asked.voice.say(PHRASES["work"], part=work))
        grounds.append(m.Ground(text=text, evidence_ref=asked.view.obligation.may_see.content_ref))
    text = sentence(asked.voice.say(PHRASES["claim"], **facts))
    return Reply(m.Claim(option=option, claim=text, grounds=tuple(grounds)))


def reply(asked: Answering) -> Reply:
    """Reply to the objections that have no reply yet, to most of them at least."""
    brief, rng = asked.view.brief, asked.rng("replies")
    said = []
    for number in brief["unanswered"]:
        chance = float(rng.random())
        if chance < CONCEDES:
            said.append(m.Reply(number=number, concede=True))
        elif chance < 1 - LEAVES_OUT:
            severity = brief["raised"][number - 1]
            answer = asked.voice.say(PHRASES[f"replies.{severity}"], option=quoted(brief["claimed"]))
            said.append(m.Reply(number=number, answer=sentence(answer)))
    return asked.filled(m.Replies, replies=tuple(said))
