"""What a seat may see of a log: channels that it reads, less what an obligation withholds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from moot.protocols.kernel.catalogue import Viewers
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.obligation import EVERYTHING, Obligation, Visibility
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rules


class Onlooker:
    """Follows a log for what a seat may see: `take` for each message, `end` at the end.

    Attributes:
        reads: The channels that it reads, as the society is configured.
        owes: What it owes.
    """

    def __init__(self, seat: Seat, owed: str | None = None) -> None:
        """Look for a seat.

        Args:
            seat: Whose sight it is.
            owed: Id of an obligation that it has or had: what it was shown for that, as long as it was owed.
        """
        self._seat = seat
        self._owed = owed
        self._found: Obligation | None = None
        self._until: int | None = None
        self._matrix = rules().matrix
        self.owes: tuple[Obligation, ...] = ()

    def take(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one message."""
        if self._owed is not None and (owed := docket.open.get(self._owed)) and owed.seat == self._seat:
            self._found, self._until = owed, docket.seq

    def end(self, docket: Docket) -> None:
        """Take in how the log stands at its end.

        Raises:
            BadInput: The seat never owed what was asked for.
        """
        self._matrix = rules(viewers_in(docket.context.config)).matrix
        self.owes = tuple(one for one in docket.open.values() if one.seat == self._seat)
        if self._owed is not None and self._found is None:
            known = ", ".join(one.id for one in self.owes) or "nothing"
            raise BadInput(
                f"owed {self._owed[:120]}: the {self._seat} never owed it; at the end of the log it owes {known}"
            )

    @property
    def reads(self) -> list[str]:
        """Return the channels that the seat reads, sorted."""
        return sorted(self._matrix.readable(self._seat))

    def sees(self, envelopes: Iterable[Envelope], case: str | None = None) -> Iterator[Envelope]:
        """Yield the messages that the seat may see.

        Args:
            envelopes: Messages of the log, in their order.
            case: Only those of this case.
        """
        readable = self._matrix.readable(self._seat)
        sight = self._found.may_see if self._found is not None else EVERYTHING
        for env in envelopes:
            if self._until is not None and env.seq > self._until:
                return
            if env.channel in readable and may_see(sight, env) and (case is None or env.case_id == case):
                yield env


def may_see(sight: Visibility, env: Envelope) -> bool:
    """Say whether an obligation lets a mind see a message (K12)."""
    return (
        env.case_id not in sight.hidden_cases
        and env.body.type not in sight.hidden_types
        and env.author not in sight.hidden_authors
        and (sight.shown_types is None or env.body.type in sight.shown_types)
    )


def viewers_in(config: Mapping[str, Any]) -> Viewers:
    """Return what people without the admin role may do by a configuration as a log states it."""
    from pydantic import ValidationError

    from moot.config.sections import ViewerSettings

    try:
        return ViewerSettings.model_validate(config["viewers"]).viewers()
    except (KeyError, ValidationError):
        return Viewers()
