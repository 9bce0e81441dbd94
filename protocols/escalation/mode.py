"""The conservative mode: when it begins, and which acts of a person end it (spec 5.3, R-B8, R-F2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from protocols.escalation.case import EscalationState
from protocols.escalation.messages import EscalationAnswer, ModeChanged, Option
from protocols.escalation.triggers import options_of
from protocols.kernel.docket import Docket, Effects
from protocols.kernel.envelope import OFFICER, Draft, Envelope
from protocols.kernel.errors import Late
from protocols.kernel.house import Fold
from protocols.kernel.seats import Seat

CONSERVATIVE: Final = "conservative"
NORMAL: Final = "normal"

CHANNELS: Final[Mapping[str, str]] = {"A": "#a-arena", "B": "#b-ops"}
"""Where the referee says that a system's mode changed."""

DECIDING: Final = frozenset({"OVERRIDE", "RESUME", "RESUME_CONFIRMED"})
"""What an admin decides with, besides an option of an escalation; free text and a NOTE decide nothing."""

REMEMBERED: Final = 1024
"""The options of so many ended escalations are known, the latest: a late answer may choose one of them."""


class Modes(Fold):
    """Name the referee's duty to say that System A's mode changed; the message itself changes it.

    Attributes:
        because: The case that led to the mode in force, "" before the first change.
    """

    name = "modes"
    types = DECIDING | {"ESCALATION_RESOLVED", "ESCALATION_ANSWER", "MODE_CHANGED"}

    def __init__(self) -> None:
        """Start in the normal mode."""
        self.because = ""
        self._coming = NORMAL
        self._codes: dict[str, str] = {}

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> list[Draft] | None:
        """Take in one envelope."""
        body = env.body
        if type(body) is ModeChanged:
            docket.house.conservative_a = body.mode == CONSERVATIVE
            self.because = body.because
            return None
        for ended in fx.ended:
            if isinstance(ended, EscalationState):
                self._remember(ended)
                if ended.effect == CONSERVATIVE:
                    return self._turn(CONSERVATIVE, env)
        return (
            self._turn(NORMAL, env) if env.author is Seat.ADMIN and self._decides(env, fx, docket) else None
        )

    def _turn(self, mode: str, env: Envelope) -> list[Draft] | None:
        """Derive the MODE_CHANGED, unless that mode is in force or on its way."""
        if mode == self._coming:
            return None
        self._coming = mode
        body = ModeChanged(system="A", mode=mode, because=env.case_id or env.id)  # type: ignore[arg-type]
        return [
            Draft(
                channel=CHANNELS["A"],
                author=Seat.REFEREE,
                actor=OFFICER,
                in_reply_to=env.id,
                key=f"mode/A/{env.seq}",
                body=body,
            )
        ]

    def _decides(self, env: Envelope, fx: Effects, docket: Docket) -> bool:
        """Say whether an admin's message decides something (R-F2)."""
        body = env.body
        if type(body) is EscalationAnswer:
            is_heard = fx.violation is None or isinstance(fx.violation, Late)
            return is_heard and decides(body, self._options(env.case_id or "", docket))
        return fx.violation is None

    def _options(self, case_id: str, docket: Docket) -> tuple[Option, ...]:
        state = docket.cases.get(case_id)
        if isinstance(state, EscalationState):
            return state.options
        code = self._codes.get(case_id)
        return options_of(code) if code is not None else ()

    def _remember(self, ended: EscalationState) -> None:
        self._codes[ended.case_id] = ended.code
        if len(self._codes) > REMEMBERED:
            del self._codes[next(iter(self._codes))]


def decides(answer: EscalationAnswer, options: tuple[Option, ...]) -> bool:
    """Say whether an answer, be it a late one, chooses an option that does not itself ask for the mode (R-F2)."""
    return any(option.n == answer.option and option.effect != CONSERVATIVE for option in options)
