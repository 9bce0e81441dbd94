"""The weekly architecture debate of the three seats: about the system, never about one strategy (spec 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.bots.minds.mind import Reply
from moot.bots.minds.simulated.debate.catalogue import IDEAS, Grade, Idea
from moot.bots.minds.simulated.debate.needs import Need, causes, idea_of, need_of, severity_of
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import sentence
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.research.messages import (
    ApprovedChange,
    ArchitectureCritique,
    ArchitectureProposal,
    ArchitectureRebuttal,
    ArchitectureVerdict,
    ChangeCritique,
    ChangeResponse,
    ProposedChange,
)
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER

PHRASES: Final = Phrases("debate/architecture")

GRAVE: Final[Mapping[Grade, str]] = {"low": "a minor one", "medium": "a fair one", "high": "a grave one"}
"""How an objection of a grade is called."""

MOST_PROPOSALS = 3
PRESSING = 0.08
"""Share of the week's trials that makes a need worth a second and a third proposal."""

CONVINCED = 0.25
"""Need below which a grave objection is not worth fighting."""

MOST_PROMPT = 18_000
"""Characters of a run's prompt; the log holds the debate."""

MOST_APPROVED = 2
"""More changes than this in one week wait for the next one."""


def propose(turn: Turn) -> Reply:
    """Propose one to three changes, those that the week asks for most and that nobody has decided yet."""
    counts = causes(turn)
    decided = {
        record.description for record in turn.view.memory.architecture() if record.status != "deferred"
    }
    open_ideas = [idea for idea in IDEAS if idea.description not in decided] or list(IDEAS)
    order = [open_ideas[int(i)] for i in turn.rng("ideas").permutation(len(open_ideas))]
    # Its author sees the need; what it costs is for the Critic to say.
    order.sort(key=lambda idea: -need_of(idea, counts).share)
    chosen = [order[0]]
    for idea in order[1:]:
        # Different parts of the system, so that the debate is not about one thing in three coats.
        is_new = idea.scope not in {one.scope for one in chosen}
        if len(chosen) < MOST_PROPOSALS and is_new and need_of(idea, counts).share >= PRESSING:
            chosen.append(idea)
    named: set[str] = set()
    proposals = []
    for idea in chosen:
        benefit = _benefit(turn, idea, need_of(idea, counts), counts["trials"], named)
        proposals.append(
            ProposedChange(scope=idea.scope, description=idea.description, expected_benefit=benefit)
        )
    return Reply(ArchitectureProposal(period=turn.view.brief["period"], proposals=tuple(proposals)))


def _benefit(turn: Turn, idea: Idea, need: Need, trials: int, named: set[str]) -> str:
    """Say what an idea brings and which of the week's records ask for it; records named before are not told again."""
    variants = PHRASES["benefit"] if need.reason not in named else PHRASES["benefit_too"]
    named.add(need.reason)
    if not need.count:
        variants = PHRASES["benefit_plain"]
    return sentence(turn.voice.say(variants, benefit=idea.benefit, trials=str(trials), **need.facts))


def critique(turn: Turn) -> Reply:
    """Challenge every proposal, in the second round after its answer."""
    counts, is_second = causes(turn), turn.round == "2"
    given = turn.transcript.last(ArchitectureRebuttal)
    responses = {one.change_id: one for one in given.responses} if given is not None else {}
    named: set[str] = set()
    critiques = []
    for change_id, description in turn.view.brief["changes"]:
        idea = idea_of(description)
        need = need_of(idea, counts)
        if is_second:
            critiques.append(_second(turn, change_id, idea, need, responses.get(change_id)))
        else:
            critiques.append(_first(turn, change_id, idea, need, named))
    body = ArchitectureCritique(
        period=turn.view.brief["period"], round=2 if is_second else 1, critiques=tuple(critiques)
    )
    return Reply(body)


def _first(turn: Turn, change_id: str, idea: Idea | None, need: Need, named: set[str]) -> ChangeCritique:
    voice = turn.voice
    said = [idea.objection if idea is not None else voice.say(PHRASES["other_objections"])]
    needed = PHRASES["needed_too"] if need.reason in named else PHRASES["needed"]
    said.append(voice.say(needed if need.share >= PRESSING else PHRASES["not_needed"], **need.facts))
    if need.share >= PRESSING:
        named.add(need.reason)
    if idea is not None and idea.effort == "high":
        said.append(voice.say(PHRASES["costly"], effort=idea.effort))
    said += [f"{note.who} asked to consider {note.quote}" for note in turn.notes]
    return ChangeCritique(
        change_id=change_id, objections=tuple(sentence(one) for one in said), severity=severity_of(idea, need)
    )


def _second(
    turn: Turn, change_id: str, idea: Idea | None, need: Need, response: ChangeResponse | None
) -> ChangeCritique:
    voice, severity = turn.voice, severity_of(idea, need)
    if response is None:
        said = voice.say(PHRASES["unanswered"])
    elif response.concede:
        said, severity = voice.say(PHRASES["withdrawn"]), "high"
    else:
        severity = "low" if severity == "medium" and need.share >= PRESSING else severity
        notes = idea.notes if idea is not None else voice.say(PHRASES["other_notes"])
        said = voice.say(PHRASES["answered"], notes=notes, severity=GRAVE[severity])
    return ChangeCritique(change_id=change_id, objections=(sentence(said),), severity=severity)


