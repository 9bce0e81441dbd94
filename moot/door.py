"""The guests' door: what other processes may post into a society, and as whom (K3, K14, R-E5)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from moot.bots.officers.lab import Lab
from moot.bots.officers.referee import named, resolved_audit
from moot.channels.bus import Receipt
from moot.channels.errors import Refused
from moot.channels.guests.drafts import draft_from_json, draft_to_json
from moot.channels.guests.inbox import accepted, keyed
from moot.channels.showing.wording import derived
from moot.config.settings import Settings
from moot.host import Host
from moot.protocols.arena.session import completed
from moot.protocols.arena.state import RunState
from moot.protocols.codec import decode_body
from moot.protocols.escalation.case import ANSWERED, EscalationState
from moot.protocols.escalation.case import KIND as ESCALATION_KIND
from moot.protocols.escalation.messages import EscalationAck, EscalationAnswer
from moot.protocols.kernel.docket import Effects
from moot.protocols.kernel.envelope import Actor, Draft, Envelope
from moot.protocols.kernel.errors import Forbidden, Late, Malformed, Violation
from moot.protocols.kernel.figures import SECOND_AUDIT
from moot.protocols.kernel.guests import check_guest
from moot.protocols.kernel.message import changed
from moot.protocols.kernel.naming import display_name
from moot.protocols.kernel.seats import ADMIN, LAB, PEOPLE, VIEWER, Seat
from moot.protocols.trading.halt import HaltState, listed, name_of, unnamed
from moot.protocols.trading.messages import Halt, Resume, ResumeConfirmed

MOST_ID: Final = 100
"""Whoever has a longer id than any platform gives stays without a name."""

NOTES_KEPT: Final = 1_000
"""Messages of people that changed nothing or opened a case, whose authors may still ask about them."""


class AnsweredBefore(Late):
    """An answer or acknowledgement of a resolved escalation, whose AUDIT is written (R-G13)."""


class Door:
    """Takes drafts of guests: people only, as themselves, as admins only where they are.

    It stands before the bus for the inbox pump and the gateway, and has the bus's `publish`.
    """

    def __init__(self, host: Host, settings: Settings) -> None:
        """Open the door.

        Args:
            host: The society's host.
            settings: Who is an admin on which platform, the owners among them; what the log states.
        """
        self._host = host
        self._settings = settings
        self._notes: dict[int, tuple[str, str]] = {}
        self._lab = Lab(host.docket, host.publish, host.bus.seq_of, host.clock.now)
        host.listeners += (self._hear, self._lab.folded)

    def seat_of(self, platform: str, user_id: str) -> Seat:
        """Say what a person on a platform is (R-E5)."""
        return self._settings.seat_of(platform, user_id)

    async def publish(self, draft: Draft) -> Receipt:
        """Publish a guest's draft; the receipt names the case that it opened, and why it changes nothing (K10, R-E4).

        Raises:
            Refused: It is not a person's, or the person may not do that; it is in the audit.
        """
        try:
            if draft.author == LAB:
                return await self._said_by_lab(draft)
            await self._check_reply(draft)
            await self._check_resolved(draft)
            draft = self._completed(self._as_whom(draft))
            check_guest(draft, self._host.docket)
        except AnsweredBefore as late:
            raise Refused(late) from late
        except Violation as violation:
            refused = Refused(violation)
            await self._host.audit_refusal(
                draft_to_json(draft).encode(), refused, seat=draft.author, channel=draft.channel
            )
            raise refused from violation
        await self._introduce(draft)
        # The fold comes before the receipt (K13), so what it found is known by now.
        receipt = await self._host.publish(draft)
        note, opened = self._notes.get(receipt.seq, ("", ""))
        return receipt._replace(note=note, opened=opened)

    async def _said_by_lab(self, draft: Draft) -> Receipt:
        """Have the lab say what an admin's run tells: nobody else speaks for an officer.

        Raises:
            Violation: The person is no admin, or it does not follow from the log.
        """
        self._check_speaker(draft.actor, is_admin_needed=True)
        return await self._lab.say(draft.body, draft.actor)

    async def _introduce(self, draft: Draft) -> None:
        """Have the log learn what a person is called, before it holds what they say."""
        actor, people = draft.actor, self._host.docket.context.fold_named("people")
        name = display_name(draft.display_name, actor.user_id)
        if not name or people.name_of(actor.platform, actor.user_id) == name:
            return
        if max(len(actor.platform), len(actor.user_id)) <= MOST_ID:
            with suppress(Refused):
                await self._host.publish(named(actor, name, people.key(actor)))

    def _hear(self, env: Envelope, fx: Effects) -> None:
        """Keep what the fold found wrong with what a person said, or which case it opened."""
        if env.actor.kind != "human" or not (fx.violation or fx.started):
            return
        note = _note(env, fx.violation) if fx.violation is not None else ""
        self._notes[env.seq] = note, fx.started[0].case_id if fx.started else ""
        while len(self._notes) > NOTES_KEPT:
            del self._notes[next(iter(self._notes))]

    def _completed(self, draft: Draft) -> Draft:
        """Fill in what a person leaves out who means what is open now: day, halt or mode, the round of a run.

        Whoever writes in a hurry knows neither id, and what a guest looked up may be over when it arrives.

        Raises:
            Violation: R-B5, nothing is halted that could be resumed.
        """
        body, docket = draft.body, self._host.docket
        run = docket.cases.get(draft.case_id or "")
        if isinstance(run, RunState):
            return replace(draft, body=completed(body, run))
        if draft.author != ADMIN:
            return draft
        if isinstance(body, Halt) and not body.session_id:
            # One that waits for a ruling would refuse it (K10), and a halt waits for nobody.
            days = [s.case_id for s in docket.cases.values() if s.kind == "session"]
            free = [case_id for case_id in days if case_id not in docket.waiting]
            return replace(draft, body=changed(body, "session_id", free[-1])) if free else draft
        if isinstance(body, Resume | ResumeConfirmed) and not body.halt_id and draft.case_id is None:
            halt_id = docket.context.fold_named("book").halt_id
            if not halt_id and isinstance(body, Resume) and docket.context.conservative_a:
                halt_id = docket.context.fold_named("modes").because
            if not halt_id:
                raise Violation("R-B5", "nothing is halted", field="halt_id")
            draft = replace(draft, case_id=halt_id, body=changed(body, "halt_id", halt_id))
        halt = docket.cases.get(draft.case_id or "")
        if isinstance(draft.body, Resume) and isinstance(halt, HaltState):
            return replace(draft, body=_with_reasons(draft.body, halt))
        return draft

    async def publish_json(self, draft: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        """Publish a guest's draft given as plain data; for the gateway.

        Raises:
            Refused: As `publish`; or it is no draft.
        """
        try:
            read = keyed(draft_from_json(dict(draft), decode_body), key)
        except Violation as violation:
            refused = Refused(violation)
            await self._host.audit_refusal(
                repr(dict(draft)).encode("utf-8", "replace"), refused, seat=None, channel=None
            )
            raise refused from violation
        return accepted(await self.publish(read))

    async def _check_reply(self, draft: Draft) -> None:
        named = draft.in_reply_to
        if named is not None and await self._host.bus.seq_of(named) is None:
            raise Malformed("K1", f"no message has the id {named[:80]!r}", field="in_reply_to")

    async def _check_resolved(self, draft: Draft) -> None:
        """Refuse an answer to a resolved escalation; the log keeps one AUDIT per person and escalation (R-G13).

        An option that ends the conservative mode is let through, for it decides that (R-F2).

        Raises:
            AnsweredBefore: It is resolved, or its first answer is there.
        """
        body, context = draft.body, self._host.docket.context
        if not isinstance(body, EscalationAck | EscalationAnswer) or context.version < SECOND_AUDIT:
            return
        case_id, docket = body.escalation_id or draft.case_id or "", self._host.docket
        state, ended = docket.cases.get(case_id), docket.ended.get(case_id)
        if ended is not None and ended.kind == ESCALATION_KIND:
            how = ended.outcome
        elif isinstance(state, EscalationState) and state.phase == ANSWERED:
            how = "answered"
        else:
            return
        self._check_speaker(draft.actor, is_admin_needed=False)
        if await self._host.bus.seq_of(draft.identity()) is not None:
            # The very answer that resolved it, delivered again.
            return
        is_admin = self.seat_of(draft.actor.platform, draft.actor.user_id) == ADMIN
        if (
            is_admin
            and isinstance(body, EscalationAnswer)
            and context.fold_named("modes").ends_by(body, docket)
        ):
            return
        why = f"{case_id} was {how} before; that stands, and this changes nothing"
        await self._host.publish(
            resolved_audit(draft.actor, case_id, draft_to_json(draft).encode(), why, seat=draft.author)
        )
        raise AnsweredBefore("R-G13", why)

    def _check_speaker(self, actor: Actor, *, is_admin_needed: bool) -> bool:
        """Check that somebody speaks, and is an admin where that is needed; return whether they are one.

        Raises:
            Forbidden: It is no person, or no admin.
        """
        if actor.kind != "human":
            raise Forbidden("K3", "guests are people: the actor's kind is human", field="actor.kind")
        is_admin = self.seat_of(actor.platform, actor.user_id) == ADMIN
        if is_admin_needed and not is_admin:
            raise Forbidden("R-E5", f"{actor.name} is no admin of this society", field="author")
        return is_admin

    def _as_whom(self, draft: Draft) -> Draft:
        """Check who speaks; an admin speaks as one, so that no viewer's words can be put into an admin's mouth.

        Raises:
            Forbidden: It is no person, or not the one that it says.
        """
        actor, author = draft.actor, draft.author
        is_admin = self._check_speaker(actor, is_admin_needed=author == ADMIN)
        if author not in PEOPLE:
            holder = self._host.docket.context.holders.get(author)
            if holder is None:
                raise Forbidden("K14", f"take the seat first: nobody holds {author}", field="author")
            if holder != actor:
                raise Forbidden("K14", f"{holder.name} holds {author}, not {actor.name}", field="author")
        return replace(draft, author=ADMIN) if author == VIEWER and is_admin else draft


def _with_reasons(body: Resume, halt: HaltState) -> Resume:
    """Return a resume that names reasons by their texts, where a person named them by their messages' numbers.

    Raises:
        Violation: R-G12, it leaves out an open reason.
    """
    texts = {str(one.seq): one.text for one in halt.reasons}
    found: list[str] = []
    for item in body.lifts:
        numbers = [number.lstrip("#") for number in item.replace(",", " ").split()]
        are_numbers = numbers and all(number in texts for number in numbers)
        found += [texts[number] for number in numbers] if are_numbers else [item]
    lifts = tuple(dict.fromkeys(found))
    if unknown := [item for item in lifts if name_of(item) not in texts.values()]:
        why = f"{unknown[0][:80]!r} is no open reason; open are {listed(halt.reasons)}"
        raise Violation("R-G12", why, field="lifts")
    if left_out := unnamed(halt, lifts):
        numbers_text = " ".join(f"lifts: {number}" for number in texts)
        raise Violation(
            "R-G12",
            f"trading is halted for {len(halt.reasons)} reasons, and a resume names all of them; left out: "
            f"{listed(left_out)}. Check each, then add {numbers_text}",
            field="lifts",
        )
    return changed(body, "lifts", lifts)


def _note(env: Envelope, violation: Violation) -> str:
    """Say to a person why a message changes nothing."""
    if isinstance(violation, Late):
        return violation.why.removeprefix("late: ").removesuffix("; that stands")
    body = env.body
    if isinstance(body, EscalationAck) and violation.rule == "5.2":
        return f"{env.case_id} was acknowledged or answered before"
    if isinstance(body, EscalationAck | EscalationAnswer) and violation.rule == "K9":
        return f"{violation.why}: /escalations lists what waits"
    return derived(violation.why)
