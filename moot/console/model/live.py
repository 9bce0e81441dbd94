"""The read model of the present: it follows a running log, and people act through it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Mapping
from functools import partial
from typing import Any, Final

from moot.channels.chat.commands import Asked, CommandError, parse
from moot.channels.errors import ChannelError
from moot.channels.filling import from_fields, with_kept
from moot.channels.inbound import place_of
from moot.channels.log.file import LOG_NAME
from moot.channels.surface import ActReply, InboundAct, PlatformMessageId
from moot.console.acts import answer_draft, check_key, owed_to
from moot.console.errors import NotReady, NotThere
from moot.console.model.interface import PLATFORM, Batch, Op, Person, Progress, ReadModel, SocietyTime
from moot.console.model.looking import Looking
from moot.console.model.past import Past
from moot.console.watching import Watching
from moot.control import Receipt, ask
from moot.memory.errors import MemoryStoreError
from moot.memory.evidence import DirectoryEvidence, keep_text
from moot.protocols.kernel.acts import LINE
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rulebook

SEEN_S: Final = 1.0
"""How long an answer waits until the console itself has read what was said."""

_DONE: Final = {"pause": "The society stands still.", "step": "One step further."}


class Live(Looking):
    """The society as it is now."""

    def __init__(self, watching: Watching, seat: Seat | None = None) -> None:
        """Look at a society that is being watched; `seen_by` narrows it to what a person may see."""
        super().__init__(watching, seat)

    @property
    def head(self) -> int:
        return self.watching.hub.head

    @property
    def is_past(self) -> bool:
        return False

    @property
    def until(self) -> int:
        return self.watching.hub.head

    def now(self) -> SocietyTime:
        return self.watching.now()

    def progress(self) -> Progress:
        return self.watching.progress()

    def _story_progress(self) -> Progress:
        return self.watching.story_progress()

    def seen_by(self, person: Person) -> ReadModel:
        return Live(self.watching, person.seat)

    def docket(self) -> Docket:
        return self.watching.docket()

    async def changes(self, cursor: int) -> AsyncGenerator[Batch, None]:
        async for batch in self.watching.changes(cursor):
            if self.channels_read is None:
                yield batch
            else:
                seen = tuple(env for env in batch.envelopes if self.may_read(env))
                yield Batch(seen, batch.head, batch.must_reload)

    # ------------------------------------------------------------ the past

    async def at(self, seq: int) -> ReadModel:
        if not 1 <= seq <= self.head:
            raise NotThere(f"there is no message {seq}: the log ends at {self.head}")
        past = Past(self.watching, self.seat)
        await past.open(seq)
        return past

    async def step_to(self, seq: int) -> None:
        raise NotThere("the present goes on by itself")

    async def close(self) -> None:
        """Do nothing: the present stays."""

    # ------------------------------------------------------------ acting

    def why_not(self, person: Person, kind: str, channel: str = "#admin") -> str:
        # While the console starts, what people do waits for it: nothing is kept from them yet.
        if not self.watching.reaching.is_starting and (why := self._nobody_can()):
            return why
        if kind == LINE:
            return ""
        act = rulebook().acts.get(kind)
        if act is None:
            return f"nobody can {kind} here"
        where, name = place_of(kind, channel), act.type
        matrix = self.watching.rules.matrix
        if act.in_case:
            # It is said in the channel of its case, whichever that is.
            is_allowed = any(
                matrix.may_write(person.seat, place, name) for place in matrix.readable(person.seat)
            )
            return "" if is_allowed else f"only an admin may {act.word}"
        if matrix.may_write(person.seat, where, name):
            return ""
        return f"{person.seat} may not post {name} in {where}"

    def _nobody_can(self) -> str:
        watching = self.watching
        if watching.reaching.acts is None:
            return watching.reaching.no_acts
        return "" if watching.is_running else f"no society runs on {watching.directory}: nobody can act"

    def _too_much(self, person: Person) -> str:
        now = asyncio.get_running_loop().time()
        if self.watching.allowances.acting(person, now).take(now):
            return ""
        return "Not taken: that is too much at once, wait a moment"

    async def _with_kept(self, kind: str, fields: Mapping[str, object]) -> Mapping[str, object]:
        """Keep the texts that an act is about as evidence: what the log names has been kept before.

        Raises:
            ValueError: A text is too long.
            MemoryStoreError: The disk does not take it.
        """
        declared = rulebook().acts.get(kind)
        if declared is None or not any(blank.is_kept for blank in declared.asks):
            return fields
        keeper = DirectoryEvidence(self.watching.directory / "evidence")
        return await asyncio.to_thread(with_kept, declared, fields, partial(keep_text, keeper))

    async def act(
        self,
        person: Person,
        kind: str,
        fields: Mapping[str, object],
        *,
        key: str,
        channel: str = "#admin",
        reply_to: int | None = None,
    ) -> ActReply:
        await self.watching.reaching.settled()
        if why := self._nobody_can() or self._too_much(person):
            return ActReply(why, ok=False)
        acts = self.watching.reaching.acts
        assert acts is not None
        try:
            check_key(key)
            if kind == LINE:
                if "text" not in fields or len(fields) > 1:
                    raise CommandError(
                        "a command takes one field, 'text', such as \"/note mind the drawdown\""
                    )
                said = parse(str(fields.get("text", "")))
                if not isinstance(said, Asked):
                    kind, fields = said.kind, said.fields
            else:
                kind, fields = _declared(kind, fields, has_case=reply_to is not None)
        except (CommandError, Malformed) as exc:
            return ActReply(str(exc), ok=False)
        if why := self.why_not(person, kind, channel):
            # The society would refuse it too; it does not have to keep that in its log for a click.
            return ActReply(f"Refused: {why}", ok=False)
        try:
            fields = await self._with_kept(kind, fields)
        except (ValueError, MemoryStoreError) as exc:
            return ActReply(f"Not taken: {exc}", ok=False)
        return await self._told(
            acts(
                InboundAct(
                    platform=PLATFORM,
                    user_id=person.user_id,
                    user_name=person.user_id,
                    platform_message_id=key,
                    channel=channel,
                    kind=kind,
                    fields=fields,
                    reply_to=None if reply_to is None else PlatformMessageId(str(reply_to)),
                )
            )
        )

    async def _told(self, done: Awaitable[ActReply]) -> ActReply:
        """Tell what became of an act once what it said is seen here too: whoever looks next finds it."""
        with self.watching.publishing():
            reply = await done
        if reply.seq is not None:
            await self.watching.hub.reached(reply.seq, SEEN_S)
        return reply

    async def form(self, person: Person, obligation_id: str) -> Mapping[str, Any]:
        owed = self.docket().open.get(obligation_id)
        if owed is None or not self.reads(owed.channel):
            raise NotThere(f"nobody owes {obligation_id}, or not any more")
        return {
            kind: rulebook().messages[kind].model_json_schema()
            for kind in owed.expects
            if kind in rulebook().messages
        }

    async def suggestion(self, person: Person, obligation_id: str) -> Message:
        owed = owed_to(self.docket(), person, obligation_id)
        if isinstance(owed, str):
            raise NotThere(owed)
        suggesting = await self.watching.suggester()
        # Through nobody's eyes: what the mind is shown follows from the rights of its seat.
        return await suggesting.suggest(Live(self.watching), obligation_id)

    async def answer(self, person: Person, obligation_id: str, body: Mapping[str, Any]) -> ActReply:
        await self.watching.reaching.settled()
        if why := self._nobody_can() or self._too_much(person):
            return ActReply(why, ok=False)
        acts = self.watching.reaching.acts
        assert acts is not None
        try:
            docket = self.docket()
            owed = owed_to(docket, person, obligation_id)
            if isinstance(owed, str):
                return ActReply(f"Refused: {owed}", ok=False)
            draft = answer_draft(docket, person, owed, dict(body))
        except NotReady as exc:
            return ActReply(f"Not yet: {exc}", ok=False)
        except Malformed as exc:
            return ActReply(str(exc), ok=False)
        return await self._told(acts.hand_in(draft))

    async def control(self, person: Person, op: Op, value: float | None = None) -> ActReply:
        if not person.is_admin:
            return ActReply("Refused: only an admin sets the pace", ok=False)
        if why := self._too_much(person):
            return ActReply(why, ok=False)
        if self.watching.reaching.requests is None:
            return ActReply(self.watching.reaching.no_acts, ok=False)
        path = self.watching.directory / LOG_NAME
        try:
            receipt = await asyncio.to_thread(ask, path, op, value, person.user_id)
        except ChannelError as exc:
            return ActReply(str(exc), ok=False)
        if not receipt.get("ok"):
            return ActReply(f"Refused: {receipt.get('why', 'no reason given')}", ok=False)
        return ActReply(_pace(op, receipt))

    async def show_escalations(self, page: str, escalation_ids: frozenset[str]) -> None:
        await self.watching.reaching.hold(page, escalation_ids)


def _declared(kind: str, fields: Mapping[str, object], *, has_case: bool) -> tuple[str, Mapping[str, object]]:
    """Return an act's name and the fields of its message, by whichever names they are given.

    Raises:
        Malformed: There is no such act, or a field is missing or unknown.
    """
    acts = rulebook().acts
    act = acts.get(kind) or next((one for one in acts.values() if one.word == kind), None)
    if act is None:
        raise Malformed(
            "K1", f"unknown act {kind[:40]!r}; there are {', '.join(acts)} and {LINE}", field="kind"
        )
    try:
        return act.name, from_fields(act, fields, has_case=has_case)
    except ValueError as exc:
        raise Malformed("K1", str(exc), field="fields") from None


def _pace(op: Op, receipt: Receipt) -> str:
    """Say how time goes on."""
    if "speed" not in receipt:
        return str(receipt.get("why") or "Done.")
    if receipt.get("paused"):
        return _DONE.get(op, "The society stands still.")
    return f"The society runs at ×{receipt['speed']:g}."
