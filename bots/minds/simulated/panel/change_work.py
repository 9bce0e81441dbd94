"""An approved change as a panel is to judge it: proposal, debate and notes, and what the week's records say of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from moot.bots.minds.simulated.debate.needs import Need, causes, idea_of, need_of
from moot.bots.minds.simulated.turn import Turn
from moot.bots.minds.simulated.wording import paragraph, percent, sentence, worded
from moot.protocols.kernel.figures import SECOND_AUDIT
from moot.protocols.research.messages import ArchitectureCritique, ArchitectureProposal, ArchitectureRebuttal

TRIED_FOR: Final = timedelta(days=28)
"""After so long a change is looked at."""


def change_work(turn: Turn) -> str:
    """Write what a panel is to judge of the change in question: Markdown."""
    change_id, description, notes = turn.view.brief["change"]
    idea, counts = idea_of(description), causes(turn)
    need = need_of(idea, counts)
    trials = counts["trials"]
    sections = {
        "Problem": _problem(need, trials, turn.view.rules_version),
        "Change": (sentence(description), *_proposed(turn, change_id), sentence(f"it is made so: {notes}")),
        "What stays unchanged": (
            paragraph(
                "limits of risk, rights to post and duties to answer stay as they are",
                "it touches no single strategy, and none of its parameters",
            ),
        ),
        "Outcome": _outcome(turn, need, trials),
        "Way back": (
            paragraph(
                "the Evolver undoes it within one weekly cycle, when the figure above has not fallen by that day",
                "a week in which more cycles end in a timeout than before undoes it at once",
            ),
        ),
        "Debate": tuple(_debate(turn, change_id)),
    }
    parts = [f"# {description}"]
    for title, said in sections.items():
        if said:
            parts += [f"## {title}", *said]
    return "\n\n".join(parts) + "\n"


def _problem(need: Need, trials: int, version: int) -> tuple[str, ...]:
    if not need.count:
        return (sentence(f"none of the {trials} trials of the past week asks for it in the records"),)
    facts = {"trials": str(trials), "count": str(need.count), "reason": need.reason}
    has_singulars = version >= SECOND_AUDIT
    return (
        paragraph(
            worded("the records of the past week hold {trials} trial[s]", facts, has_singulars=has_singulars),
            worded(
                "{count} of {trials} case[s] [were|was|count] lost to {reason}",
                facts,
                has_singulars=has_singulars,
            ),
            f"all records that ask for this change make up {percent(need.share)} of the week's trials",
        ),
    )


def _outcome(turn: Turn, need: Need, trials: int) -> tuple[str, ...]:
    day = (turn.now + TRIED_FOR).date().isoformat()
    if not need.count or not trials:
        return (
            sentence(f"no figure of the past week would show what it brings; on {day} it is looked at again"),
        )
    share = need.count / trials
    return (
        paragraph(
            f"the share of trials lost to {need.reason} is {percent(share)} now",
            f"it is to fall below {percent(share / 2.0)} by {day}",
        ),
    )


def _proposed(turn: Turn, change_id: str) -> Iterator[str]:
    body = turn.transcript.last(ArchitectureProposal)
    for one in body.proposals if body is not None else ():
        if one.change_id == change_id:
            yield sentence(f"it is a change of the {one.scope}")
            yield sentence(f"what it should bring: {one.expected_benefit}")


def _debate(turn: Turn, change_id: str) -> Iterator[str]:
    for env in turn.view.transcript:
        body = env.body
        if isinstance(body, ArchitectureCritique):
            for one in body.critiques:
                if one.change_id == change_id:
                    yield f"Critic, round {body.round}: {' '.join(one.objections)}"
        elif isinstance(body, ArchitectureRebuttal):
            yield from (f"Explorer: {one.response}" for one in body.responses if one.change_id == change_id)