def rebut(turn: Turn) -> Reply:
    """Answer change by change; give up what costs much and answers little, or was put off before."""
    counts = causes(turn)
    before = {record.description for record in turn.view.memory.architecture(status="deferred")}
    critique_given = turn.transcript.last(ArchitectureCritique)
    severities = {one.change_id: one.severity for one in critique_given.critiques} if critique_given else {}
    named: set[str] = set()
    responses = []
    for change_id, description in turn.view.brief["changes"]:
        idea = idea_of(description)
        need = need_of(idea, counts)
        is_weak = need.share < CONVINCED or description in before
        concede = severities.get(change_id) == "high" and is_weak
        responses.append(
            ChangeResponse(
                change_id=change_id, response=_response(turn, idea, need, concede, named), concede=concede
            )
        )
    return Reply(ArchitectureRebuttal(period=turn.view.brief["period"], responses=tuple(responses)))


def _response(turn: Turn, idea: Idea | None, need: Need, concede: bool, named: set[str]) -> str:
    voice = turn.voice
    objection = idea.objection if idea is not None else "its use cannot be measured"
    if concede:
        return sentence(voice.say(PHRASES["concede"], objection=objection, **need.facts))
    defence = idea.defence if idea is not None else voice.say(PHRASES["other_defence"])
    is_news = need.share >= PRESSING and need.reason not in named
    named.add(need.reason)
    variants = PHRASES["defend"] if is_news else PHRASES["defend_plain"]
    return sentence(voice.say(variants, defence=defence, **need.facts))


def decide(turn: Turn) -> Reply:
    """Approve, defer or reject every proposal once; nothing is approved without a critique (R-D16)."""
    counts, brief = causes(turn), turn.view.brief
    given = turn.transcript.last(ArchitectureCritique)
    severities = {one.change_id: one.severity for one in given.critiques} if given is not None else {}
    answered = turn.transcript.last(ArchitectureRebuttal)
    conceded = {one.change_id for one in answered.responses if one.concede} if answered is not None else set()
    changes = [(change_id, text, idea_of(text)) for change_id, text in brief["changes"]]
    changes.sort(key=lambda change: -need_of(change[2], counts).share)
    approved: list[ApprovedChange] = []
    deferred, rejected = [], []
    for change_id, text, idea in changes:
        need, severity = need_of(idea, counts), severities.get(change_id, "medium")
        if change_id in conceded or (severity == "high" and need.share < CONVINCED):
            rejected.append(change_id)
        elif brief["is_critiqued"] and severity == "low" and len(approved) < MOST_APPROVED:
            approved.append(_approved(turn, change_id, text, idea, need))
        else:
            deferred.append(change_id)
    return Reply(
        ArchitectureVerdict(
            period=brief["period"],
            proposals_evaluated=len(changes),
            approved_changes=tuple(approved),
            deferred=tuple(deferred),
            rejected=tuple(rejected),
        )
    )


def _approved(turn: Turn, change_id: str, text: str, idea: Idea | None, need: Need) -> ApprovedChange:
    priority: Grade = "high" if need.share >= 0.4 else "medium" if need.share >= 0.2 else "low"
    return ApprovedChange(
        change_id=change_id,
        description=text,
        priority=priority,
        implementation_notes=sentence(
            idea.notes if idea is not None else turn.voice.say(PHRASES["other_notes"])
        ),
        assigned_to=idea.assigned_to if idea is not None else "evolver",
    )


def refine(turn: Turn) -> Reply:
    """Open a run of the Arena that refines the notes of an approved change, with what the debate said about it."""
    brief = turn.view.brief
    change_id, description, notes = brief["change"]
    notebook = brief["notebook"]
    session_id = f"{turn.case_id}/{change_id}"
    task = {
        "task_id": change_id,
        "initial_prompt": _prompt(turn, change_id, description, notes),
        "session_id": session_id,
    }
    body = ArenaTask(
        parent_id=turn.case_id,
        config={"notebook_enabled": notebook is not None},
        task=task,
        notebook=notebook,
    )
    return Reply(body)


def _prompt(turn: Turn, change_id: str, description: str, notes: str) -> str:
    said = [f"Refine the implementation notes of {change_id}: {description}", f"Notes so far: {notes}"]
    for env in turn.view.transcript:
        body = env.body
        if isinstance(body, ArchitectureCritique):
            objections = [
                text for one in body.critiques if one.change_id == change_id for text in one.objections
            ]
            said += [f"Objection of round {body.round}: {text}" for text in objections]
        elif isinstance(body, ArchitectureRebuttal):
            said += [f"Answer: {one.response}" for one in body.responses if one.change_id == change_id]
    if (panel := turn.view.brief.get("panel")) is not None:
        said.append(f"A panel judged it: {panel['decision'] or 'no decision'} {panel['why']}".rstrip())
    return "\n".join(said)[:MOST_PROMPT]


ANSWERS: Final[Answers] = {
    (EXPLORER, ArchitectureProposal): propose,
    (CRITIC, ArchitectureCritique): critique,
    (EXPLORER, ArchitectureRebuttal): rebut,
    (EVOLVER, ArchitectureVerdict): decide,
    (EVOLVER, ArenaTask): refine,
}
