"""Who answers what in a motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.answering import Answering
from moot.bots.minds.simulated.motion import advocate, critic, judge
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.motion import messages as m
from moot.protocols.motion.seats import ADVOCATE, JUDGE
from moot.protocols.research.seats import CRITIC

ANSWERS: Final[Mapping[tuple[Seat, type[Message]], Callable[[Answering], Reply]]] = {
    (ADVOCATE, m.Claim): advocate.claim,
    (ADVOCATE, m.Replies): advocate.reply,
    (CRITIC, m.Objections): critic.object_to,
    (JUDGE, m.Judgment): judge.judge,
}
