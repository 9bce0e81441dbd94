"""Puts an explanation together from a story: who decided, objected, was asked, and what followed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from moot.channels.showing.rendering import predicate, speaker
from moot.channels.showing.wording import clean, decided, derived
from moot.explaining.explanation import (
    ESCALATED,
    Applied,
    Decision,
    Explanation,
    Held,
    Link,
    Objection,
    Row,
    Said,
)
from moot.explaining.finding import NAMING, Story, story_of
from moot.explaining.index import Opener
from moot.explaining.rows import machines_of, rows_of
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.grounds import Decides, found
from moot.protocols.kernel.seats import OFFICERS
from moot.protocols.kernel.steps import ENDED
from moot.protocols.kernel.upcast import Opaque
from moot.protocols.rulebook import rulebook

VOID = "void"
"""The outcome of a ruling that decides nothing but that nobody waits any longer."""

FLAWED = "VIOLATION"


def explain(log: Opener, given: str) -> Explanation:
    """Explain what an id of a log stands for; see `moot.explaining.finding.story_of` for ids and errors."""
    return _Telling(story_of(log, given)).explanation()


class _Telling:
    """A story that is being told."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.who = story.index.who
        every = (*story.own, *story.named, *(env for said in story.others.values() for env in said))
        self.flaws: Mapping[int, str] = {
            env.body.of_seq: derived(env.body.why)  # type: ignore[attr-defined]
            for env in every
            if env.body.type == FLAWED
        }

    def explanation(self) -> Explanation:
        story = self.story
        own, on = story.own, story.decided_on()
        decisions = self.decisions(own)
        last = max((one.said.seq for one in decisions if not one.broke), default=0)
        counted = {one.said.seq for one in decisions}
        asked = [(case_id, said) for case_id, said in story.others.items() if said[0].body.type == ESCALATED]
        people = [env for env in (*own, *story.named) if env.actor.kind == "human"]
        people += [env for _, said in asked for env in said if env.actor.kind == "human"]
        return Explanation(
            id=story.id,
            kind=self.kind(),
            case_id=story.case_id,
            came_to=came_to(decisions),
            about=tuple(map(self.said, story.focus)),
            opened=self.said(own[0]),
            decisions=decisions,
            objections=tuple(self.objections(env for said in (own, *on.values()) for env in said)),
            people=tuple(self.heard(env) for _, env in sorted({env.seq: env for env in people}.items())),
            asked=tuple(self.link(case_id, said) for case_id, said in asked),
            followed=tuple(
                self.said(env)
                for env in own
                if env.seq > last > 0
                and env.seq not in counted
                and env.author not in OFFICERS
                and env.actor.kind != "human"
            ),
            links=tuple(self.links(asked)),
            is_foreign=is_foreign(own[0]),
        )

    def kind(self) -> str:
        story = self.story
        if story.case_id is None:
            return "Message" if story.focus else "Strategy"
        return kind_of(story.own)

    def said(self, env: Envelope) -> Said:
        return Said(
            env.seq,
            env.sent_at,
            speaker(env, self.who),
            predicate(env, self.who),
            env.body.type,
            env.case_id,
        )

    def heard(self, env: Envelope) -> Said:
        """Tell what a person said, with why it counts for nothing where it does."""
        said = self.said(env)
        why = self.flaws.get(env.seq)
        return replace(said, text=f"{said.text}; it counts for nothing: {why}") if why else said

    def decisions(self, said: Sequence[Envelope]) -> tuple[Decision, ...]:
        grounds = rulebook().grounds
        rows: Mapping[int, Row] = {}
        if said[0].case_id is not None and len({env.case_id for env in said}) == 1:
            machines = machines_of(said)
            in_effect = [env for env in said if env.seq not in self.flaws]
            rows = rows_of(machines[0], in_effect) if len(machines) == 1 and in_effect else {}
        opens = {said[0].seq for said in self.story.others.values()} if self.story.case_id is None else set()
        chosen = [env for env in said if env.body.type in grounds.decides and env.seq not in opens]
        decided = tuple(self.decision(env, said, rows.get(env.seq)) for env in chosen)
        if came_to(decided):
            return decided
        # Where nothing that the grounds name decided a case, what ended it did.
        more = (env for env in said if env.seq in rows and ends(rows[env.seq]) and env not in chosen)
        return (*decided, *(self.decision(env, said, rows[env.seq]) for env in more))

    def decision(self, env: Envelope, said: Sequence[Envelope], row: Row | None) -> Decision:
        kind, body, grounds = env.body.type, env.body, rulebook().grounds
        by = grounds.decides.get(kind, Decides(""))
        what = next(iter(found(body, by.what)), kind) if by.what else ENDED
        return Decision(
            said=self.said(env),
            what=decided(str(what)),
            why=tuple(derived(str(text)) for path in by.why for text in found(body, path) if text),
            held=held(body),
            applied=self.applied(env, said),
            row=row,
            broke=self.flaws.get(env.seq, ""),
        )

    def applied(self, env: Envelope, said: Sequence[Envelope]) -> Applied | None:
        table = rulebook().grounds.tables.get(env.body.type)
        if table is None:
            return None
        before = [one.body for one in said if one.seq < env.seq and one.seq not in self.flaws]
        on = table.on([*before, env.body], env.body)
        return None if on is None else Applied(table.title, table.head, table.rows, on)

    def objections(self, said: Iterable[Envelope]) -> Iterable[Objection]:
        objects = rulebook().grounds.objects
        for env in sorted({env.seq: env for env in said}.values(), key=lambda env: env.seq):
            if env.body.type in objects and env.seq not in self.flaws:
                texts = objects[env.body.type](env.body)
                if texts:
                    told = self.said(env)
                    left = (text for text in texts if clean(text).rstrip(".") not in told.text)
                    yield Objection(told, tuple(left))

    def links(self, asked: Sequence[tuple[str, Sequence[Envelope]]]) -> Iterable[Link]:
        """Yield things that outlive the case, the other cases in order, and the frames that it stood in."""
        story = self.story
        left_out = {story.id, story.case_id, *(case_id for case_id, _ in asked)}
        known: dict[str, Link] = {}
        for env in story.own:
            for name, value in env.body.model_dump().items():
                label = NAMING.get(name, "")
                if label and is_foreign(env):
                    label = name.removesuffix("_id").replace("_", " ")
                if label and isinstance(value, str) and value and value not in left_out:
                    known.setdefault(value, Link(value, label, "", env.seq))
        for case_id, said in story.others.items():
            if case_id not in left_out:
                known[case_id] = self.link(case_id, said)
        yield from sorted(known.values(), key=lambda one: (self.distance(one), one.seq))

    def distance(self, one: Link) -> int:
        """Say how far something is from the story: subject, decisions on it, trades, descendants, frames."""
        opener = self.story.others.get(one.id, [None])[0]
        if opener is None:
            return 4 if one.id in self.story.index.cases else 0
        if opener.body.type == "SIGNAL":
            return 2
        return 3 if getattr(opener.body, "parent_strategy_id", None) else 1

    def link(self, case_id: str, said: Sequence[Envelope]) -> Link:
        return Link(case_id, kind_of(said).lower(), came_to(self.decisions(said)), said[0].seq)


