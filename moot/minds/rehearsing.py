"""Where a mind is rehearsed: a simulated society, motions, runs of the Arena, a panel (`moot minds check`)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final

from moot.bots.minds.generic import GenericMind, filled
from moot.bots.minds.mind import Mind as BotMind
from moot.bots.minds.mind import Reply, View
from moot.bots.minds.simulated.arena.writer import SimulatedWriter
from moot.bots.minds.simulated.motion.debater import SimulatedDebater
from moot.bots.minds.simulated.panel.writer import SimulatedPanelWriter
from moot.bots.minds.simulated.temper import RELIABLE
from moot.bots.seats.arena import ArenaMind
from moot.bots.seats.panel import PanelMind
from moot.bots.seats.panel_prompts import Prompt
from moot.bots.seats.sessions import SessionStore
from moot.bots.seats.writer import Work, Writer
from moot.bots.tools.seeding import generator
from moot.channels.errors import Refused
from moot.channels.showing.wording import an
from moot.clock import VirtualClock
from moot.config.contracts import load_contract
from moot.config.settings import load_settings
from moot.memory.evidence import InMemoryEvidence, text_of
from moot.minds.choosing import Chosen
from moot.minds.rehearsal import Rehearsal, Understudied
from moot.minds.seated import OwnMinds, SeatedMind, own_view, text_of_reply
from moot.plan import Plan
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.arena.seats import ARENA
from moot.protocols.arena.verdict import parse_verdict
from moot.protocols.escalation.case import KIND as ESCALATION
from moot.protocols.kernel.envelope import BOT, Draft, Envelope
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.kernel.seats import ADMIN, OFFICERS, PEOPLE, Seat
from moot.protocols.motion.messages import Motion
from moot.protocols.motion.rights import PLACE
from moot.protocols.panel.contract import as_json, prepared
from moot.protocols.panel.messages import Lint, PanelAborted, PanelOpened
from moot.protocols.panel.rights import PLACE as PANEL_PLACE
from moot.protocols.panel.seats import PANEL, SYNTHESIZER
from moot.protocols.research.seats import EVOLVER, SYSTEM_A
from moot.protocols.rulebook import rulebook, rules
from moot.protocols.trading.seats import OPERATOR
from moot.seating import seats_of
from moot.simulation.durations import DEFAULT_START
from moot.society import Society
from moot.workshop import ASKER, START, workshop

QUESTIONS: Final = (
    ("Should we adopt a four-day week?", ()),
    ("Which of the three should come first?", ("tests", "types", "documentation")),
    ("Should every change wait for a second reader?", ()),
    ("Should a team of two keep minutes?", ()),
)
"""What is debated in a rehearsal, and the answers to choose from."""

TASK: Final = "Plan how a team of three moves to another office in a week."

WORK: Final = """# Reading aloud

## Abstract
Pupils who read aloud for ten minutes a day read 12 % faster after a term, 95 % confidence interval 4 % to 20 %.

## Methods
Two classes of 24 pupils each, drawn by lot; one read aloud, one in silence.

## Limitations
One school, one term.
"""

MAX_CASES: Final = 12
"""Number of cases that are opened of each kind of a protocol that is not Moot's own."""

Progress = Callable[[float, str], None]


def rehearse(
    seat: Seat, chosen: Chosen, *, days: float = 6.0, seed: int = 1, progress: Progress | None = None
) -> Rehearsal:
    """Ask a mind for everything that its seat owes, and judge what it answers.

    Args:
        seat: Where it sits.
        chosen: The mind.
        days: How long the society lives that asks a seat of it; the weekly debates are on the sixth day.
        seed: Seeds everybody else.
        progress: Called with the share done, in [0, 1], and where the rehearsal is.
    """
    found = Rehearsal(chosen.name, seat)
    if seat in ARENA:
        VirtualClock(START).run(partial(_in_the_arena, seat, chosen, seed, found))
    elif seat in PANEL:
        VirtualClock(START).run(partial(_on_a_panel, seat, chosen, seed, found))
    else:
        owed = steps_of(seat)
        if any(case == "motion" for case, _ in owed):
            VirtualClock(START).run(partial(_in_motions, seat, chosen, seed, found))
        if any(case != "motion" for case, _ in owed):
            _in_a_society(seat, chosen, days, seed, found, progress)
        found.missed = [f"{case} {step}" for case, step in owed if (case, step) not in found.steps]
    return found


def steps_of(seat: Seat) -> list[tuple[str, str]]:
    """Return what a seat may owe, as (kind of case, step); steps that several seats may owe are left out."""
    return [
        (kind, name)
        for kind, machine in rules().types.items()
        for name, step in getattr(machine, "steps", {}).items()
        if not callable(step.seat) and step.seat == seat
    ]


