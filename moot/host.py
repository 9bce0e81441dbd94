"""The host: the one dispatcher of a process; append, docket, memory, wake, in seq order (K13)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

import structlog

from moot.bots.bot import Bot
from moot.bots.minds.mind import View
from moot.bots.officers.duty_runner import DutyRunner
from moot.bots.officers.referee import RefusalAudit
from moot.channels.bus import Bus, Receipt
from moot.channels.errors import BusClosed, Refused, StorageError
from moot.clock import Clock
from moot.folding import Folding
from moot.memory.inmemory import InMemoryStore
from moot.memory.store import Store
from moot.outage import Outage
from moot.protocols.escalation.case import EscalationState
from moot.protocols.kernel import rule_faults
from moot.protocols.kernel.deadlines import first_instant
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import BOT, Actor, Draft, Envelope
from moot.protocols.kernel.errors import Forbidden, Malformed
from moot.protocols.kernel.message import Message, changed
from moot.protocols.kernel.minds import STAND_IN
from moot.protocols.kernel.obligation import EVERYTHING, Obligation
from moot.protocols.kernel.officers import MIND_FAILED, ClockSet
from moot.protocols.kernel.people import SeatReleased, SeatTaken
from moot.protocols.kernel.rule_faults import RuleFault
from moot.protocols.kernel.rules import Gate, Rules
from moot.protocols.kernel.seats import ADMIN, OFFICERS, PEOPLE, Seat
from moot.protocols.rulebook import rulebook
from moot.seeing import may_see

NO_TIME: Final = timedelta(0)

SIMULATED_ADMIN: Final = Actor("human", "simulated", "admin")

NOTHING_REMEMBERED: Final = InMemoryStore().read()

Contents = Callable[[str], str]
"""Gives the text that is kept as evidence under a reference; "" when there is none."""

Listener = Callable[[Envelope, Effects], None]

_log = structlog.get_logger("moot.host")


class Host(Folding):
    """Folds every envelope once, wakes the bots, and is their port (K12, K13).

    Attributes:
        contents: Reads works that are kept as evidence, for obligations that may see them.
        fault: What stopped the host, None while it runs (K5).
        outage: Holds publishers up while the disk takes nothing; None: they get its error.
    """

    def __init__(self, *, rules: Rules, gate: Gate, bus: Bus, store: Store, clock: Clock) -> None:
        """Assemble a host; `catch_up` what the log holds, then `attach` it to the bus."""
        super().__init__(rules=rules, gate=gate, store=store)
        self.bus = bus
        self.clock = clock
        self.fault: Exception | None = None
        self.listeners: list[Listener] = []
        self.on_fault: Callable[[Exception], None] | None = None
        self.duty_runner: DutyRunner | None = None
        self.outage: Outage | None = None
        self._bots: dict[Seat, Bot] = {}
        self._audit = RefusalAudit()
        self._under_way: dict[str, Draft] = {}
        self.contents: Contents = _nothing

    def attach(self) -> None:
        """Fold from now on whatever the bus appends; the bus's end is the host's (K5)."""
        rule_faults.on_faulted(_note_fault)
        self.bus.on_append = self.on_append
        self.bus.on_fault = self._fail

    def on_append(self, env: Envelope) -> None:
        """Fold one envelope and wake whom it concerns.

        Raises:
            OfficerFault: An officer's message differs from the tables; as on any fault there the host stops (K5).
        """
        try:
            fx = self.docket.fold(env)
        except Exception as fault:
            # Whatever it is, docket and log differ from here on: the bus ends of it, and tells `_fail`.
            _log.error("the host stops", seq=env.seq, case_id=env.case_id, error=str(fault))
            raise
        self.store.apply(env, fx.is_in_effect)
        self._keep(env, fx)
        if self._under_way:
            self._under_way.pop(env.id, None)
        body = env.body
        if type(body) is ClockSet and body.held_s:
            self.clock.catch_up(body.held)
        if fx.violation is not None:
            _log.info(
                "violation", seq=env.seq, case_id=env.case_id, rule=fx.violation.rule, why=fx.violation.why
            )
        self._wake(env, fx)
        for listener in self.listeners:
            try:
                listener(env, fx)
            except Exception as exc:
                if not self.docket.is_added(env):
                    raise
                # What shows a message of a foreign protocol may run that protocol's code (R-G14).
                _log.error(
                    "a listener failed", seq=env.seq, type=env.body.type, error=f"{type(exc).__name__}: {exc}"
                )

    def _fail(self, fault: Exception) -> None:
        self.fault = fault
        # Whoever runs the society is told by the fault itself.
        _log.info("the bus stopped", seq=self.bus.head.seq, why=str(fault))
        if self.on_fault is not None:
            self.on_fault(fault)

    def _wake(self, env: Envelope, fx: Effects) -> None:
        bots = self._bots
        holders = self.docket.context.holders
        for obligation in fx.closed:
            if (bot := bots.get(obligation.seat)) is not None:
                bot.closed(obligation)
        for obligation in fx.opened:
            if obligation.seat not in holders and (bot := bots.get(obligation.seat)) is not None:
                bot.opened(obligation)
        retried = fx.retried
        if retried is not None and retried.seat in bots and retried.seat not in holders:
            bots[retried.seat].opened(retried)
        body = env.body
        if (type(body) is SeatTaken or type(body) is SeatReleased) and fx.violation is None:
            self._hand_over(Seat(body.seat))
        for state in fx.ended:
            if type(state) is EscalationState and state.effect == "restart_seat":
                self.restart_bot(Seat(state.subject))
        if self._exhaustion.asks_again_at == env.seq:
            self._ask_again()
        if self.duty_runner is not None and self._concerns_officers(env, fx, self.duty_runner):
            self.duty_runner.wake()

    def _ask_again(self) -> None:
        """Show seats what they owe and could not ask a model about: there is room, or another mind answers (K27)."""
        for obligation_id in self.docket.context.fold_named("ledger").refused():
            owed = self.docket.open.get(obligation_id)
            if owed is not None and owed.seat not in self.docket.context.holders and owed.seat in self._bots:
                self._bots[owed.seat].opened(owed)

    def _concerns_officers(self, env: Envelope, fx: Effects, duty_runner: DutyRunner) -> bool:
        """Say whether the officers may owe something now, or earlier than the duty runner plans to look."""
        if self.docket.pending or fx.started or fx.ended or env.author in OFFICERS:
            return True
        return bool(fx.opened) and duty_runner.wants_waking(min(map(first_instant, fx.opened)))

    def _hand_over(self, seat: Seat) -> None:
        """Start or end the bot's tasks when a person takes or releases its seat (K14)."""
        bot = self._bots.get(seat)
        if bot is None:
            return
        for obligation in self.docket.owed_by(seat):
            bot.closed(obligation)
            if seat not in self.docket.context.holders:
                bot.opened(obligation)

    # ------------------------------------------------------------ bots

    def seat_bot(self, bot: Bot) -> None:
        """Put a bot in its seat and show it what the seat owes already."""
        self._bots[bot.seat] = bot
        self._hand_over(bot.seat)

    def bot(self, seat: Seat) -> Bot:
        """Return the bot in a seat."""
        return self._bots[seat]

    def has_bot(self, seat: Seat) -> bool:
        """Say whether a bot sits in a seat; while a society opens, none may yet."""
        return seat in self._bots

    def restart_bot(self, seat: Seat) -> None:
        """Ask a seat's mind anew for everything it owes (an admin's answer to an escalation)."""
        self._hand_over(seat)

    async def close_bots(self) -> None:
        """End all tasks of all bots; what they were publishing is left for `settle`."""
        for bot in self._bots.values():
            await bot.close()

    async def view(self, seat: Seat, obligation: Obligation) -> View | None:
        """Return what the seat's mind is shown; None once the obligation is closed (K12)."""
        current = self.docket.open.get(obligation.id)
        if current is None:
            return None
        state = self.docket.cases[current.case_id]
        linked = getattr(state, "linked", None)
        before: list[Envelope] = []
        if linked is not None:
            before = await self._ended_case(linked)
            # Everything else is of one moment, the one after that read (K13).
            current = self.docket.open.get(obligation.id)
            if current is None:
                return None
            state = self.docket.cases[current.case_id]
        context = self.docket.context
        said: Sequence[Envelope] = self._transcripts.get(current.case_id, ())
        if state.parent is not None or before:
            said = [*self._transcripts.get(state.parent or "", ()), *before, *said]
        readable = self.rules.matrix.readable(seat)
        notes: Sequence[Envelope] = self._notes
        sight = current.may_see
        if sight is not EVERYTHING:
            said = [e for e in said if may_see(sight, e)]
            notes = [e for e in notes if may_see(sight, e)]
        try:
            brief = self.rules.types[state.kind].brief(state, current, context)
        except Exception as exc:
            self.docket.accuse(current, exc)
            if self.duty_runner is not None:
                self.duty_runner.wake()
            return None
        now = self.clock.now()
        elapsed = now - state.anchor_at
        return View(
            current,
            seat,
            now,
            self.docket.attempts.get(current.id, 0),
            self._refusals.get(current.id, ""),
            tuple([e for e in said if e.channel in readable]),
            tuple([e for e in notes if e.channel in readable]) if notes else (),
            brief,
            self.store.read() if sight.has_memory else NOTHING_REMEMBERED,
            context.conservative_a,
            elapsed if elapsed > NO_TIME else NO_TIME,
            context.config,
            self.contents(sight.content_ref) if sight.content_ref else "",
            context.fold_named("people").called,
            state.kind,
            context.version,
        )

    async def _ended_case(self, case_id: str) -> list[Envelope]:
        ended = self.docket.ended.get(case_id)
        if ended is None:
            return []
        return [e async for e in self.bus.read(ended.opened_seq, ended.seq) if e.case_id == case_id]

    def answer_draft(self, view: View, body: Message) -> Draft | None:
        """Make the draft of an answer; None once the obligation is closed."""
        docket = self.docket
        obligation = docket.open.get(view.obligation.id)
        if obligation is None:
            return None
        seat, kind, case_id = obligation.seat, body.type, obligation.case_id
        cause, hops = self._causes.get(obligation.id, (None, 0))
        channel = obligation.channel
        if not self.rules.matrix.may_write(seat, channel, kind):
            channel = rulebook().channel_of.get(kind, channel)
        if kind in self.rules.openers:
            case_id = ""
        elif body.case_field and not getattr(body, body.case_field):
            body = changed(body, body.case_field, case_id)
        return Draft(
            channel,
            seat,
            body,
            SIMULATED_ADMIN if seat == ADMIN else BOT,
            case_id or None,
            obligation.id,
            docket.attempts.get(obligation.id, 0),
            docket.context.tenures.get(seat, 0),
            cause,
            hops + 1,
        )

    # ------------------------------------------------------------ publishing

    async def publish(self, draft: Draft) -> Receipt:
        """Publish a draft; a refusal goes into the audit.

        Raises:
            Refused: The draft was not taken.
        """
        try:
            self._check_holder(draft)
            receipt = await self._to_bus(draft)
            if receipt.status != "accepted":
                await self._check_dropped(draft, receipt)
            return receipt
        except Refused as refused:
            await self.audit_refusal(_bytes_of(draft), refused, seat=str(draft.author), channel=draft.channel)
            raise

    async def _check_dropped(self, draft: Draft, receipt: Receipt) -> None:
        """Check that the message that took a draft's id answered the same duty: no answer vanishes (R-G15).

        In logs of rules before version 4 the ids of duties repeat where a phase is entered again.

        Raises:
            Refused: It answered an earlier one, and the duty that the draft is for is still open.
        """
        owed = self.docket.open.get(draft.obligation_id or "")
        if owed is None or receipt.seq > self.docket.seq:
            return
        async for env in self.bus.read(receipt.seq, receipt.seq):
            if env.sent_at <= owed.opened_at:
                why = f"its id was taken by message {env.seq}, which answered an earlier duty of that name"
                raise Refused(Malformed("R-G15", why))

    def _check_holder(self, draft: Draft) -> None:
        """Check that who speaks in a seat's tenure holds the seat; one of an older tenure is the docket's to judge.

        Raises:
            Refused: Somebody else holds it (K14).
        """
        seat, actor, context = draft.author, draft.actor, self.docket.context
        if seat in OFFICERS or seat in PEOPLE or draft.tenure != context.tenures.get(seat, 0):
            return
        holder = context.holders.get(seat)
        if actor == holder or (holder is None and actor in (BOT, STAND_IN)):
            return
        whose = f"{holder.name} holds {seat}" if holder is not None else f"a bot fills {seat}"
        who = actor.name if actor.kind == "human" else "its bot"
        raise Refused(Forbidden("K14", f"{whose}, not {who}", field="actor"))

    async def _to_bus(self, draft: Draft) -> Receipt:
        """Publish, and remember what is on its way until the log has it.

        What a cancelled publisher leaves may be on its way to the disk all the same: nothing else may claim to be
        the last message before it, so `settle` sees it through.
        """
        try:
            key = draft.identity()
        except ValueError:
            return await self._until_stored(draft)  # which refuses it
        under_way = self._under_way
        under_way[key] = draft
        is_over = True
        try:
            return await self._until_stored(draft)
        except asyncio.CancelledError:
            is_over = False
            raise
        finally:
            if is_over and under_way.get(key) is draft:
                del under_way[key]

    async def _until_stored(self, draft: Draft) -> Receipt:
        """Publish; while the disk takes nothing, wait and try again, with the same id (K17)."""
        outage = self.outage
        if outage is None:
            return await self.bus.publish(draft)
        while True:
            if outage.is_on:
                await outage.over()
            try:
                return await self.bus.publish(draft)
            except StorageError as fault:
                if not outage.note(fault):
                    raise

    async def settle(self) -> None:
        """Wait until every draft that is on its way, its publisher cancelled or not, stands in the log (K17)."""
        while self._under_way:
            for key, draft in list(self._under_way.items()):
                # The same draft again is a duplicate, whose receipt comes when the first is durable (K1).
                with suppress(Refused, BusClosed, StorageError):
                    await self.bus.publish(draft)
                self._under_way.pop(key, None)

    async def audit_refusal(
        self, raw: bytes, refused: Refused, *, seat: str | None, channel: str | None, event: str = "refused"
    ) -> None:
        """Keep what was refused, capped and redacted, as an AUDIT line (K18)."""
        await self._audit_line(raw, refused.violation.numbered, seat=seat, channel=channel, event=event)

    async def _audit_line(
        self, raw: bytes, why: str, *, seat: str | None, channel: str | None, event: str
    ) -> None:
        draft = self._audit.draft(
            raw,
            why,
            self.clock.now(),
            seat=seat,
            channel=channel,
            after_seq=self.bus.head.seq,
            event=event,
        )
        if draft is not None:
            try:
                await self._to_bus(draft)
            except (BusClosed, StorageError) as fault:
                _log.error("audit not stored", error=str(fault))

    async def audit_silence(self, view: View, why: str) -> None:
        """Keep why the mind of a seat leaves an obligation unanswered, as an AUDIT line."""
        obligation = view.obligation
        _log.info("mind is silent", seat=view.seat, obligation=obligation.id, why=why)
        raw = obligation.id.encode()
        await self._audit_line(raw, why, seat=view.seat, channel=obligation.channel, event=MIND_FAILED)

    def due(self, now: datetime) -> Sequence[Draft]:
        """Return what the officers owe at this instant."""
        return tuple(self.docket.due(now))

    def next_instant(self) -> datetime | None:
        """Return when something next falls due."""
        return self.docket.next_instant()

    def mute(self, draft: Draft) -> bool:
        """Drop a duty that is already in the log; return False for one of Moot's own protocols."""
        return self.docket.mute(draft)

    # ------------------------------------------------------------ watching

    def state(self) -> dict[str, Any]:
        """Return a few figures for a status line."""
        context = self.docket.context
        return {
            "seq": self.docket.seq,
            "cases": len(self.docket.cases),
            "obligations": len(self.docket.open),
            "escalations": context.running.get("escalation", 0),
        }


def _note_fault(fault: RuleFault) -> None:
    """Log what the AUDIT of a rule fault must not hold: it differs between machines and versions (R-G14)."""
    _log.error(
        "rule fault",
        of_seq=fault.of_seq,
        case_id=fault.case_id,
        why=fault.reason,
        error=str(fault.error)[:500],
        traceback_sha256=fault.digest,
    )


def _nothing(_ref: str) -> str:
    return ""


def _bytes_of(draft: Draft) -> bytes:
    body = draft.body.model_dump_json()
    return f'{{"author":"{draft.author}","channel":"{draft.channel}","body":{body}}}'.encode()
