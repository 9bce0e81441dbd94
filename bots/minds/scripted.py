"""A mind that follows a script; what the script leaves out comes from another mind (scenes, tests)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from moot.bots.minds.mind import Mind, Reply, View
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.message import Message
from moot.protocols.research.debate_table import NEXT_ACTION


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a script.

    Attributes:
        type: It waits for the seat's next obligation that expects this type; "" takes the next one.
        delay: When the answer comes, counted from the obligation's opening; None: when the other mind would.
        silent: Say nothing to this obligation.
        fields: Fields of the body; the rest comes from the other mind.
        where: Where it stands, for what is told of it.
    """

    type: str = ""
    delay: timedelta | None = None
    silent: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


class ScriptedMind(Mind):
    """Answers from a script, entry by entry; then as `then` does, or not at all.

    An entry is used once, for one attempt at one obligation; after a violation the next matching entry is
    the retry.

    Attributes:
        on_fault: Told why an entry makes no body; the seat is silent then.
    """

    def __init__(
        self,
        script: Sequence[Entry],
        *,
        fill: Mind | None,
        then: Mind | None,
        decode: Callable[[str], Message],
    ) -> None:
        """Keep the script.

        Args:
            script: Its entries, in order.
            fill: Gives the fields and delays that an entry leaves out; None: entries are complete.
            then: Answers what the script does not; None: silence.
            decode: Reads a body from JSON; raises `Malformed`.
        """
        self._left = list(script)
        self._fill = fill
        self._then = then
        self._decode = decode
        self._chosen: dict[tuple[str, int], Entry | None] = {}
        self.on_fault: Callable[[str], None] = _raised

    @property
    def unused(self) -> tuple[Entry, ...]:
        """Return the entries that no obligation has used."""
        return tuple(self._left)

    def _entry(self, view: View) -> Entry | None:
        key = (view.obligation.id, view.attempt)
        if key not in self._chosen:
            self._chosen[key] = None
            for n, entry in enumerate(self._left):
                if not entry.type or entry.type in view.obligation.expects:
                    self._chosen[key] = self._left.pop(n)
                    break
        return self._chosen[key]

    def begins_at_once(self, view: View) -> bool:
        return self._entry(view) is None and self._then is not None and self._then.begins_at_once(view)

    def consider(self, view: View) -> timedelta | None:
        """Take the entry for this obligation and say when it answers."""
        entry = self._entry(view)
        if entry is None:
            return self._then.consider(view) if self._then is not None else None
        if entry.silent:
            return None
        if entry.delay is not None:
            return entry.delay
        delay = self._fill.consider(view) if self._fill is not None else timedelta(0)
        # The other mind may be silent here; the script wants an answer, so it comes in time.
        return delay if delay is not None else (view.obligation.due_at - view.obligation.opened_at) / 3

    async def answer(self, view: View) -> Reply | None:
        """Answer with the entry's fields over what the other mind says."""
        entry = self._entry(view)
        if entry is None:
            return await self._then.answer(view) if self._then is not None else None
        if entry.type:
            view = view._replace(obligation=replace(view.obligation, expects=(entry.type,)))
        reply = await self._fill.answer(view) if self._fill is not None else None
        if not entry.fields and not entry.type:
            return reply
        body = reply.body.model_dump() if reply is not None else {}
        kind = entry.type or body.get("type", "")
        if body.get("type") != kind:
            body = {"type": kind}
        merged = _merge(body, entry.fields)
        if "verdict" in entry.fields and "next_action" in body and "next_action" not in entry.fields:
            merged["next_action"] = NEXT_ACTION.get(str(entry.fields["verdict"]), "archive")
        try:
            said = self._decode(json.dumps(merged, default=str))
        except Malformed as exc:
            self.on_fault(f"{entry.where or 'a script entry'}: {exc.field}: {exc.why}")
            return None
        return Reply(said, reply.asides if reply is not None else ())


def _raised(why: str) -> None:
    raise ValueError(why)


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay fields over a body; objects are merged, everything else replaced."""
    merged = dict(base)
    for name, value in over.items():
        below = merged.get(name)
        is_both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[name] = _merge(below, value) if is_both else value  # type: ignore[arg-type]
    return merged
