"""What a seat may see of a log: channels that it reads, less what an obligation withholds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from moot.protocols.kernel.catalogue import Matrix
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.obligation import EVERYTHING, Visibility
from moot.protocols.kernel.seats import Seat


def seen(
    envelopes: Iterable[Envelope], matrix: Matrix, seat: Seat, sight: Visibility | None = None
) -> Iterator[Envelope]:
    """Yield the messages that a seat may see.

    Args:
        envelopes: Messages of a log.
        matrix: Who reads what.
        seat: Whose sight it is.
        sight: What an obligation of that seat withholds; None: nothing.
    """
    readable = matrix.readable(seat)
    for envelope in envelopes:
        if envelope.channel in readable and may_see(sight or EVERYTHING, envelope):
            yield envelope


def may_see(sight: Visibility, env: Envelope) -> bool:
    """Say whether an obligation lets a mind see a message (K12)."""
    return (
        env.case_id not in sight.hidden_cases
        and env.body.type not in sight.hidden_types
        and env.author not in sight.hidden_authors
        and (sight.shown_types is None or env.body.type in sight.shown_types)
    )