def is_foreign(env: Envelope) -> bool:
    """Return whether a message is of a protocol that is not Moot's own."""
    book = rulebook()
    return isinstance(env.body, Opaque) or any(
        type(env.body) in one.messages for one in book.protocols if one.name in book.added
    )


def kind_of(said: Sequence[Envelope]) -> str:
    """Name the kind of a case by its messages."""
    return next((machine.shown for machine in machines_of(said)), "Case")


def came_to(decisions: Sequence[Decision]) -> str:
    """Say in a few words what was decided, in order: "revise → reject"."""
    said = [one.what for one in decisions if not one.broke and one.what != VOID]
    told = [what for n, what in enumerate(said) if n == 0 or what != said[n - 1]]
    if not told and any(ends(one.row) for one in decisions if one.row is not None):
        return ENDED
    return " → ".join(told[-4:])


def ends(row: Row) -> bool:
    """Say whether a row ends its case."""
    return row.leads_to == (ENDED,)


def held(body: object) -> tuple[Held, ...]:
    """Return the figures of a message with the limits that they are held against."""
    bars = rulebook().grounds.bars.get(getattr(body, "type", ""), ())
    return tuple(
        Held(bar.name, bar.value(body), bar.relation, bar.bound(body), bar.purpose, bar.rule, bar.holds(body))
        for bar in bars
        if bar.applies(body) and bar.value(body) is not None and bar.bound(body) is not None
    )
