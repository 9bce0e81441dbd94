"""The conservative mode: when it begins, and what ends it (spec 5.3, R-B8, R-F1, R-F2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from moot.protocols.escalation.case import EscalationState
from moot.protocols.escalation.messages import EscalationAnswer, ModeChanged, Option
from moot.protocols.escalation.triggers import TRIGGERS, options_of
from moot.protocols.kernel.context import Fold
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.errors import Late
from moot.protocols.kernel.officers import Ruling
from moot.protocols.kernel.seats import ADMIN, REFEREE

CONSERVATIVE: Final = "conservative"
NORMAL: Final = "normal"

CHANNELS: Final[Mapping[str, str]] = {"A": "#a-arena", "B": "#b-ops"}
"""Where the referee says that a system's mode changed."""

DECIDING: Final = frozenset({"OVERRIDE", "RESUME", "RESUME_CONFIRMED"})
"""What an admin decides with, besides an option of an escalation; free text and a NOTE decide nothing."""

REMEMBERED: Final = 1024
"""The options of so many ended escalations are known, the latest: a late answer may choose one of them."""


class Modes(Fold):
    """Name the referee's duty to say that a system's mode changed.

    System A's is changed by that message itself, and a person ends it. System B's begins with the ruling that halves
    every position and ends by the clock: the message tells of it (R-F1).

    Attributes:
        because: The case that led to System A's mode in force, "" before the first change.
    """

    name = "modes"
    types = DECIDING | {"ESCALATION_RESOLVED", "ESCALATION_ANSWER", "MODE_CHANGED", "RULING"}

    def __init__(self) -> None:
        """Start in the normal mode."""
        self.because = ""
        self._coming = NORMAL
        self._codes: dict[str, str] = {}
        self._until: datetime | None = None
        self._known_until: datetime | None = None
        self._session = ""
        self._overtaken = ""

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft] | None:
        """Take in one envelope."""
        body = env.body
        if type(body) is ModeChanged:
            self._changed(body, docket)
            return None
        if type(body) is Ruling:
            return self._halved(env, docket) if fx.decision is not None else None
        for ended in fx.ended:
            if isinstance(ended, EscalationState):
                self._remember(ended)
                if ended.effect == CONSERVATIVE:
                    return self._turn(CONSERVATIVE, env)
        return self._turn(NORMAL, env) if env.author == ADMIN and self._decides(env, fx, docket) else None

    def _changed(self, body: ModeChanged, docket: Docket) -> None:
        if body.system == "A":
            docket.context.conservative_a = body.mode == CONSERVATIVE
            self.because = body.because
        elif body.mode == NORMAL:
            self._until = None

    def _halved(self, env: Envelope, docket: Docket) -> list[Draft] | None:
        """Say that System B is conservative from a ruling on that halved its positions (R-F1)."""
        until = docket.context.fold_named("book").reduced_until
        if until is None or until == self._known_until:
            return None
        before, self._until, self._known_until = self._until, until, until
        if before is not None:
            self._overtaken = _end(before)
            return None
        self._session = env.case_id or env.id
        return [_say("B", CONSERVATIVE, self._session, f"mode/B/{env.seq}", env.id)]

    def alarm(self, docket: Docket) -> datetime | None:
        """Return when System B's halving is in force no longer."""
        return self._until

    def ring(self, now: datetime, docket: Docket) -> list[Draft]:
        """Say that it is not."""
        if self._until is None or now < self._until:
            return []
        return [_say("B", NORMAL, self._session, _end(self._until))]

    def was_owed(self, env: Envelope, docket: Docket) -> bool:
        """Say whether an end was due a moment ago, before positions were halved anew (K5)."""
        return env.id == self._overtaken

    def _turn(self, mode: str, env: Envelope) -> list[Draft] | None:
        """Derive the MODE_CHANGED, unless that mode is in force or on its way."""
        if mode == self._coming:
            return None
        self._coming = mode
        return [_say("A", mode, env.case_id or env.id, f"mode/A/{env.seq}", env.id)]

    def _decides(self, env: Envelope, fx: Effects, docket: Docket) -> bool:
        """Say whether an admin's message decides something (R-F2)."""
        body = env.body
        if type(body) is EscalationAnswer:
            is_heard = fx.violation is None or isinstance(fx.violation, Late)
            return is_heard and decides(body, self._options(env.case_id or "", docket))
        return fx.violation is None

    def ends_by(self, answer: EscalationAnswer, docket: Docket) -> bool:
        """Return whether a late answer of an admin would end System A's conservative mode (R-F2)."""
        is_conservative = docket.context.conservative_a or self._coming == CONSERVATIVE
        return is_conservative and decides(answer, self._options(answer.escalation_id, docket))

    def _options(self, case_id: str, docket: Docket) -> tuple[Option, ...]:
        state = docket.cases.get(case_id)
        if isinstance(state, EscalationState):
            return state.options
        code = self._codes.get(case_id)
        return options_of(code) if code is not None and code in TRIGGERS else ()

    def _remember(self, ended: EscalationState) -> None:
        self._codes[ended.case_id] = ended.code
        if len(self._codes) > REMEMBERED:
            del self._codes[next(iter(self._codes))]


def _say(system: str, mode: str, because: str, key: str, in_reply_to: str | None = None) -> Draft:
    return Draft(
        channel=CHANNELS[system],
        author=REFEREE,
        actor=OFFICER,
        in_reply_to=in_reply_to,
        key=key,
        body=ModeChanged(system=system, mode=mode, because=because),  # type: ignore[arg-type]
    )


def _end(until: datetime) -> str:
    return f"mode/B/{until:%Y%m%dT%H%M%S}"


def decides(answer: EscalationAnswer, options: tuple[Option, ...]) -> bool:
    """Say whether an answer, be it a late one, chooses an option that does not itself ask for the mode (R-F2)."""
    return any(option.n == answer.option and option.effect != CONSERVATIVE for option in options)
