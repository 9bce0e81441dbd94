"""The Critic of motions: numbered objections, their number and weight by seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.answering import Answering
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.wording import quoted, sentence
from moot.protocols.motion import messages as m

PHRASES: Final = Phrases("motion/critic")

HOW_MANY: Final[Mapping[int, tuple[float, ...]]] = {
    1: (0.1, 0.3, 0.4, 0.2),
    2: (0.35, 0.4, 0.25),
    3: (0.35, 0.45, 0.2),
}
"""How often a round brings no, one, two or three objections."""

SEVERITIES: Final[Mapping[m.Severity, float]] = {"minor": 0.5, "major": 0.38, "fatal": 0.12}
"""How often an objection is how severe."""


def object_to(asked: Answering) -> Reply:
    """Object to the claim."""
    brief, rng = asked.view.brief, asked.rng("objections")
    chances = HOW_MANY[brief["round"]]
    option, said = quoted(brief["claimed"]), _said(asked)
    found = []
    for n in range(int(rng.choice(len(chances), p=chances))):
        severity = tuple(SEVERITIES)[int(rng.choice(len(SEVERITIES), p=tuple(SEVERITIES.values())))]
        texts = [sentence(one.format(option=option)) for one in PHRASES[f"objections.{severity}"]]
        text = asked.voice.pick([one for one in texts if one not in said] or texts)
        found.append(m.Objection(number=brief["next_number"] + n, text=text, severity=severity))
    confidence = round(float(rng.uniform(0.4, 0.9)), 2)
    return asked.filled(m.Objections, objections=tuple(found), confidence=confidence)


def _said(asked: Answering) -> frozenset[str]:
    """Return what was objected in earlier rounds: a round brings something new while there is something."""
    earlier = (env.body for env in asked.view.transcript if isinstance(env.body, m.Objections))
    return frozenset(one.text for body in earlier for one in body.objections)