async def _in_motions(seat: Seat, chosen: Chosen, seed: int, found: Rehearsal, clock: VirtualClock) -> None:
    """Have questions debated by simulated minds."""
    evidence = InMemoryEvidence()
    owed = {name for case, name in steps_of(seat) if case == "motion"}
    assert owed
    with closing(OwnMinds({seat: chosen}, clock, seed)) as own:
        understudy = own.mind(seat)
        assert understudy is not None
        debater = SimulatedDebater(seed, RELIABLE)
        tried = Understudied(debater, understudy, found)
        minds: dict[Seat, Any] = dict.fromkeys((Seat("advocate"), Seat("critic"), Seat("judge")), debater)
        minds[seat] = tried
        async with workshop(clock, minds, seed=seed, contents=partial(text_of, evidence)) as shop:
            tried.host = shop.host
            await shop.hold(
                [
                    Draft(PLACE, ADMIN, Motion(question=one, options=answers), ASKER, key=f"motion-{n}")
                    for n, (one, answers) in enumerate(QUESTIONS, 1)
                ]
            )


def _in_a_society(
    seat: Seat, chosen: Chosen, days: float, seed: int, found: Rehearsal, progress: Progress | None
) -> None:
    """Let a society live, in which the seat's simulated mind acts."""
    say = "advisory" if seat in (EVOLVER, OPERATOR) else "off"
    panel = {"enabled": say != "off", "promotions": say, "architecture": say}
    desk = {"enabled": seat not in SYSTEM_A or seat == EVOLVER}
    added = next((one for one in _added() if any(info.seat == seat for info in one.seats)), None)
    openers = [] if added is None else _openers(added)
    if added is not None:
        desk = {"enabled": added.switch == "desk"}
    off: dict[str, Any] = {"schedules": {}} if openers else {}
    settings = load_settings(minds={}, panel=panel, desk=desk, arena={"enabled": seat == EVOLVER}, **off)
    plan = Plan(
        settings=settings, seed=seed, start=DEFAULT_START, society_id="rehearsal", is_admin_simulated=True
    )
    if seat not in seats_of(settings):
        return
    length = timedelta(days=days)

    async def main(clock: VirtualClock) -> None:
        society = await Society.open(plan, clock)
        async with society:
            with closing(OwnMinds({seat: chosen}, clock, seed)) as own:
                understudy, bot = own.mind(seat), society.host.bot(seat)
                assert understudy is not None
                bot.mind = tried = Understudied(bot.mind, understudy, found)
                tried.host = society.host
                if progress is not None:
                    tell = progress
                    society.host.listeners.append(
                        lambda env, _fx: tell(
                            min((env.sent_at - DEFAULT_START) / length, 1.0), str(env.sent_at)[:10]
                        )
                    )
                if openers:
                    await _open_cases(society, openers, seed, length)
                await society.run_until(DEFAULT_START + length)

    VirtualClock(DEFAULT_START).run(main)


def _added() -> list[Protocol]:
    book = rulebook()
    return [one for one in book.protocols if one.name in book.added]


def _openers(added: Protocol) -> list[tuple[type[Message], Seat, str]]:
    """Return what opens cases of a protocol without a parent: the message, who posts it, and where."""
    found: list[tuple[type[Message], Seat, str]] = []
    for row in added.rights:
        kind = next((one for one in added.messages if one.model_fields["type"].default == row.type), None)
        if kind is None or not any(kind in machine.start for machine in added.cases):
            continue
        writers = sorted(row.seats - OFFICERS, key=lambda one: (one != ADMIN, one not in PEOPLE, one))
        if writers and row.channels:
            found.append((kind, writers[0], min(row.channels)))
    return found


async def _open_cases(
    society: Society, openers: list[tuple[type[Message], Seat, str]], seed: int, length: timedelta
) -> None:
    """Open cases at equal intervals, filled by chance within their schema; people answer what they owe likewise."""
    host, clock = society.host, society.clock
    generic = GenericMind(seed, rulebook().messages)
    admin = host.bot(ADMIN)
    admin.mind = _Person(admin.mind, generic)
    for n in range(1, MAX_CASES + 1):
        for kind, author, channel in openers:
            name = str(kind.model_fields["type"].default)
            own = kind.case_field if name not in rulebook().minted else ""
            rng = generator("rehearsal", seed, name, n)
            body = filled(kind, {own: f"{name.lower()}_{n}"} if own else {}, rng, clock.now())
            draft = Draft(
                channel,
                author,
                body,
                ASKER if author in PEOPLE else BOT,
                getattr(body, own) if own else None,
                key=f"rehearsal/{name}/{n}",
            )
            with suppress(Refused):  # one that opens within another case, say
                await host.publish(draft)
        await society.run_until(DEFAULT_START + length * n / (MAX_CASES + 1))


