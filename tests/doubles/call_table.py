"""A synchronous society in which one motion is debated and a bursar books calls for it, in the test's hands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.calls import messages as m
from moot.protocols.calls.call import call_id_of, refused_key, reserved_key, settled_key
from moot.protocols.calls.ledger import Ledger
from moot.protocols.calls.usage import Usage
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.seats import ADMIN, BURSAR, Seat
from moot.protocols.motion.seats import ADVOCATE
from tests.doubles.motion_table import QUESTION, MotionTable

SHA: Final = "ab" * 32
PRICED: Final[Mapping[str, Any]] = {"model": "test-1", "price": {"input": "1", "output": "4"}}
"""A token of a prompt costs a micro-dollar, one of an answer four."""
FREE: Final[Mapping[str, Any]] = {"model": "test-2"}
"""A model of which nobody knows what it costs."""

__all__ = ["QUESTION", "CallTable"]


class CallTable(MotionTable):
    """Opens a motion; the advocate's calls are reserved, settled and refused as the test wants it."""

    def __init__(self, budget: Mapping[str, Any] | None = None, **config: Any) -> None:
        """Open a motion in a society with a budget, whose advocate is a model."""
        self.given = {
            "budget": dict(budget or {}),
            "models": {"priced": PRICED, "free": FREE},
            "minds": {"advocate": {"model": "priced"}},
            **config,
        }
        super().__init__()

    def start(self) -> None:
        """Say SOCIETY_STARTED with this configuration."""
        self.config = {**self.config, **self.given}
        super().start()

    @property
    def ledger(self) -> Ledger:
        """Return the ledger."""
        found = self.docket.context.fold_named("ledger")
        assert isinstance(found, Ledger)
        return found

    def asked(self, **over: Any) -> dict[str, Any]:
        """Return the fields of the next call for the claim."""
        owed = self.docket.owed_by(ADVOCATE)[0]
        place = {"obligation": owed.id, "attempt": self.docket.attempts.get(owed.id, 0), "turn": 1}
        place.update({name: value for name, value in over.items() if name in place})
        fields = {
            **place,
            "seat": "advocate",
            "case": self.motion_id,
            "try_": len(self.ledger.calls(**place)) + 1,
            "model": "priced",
            "max_cost": 1_000,
            "max_tokens": 400,
            **over,
        }
        call_id = call_id_of(*(fields[name] for name in ("obligation", "attempt", "turn", "try_")))
        return {"call_id": call_id, **fields}

    def bursar(self, body: m.CallReserved | m.CallRefused | m.CallSettled, key: str) -> Envelope:
        """Say something as the bursar."""
        env = self.publish(Draft(channel="#calls", author=BURSAR, actor=OFFICER, key=key, body=body))
        assert env is not None
        return env

    def reserve(self, **over: Any) -> Envelope:
        """Reserve the next call for the claim."""
        body = m.CallReserved(**{"request_sha256": SHA, **self.asked(**over)})
        return self.bursar(body, reserved_key(body.call_id))

    def refuse(self, **over: Any) -> Envelope:
        """Refuse the next call for the claim."""
        body = m.CallRefused(**{"why": "no room", **self.asked(**over)})
        return self.bursar(body, refused_key(body.call_id))

    def settle(self, call_id: str, input: int = 100, output: int = 50, **over: Any) -> Envelope:
        """Settle a call, answered with so many tokens unless something else is said."""
        fields: dict[str, Any] = {
            "call_id": call_id,
            "outcome": "answered",
            "why": "",
            "model_reported": "test-1",
            "provider_id": "chat-1",
            "finish": "stop",
            "usage": Usage(input=input, output=output),
            "latency_ms": 700,
            "reply_sha256": SHA,
            **over,
        }
        if "cost" not in fields:
            call = self.ledger.open[call_id]
            booked = call.came_to(fields["usage"], is_free=bool(over.get("is_free")))
            fields |= dict(zip(("cost", "tokens", "overrun"), booked, strict=True))
        fields.pop("is_free", None)
        body = m.CallSettled(**fields)
        return self.bursar(body, settled_key(body.call_id))

    def budget(self, seat: Seat = ADMIN, **fields: Any) -> Envelope:
        """Set a budget."""
        return self.say(seat, m.BudgetSet(**fields), channel="#admin")

    def booked(self, scope: m.Scope, key: str = "", unit: str = "usd") -> int:
        """Return what is booked at a place."""
        for place, _limit, booked, _held in self.ledger.room(self.now):
            if (place.scope, place.key) == (scope, key):
                return int(getattr(booked, unit) or 0)
        return 0
