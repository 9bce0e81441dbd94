"""What guests may ask a society, and what they report to it, beside their drafts (K22)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from moot.channels.errors import Refused
from moot.channels.showing.duties import duty
from moot.channels.showing.person_duties import acts_for
from moot.desk import holdings, money, ratio_text, strategies
from moot.host import Host
from moot.patience import Patience
from moot.protocols.escalation.case import EscalationState
from moot.protocols.escalation.messages import is_case_duty
from moot.protocols.kernel.errors import Violation
from moot.protocols.kernel.seats import ADMIN, OFFICERS, PEOPLE, VIEWER

TOLD_IN: Final = {"escalations": "#admin", "positions": "#b-desk", "strategies": "#b-desk"}
"""Questions whose answers tell what a channel tells."""

MOST_LINES: Final = 20
"""Positions or strategies that an answer names."""


class Reception:
    """Answers a surface's questions in words, and puts its reports into the audit."""

    def __init__(self, host: Host, patience: Patience | None = None) -> None:
        """Speak for a society.

        Args:
            host: Its host.
            patience: Hears which escalations pages show (K8).
        """
        self._host = host
        self._patience = patience
        self._shown: dict[str, set[str]] = {}

    async def ask(self, question: str, args: Mapping[str, Any]) -> str:
        """Answer a question; what cannot be asked is answered with what can.

        What stands in a channel is told to those who read it.
        """
        if question == "escalation_shown":
            return self._show(args)
        if question == "trouble":
            return self._trouble()
        answers = {
            "status": lambda: self._status(args),
            "escalations": self._escalations,
            "positions": self._positions,
            "strategies": self._strategies,
        }
        if question not in answers:
            *most, last = answers
            return f"there is no answer to {question!r}: ask for {', '.join(most)} or {last}"
        channel = TOLD_IN.get(question)
        if channel is not None and not self._may_read(args, channel):
            return f"only who reads {channel} is told that"
        return answers[question]()

    def _show(self, args: Mapping[str, Any]) -> str:
        """Note that a page of a guest shows an escalation, or no longer does (K8)."""
        escalation_id, shown = str(args.get("escalation_id", "")), self._shown
        theirs = shown.setdefault(str(args.get("guest", "")), set())
        (theirs.add if args.get("is_open") is True else theirs.discard)(escalation_id)
        self._hold(escalation_id)
        return ""

    async def left(self, guest: str) -> None:
        """Forget what the pages of a guest showed that has hung up."""
        for escalation_id in self._shown.pop(guest, ()):
            self._hold(escalation_id)

    def _hold(self, escalation_id: str) -> None:
        if self._patience is not None:
            self._patience.hold_open(escalation_id, any(escalation_id in one for one in self._shown.values()))

    def _may_read(self, args: Mapping[str, Any], channel: str) -> bool:
        seat = ADMIN if args.get("seat") == ADMIN else VIEWER
        return self._host.rules.matrix.may_read(seat, channel)

    def _trouble(self) -> str:
        outage = self._host.outage
        return f"The log cannot be written: {outage.why}" if outage is not None and outage.is_on else ""

    def _status(self, args: Mapping[str, Any]) -> str:
        docket, clock = self._host.docket, self._host.clock
        owed = [
            o
            for o in docket.open.values()
            if o.seat not in OFFICERS | PEOPLE and self._may_read(args, o.channel)
        ]
        lines = [f"{clock.now():%a %d %b %H:%M} UTC, message {docket.seq}, {len(docket.cases)} open cases"]
        if docket.context.fold_named("minds").is_rehearsal:
            lines.insert(
                0, "A rehearsal: things are made to go wrong on purpose, and nothing here is for real"
            )
        lines += [
            f"{o.seat} owes {' or '.join(o.expects)} until {o.due_at:%H:%M} ({o.id})" for o in owed[:10]
        ]
        if docket.context.conservative_a:
            lines.append(
                f"System A is conservative since {docket.context.fold_named('modes').because}: /resume ends it"
            )
        if money(docket.context)["halted"]:
            lines.append("trading is halted until an admin says /resume")
        return "\n".join(lines)

    def _escalations(self) -> str:
        docket = self._host.docket
        waiting = [s for s in docket.cases.values() if isinstance(s, EscalationState)]
        duties = [o for o in docket.open.values() if is_case_duty(o.seat, o.expects)]
        if not waiting and not duties:
            return "nothing waits for an admin"
        lines = []
        for state in waiting:
            options = ", ".join(f"{option.n}: {option.label}" for option in state.options)
            lines.append(f"{state.case_id} {state.level} {state.code} {state.subject}: {options}")
        for owed in duties[:MOST_LINES]:
            until = f" until {docket.deadlines.void_at(owed):%d %b %H:%M}" if owed.can_be_missed else ""
            how = " or ".join(f"/{act.word} {owed.case_id} …" for act in acts_for(owed.expects))
            lines.append(f"{owed.case_id}: {owed.seat} owes {duty(owed.id)}{until}{': ' if how else ''}{how}")
        lines += _rest(len(duties))
        return "\n".join(lines)

    def _positions(self) -> str:
        context = self._host.docket.context
        desk = money(context)
        lines = [
            f"equity ${desk['equity']:,.2f}, day {desk['pnl_usd']:+,.2f} ({desk['pnl_pct']:+.2%}), "
            f"cash ${desk['cash']:,.2f}, exposure {desk['exposure']:.2%}"
        ]
        if desk["halted"]:
            lines.append(f"the desk is halted: {context.fold_named('book').halt_id}")
        held = holdings(context)
        lines += [
            f"{h.strategy_id}: {h.quantity:,} {h.symbol} at {h.mark:,.2f}, {h.unrealised_usd:+,.2f}"
            for h in held[:MOST_LINES]
        ]
        return "\n".join([*lines, *_rest(len(held)), *([] if held else ["the desk holds nothing"])])

    def _strategies(self) -> str:
        known = strategies(self._host.docket.context)
        lines = []
        for one in known[:MOST_LINES]:
            sharpe = f", Sharpe {ratio}" if (ratio := ratio_text(one)) else ""
            traded = f", {one['days']} days, {one['pnl_usd']:+,.2f}{sharpe}" if one["is_deployed"] else ""
            lines.append(f"{one['strategy_id']} in {one['stage']}{traded}")
        return "\n".join([*lines, *_rest(len(known))]) or "the log names no strategy"

    async def report(self, event: Mapping[str, Any]) -> None:
        """Keep what a guest reports (a post that its platform refused) as an AUDIT line."""
        name = str(event.get("event", "report"))
        why = str(event.get("why", "a guest reports"))
        await self._host.audit_refusal(
            json.dumps(dict(event), default=str).encode(),
            Refused(Violation("K22", why)),
            seat=str(event.get("surface", ""))[:200] or None,
            channel=str(event.get("channel", ""))[:200] or None,
            event=name[:200],
        )


def _rest(n: int) -> list[str]:
    return [f"and {n - MOST_LINES} more"] if n > MOST_LINES else []