class _Person(BotMind):
    """Answers escalations as the simulated admin does, and other duties of people by chance."""

    def __init__(self, admin: BotMind, generic: GenericMind) -> None:
        self._admin = admin
        self._generic = generic

    def consider(self, view: View) -> timedelta | None:
        return (self._admin if view.kind == ESCALATION else self._generic).consider(view)

    async def answer(self, view: View) -> Reply | None:
        return await (self._admin if view.kind == ESCALATION else self._generic).answer(view)


class _Rehearsed:
    """What a mind writes for a seat whose shell makes the messages; a simulated writer steps in when it is silent."""

    def __init__(self, mind: SeatedMind, found: Rehearsal) -> None:
        """Take the mind."""
        self._mind = mind
        self._found = found

    async def text(self, view: View) -> str | None:
        """Return what the mind writes, and note it."""
        view = own_view(view)
        tried = self._found.step(view.kind, view.asked[0].lower(), view.asked)
        reply, why = await self._mind.attempt(view)
        text = None if reply is None else text_of_reply(reply, view)
        if reply is None and self._mind.is_deliberate(why):
            tried.silent += 1
        elif text is None:
            tried.wrong[why or f"gave {an(reply.body.type) if reply else ''}, which is not asked for"] += 1
        elif view.asked == ("REVIEW",) and parse_verdict(text).verdict is None:
            tried.wrong["REVIEW.text: no line VERDICT: APPROVED or VERDICT: REVISE [7.3]"] += 1
        else:
            tried.right += 1
        return text


class _ArenaWriter(SimulatedWriter):
    rehearsed: _Rehearsed

    async def write(self, work: Work) -> str:
        text = await self.rehearsed.text(work.view)
        return await super().write(work) if text is None else text


class _PanelWriter(SimulatedPanelWriter):
    rehearsed: _Rehearsed

    async def write(self, view: View, prompt: Prompt) -> str:
        text = await self.rehearsed.text(view)
        return await super().write(view, prompt) if text is None else text


async def _in_the_arena(seat: Seat, chosen: Chosen, seed: int, found: Rehearsal, clock: VirtualClock) -> None:
    """Hold runs in which the mind's words count: some that may be approved, one that is capped after a round."""
    sessions = SessionStore()
    with closing(OwnMinds({seat: chosen}, clock, seed)) as own:
        mind = own.mind(seat)
        assert mind is not None
        writer = _ArenaWriter(seed, RELIABLE)
        writer.rehearsed = _Rehearsed(mind, found)
        writers: dict[Seat, Writer] = {one: SimulatedWriter(seed, RELIABLE) for one in ARENA}
        writers[seat] = writer
        minds = {one: ArenaMind(writers[one], lambda _view: None, sessions) for one in ARENA}
        async with workshop(clock, minds, seed=seed) as shop:
            await shop.hold([_task(n, rounds) for n, rounds in enumerate((5, 5, 1), 1)])


def _task(n: int, max_rounds: int) -> Draft:
    body = ArenaTask(
        config={"notebook_enabled": False, "max_rounds": max_rounds},
        task={"task_id": f"rehearsal-{n}", "initial_prompt": TASK, "session_id": f"rehearsal-{n}"},
    )
    return Draft("#r-arena", ADMIN, body, ASKER, key=f"run-{n}")


async def _on_a_panel(seat: Seat, chosen: Chosen, seed: int, found: Rehearsal, clock: VirtualClock) -> None:
    """Hold a panel of five in which the mind's words count; its lint says what is wrong with them."""
    evidence = InMemoryEvidence()

    def lint(env: Envelope, _fx: object) -> None:
        body, kind, why = env.body, "", ""
        if isinstance(body, Lint) and body.role == seat and not body.is_passed:
            kind, why = f"phase{body.phase}", "; ".join(body.findings)
        elif isinstance(body, PanelAborted) and seat == SYNTHESIZER:
            kind, why = "synthesis", body.why
        if why and (tried := found.steps.get(("panel", kind))) is not None:
            tried.right -= 1
            tried.wrong[f"{kind.upper()}.text: {why}"] += 1

    with closing(OwnMinds({seat: chosen}, clock, seed)) as own:
        mind = own.mind(seat)
        assert mind is not None
        writer = _PanelWriter(seed, RELIABLE)
        writer.rehearsed = _Rehearsed(mind, found)
        minds = {
            one: PanelMind(writer if one == seat else SimulatedPanelWriter(seed, RELIABLE)) for one in PANEL
        }
        async with workshop(clock, minds, seed=seed, contents=partial(text_of, evidence)) as shop:
            shop.host.listeners.append(lint)
            body = PanelOpened(
                contract=as_json(prepared(load_contract("full"), START)),
                title="Reading aloud",
                field="education",
                word_count=len(WORK.split()),
                content_ref=evidence.put("paper", {"text": WORK}),
            )
            await shop.hold([Draft(PANEL_PLACE, ADMIN, body, ASKER, key="panel-1")])
