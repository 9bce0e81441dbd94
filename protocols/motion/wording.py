"""How the messages of motions read: one template a type. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.templates` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDING: Final[Mapping[str, str]] = {
    "MOTION": "asks {motion_id}: {question}[ ({options})]",
    "CLAIM": "claims on {motion_id}: {option}. {claim}[ Grounds: {grounds|each:text}]",
    "OBJECTIONS": "raises {objections|count:objection} in round {round} of {motion_id}, confidence {confidence}"
    "[: {objections|each:number severity text}]",
    "REPLIES": "replies to {replies|count:objection} in round {round} of {motion_id}"
    "[: {replies|each:number concede=conceded answer}]",
    "EXTEND_MOTION": "extends the debate of {motion_id} by a round, for {for_score}, against {against_score}: "
    "{reason}",
    "JUDGMENT": "judges {motion_id} {outcome|words}[, {option}], confidence {confidence}, for {for_score}, "
    "against {against_score}[, standing {standing}]: {reasoning}",
}

DUTIES: Final[Mapping[str, str]] = {
    "conclusion": "judgment after the third round",
    "objections": "objections of round {n}",
    "replies": "replies of round {n}",
}
"""What steps are called; `{n}` is the number behind their name."""
