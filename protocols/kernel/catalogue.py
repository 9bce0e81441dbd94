"""The catalogue: all channels, who reads them, and the permission matrix that says who writes what where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from moot.protocols.kernel.errors import Forbidden
from moot.protocols.kernel.seats import ARENA, OFFICERS, PANEL, SYSTEM_A, SYSTEM_B, Seat, system_of


class Channel(NamedTuple):
    """A place for messages.

    Attributes:
        name: With its `#`.
        system: The society it belongs to, `both` for those that both systems see.
        purpose: What is said there.
    """

    name: str
    system: Literal["A", "B", "both", "arena", "panel", "lab"]
    purpose: str


CHANNELS: Final = (
    Channel("#a-arena", "A", "debates over hypotheses and architecture, cycles, thresholds"),
    Channel("#a-verdict", "A", "verdicts and backtest results"),
    Channel("#a-research", "A", "the Explorer's research notes"),
    Channel("#a-report", "A", "reports, principles, reflections"),
    Channel("#b-ops", "B", "deployments, promotions, risk decisions"),
    Channel("#b-desk", "B", "signals, orders, executions"),
    Channel("#b-risk", "B", "the Guardian's alerts and halts"),
    Channel("#b-report", "B", "trading reports"),
    Channel("#bridge", "both", "what passes between the two systems"),
    Channel("#admin", "both", "the society's life, escalations, audits"),
    Channel("#r-arena", "arena", "plan, review, finalise: the artifact arena"),
    Channel("#r-panel", "panel", "review panels under a contract"),
    Channel("#lab", "lab", "experiments that sample distributions of answers"),
)

ANY: Final = frozenset(channel.name for channel in CHANNELS)
"""Every channel."""

_SYSTEM: Final = {channel.name: channel.system for channel in CHANNELS}


def channels_of(*systems: str) -> frozenset[str]:
    """Name the channels of some systems."""
    return frozenset(channel.name for channel in CHANNELS if channel.system in systems)


class Right(NamedTuple):
    """One row of the permission matrix: these seats may post this type in these channels."""

    type: str
    seats: frozenset[Seat]
    channels: frozenset[str]


READING: Final[tuple[tuple[frozenset[Seat], frozenset[str]], ...]] = (
    (SYSTEM_A, channels_of("A", "both")),
    (SYSTEM_B, channels_of("B", "both")),
    (ARENA, channels_of("arena")),
    (PANEL, channels_of("panel")),
    (OFFICERS | {Seat.ADMIN}, ANY),
)
"""Which seats read which channels (R-B11); viewers read what their `Viewers` says."""


class Viewers(NamedTuple):
    """What people without the admin role may do; `config` sets it.

    Attributes:
        reads: Channels they read.
        writes: Channels in which they may post what the matrix lets viewers post.
    """

    reads: frozenset[str] = ANY
    writes: frozenset[str] = ANY - {"#admin"}


class Matrix:
    """The permission matrix: seat × channel × type, and who reads which channel."""

    def __init__(self, rows: Iterable[Right], viewers: Viewers = Viewers()) -> None:  # noqa: B008  # immutable
        """Index the rows.

        Raises:
            ValueError: A row or the viewers name a channel that does not exist.
        """
        self.rows = tuple(rows)
        self.viewers = viewers
        for name, channels in [(row.type, row.channels) for row in self.rows] + [
            ("viewers", viewers.reads | viewers.writes)
        ]:
            if unknown := channels - ANY:
                raise ValueError(f"{name}: there is no channel {', '.join(sorted(unknown))}")
        self._allowed = frozenset(
            (seat, channel, row.type)
            for row in self.rows
            for seat in row.seats
            for channel in (row.channels & viewers.writes if seat is Seat.VIEWER else row.channels)
        )
        self._reads = {seat: channels for seats, channels in READING for seat in seats}
        self._reads[Seat.VIEWER] = viewers.reads

    @property
    def types(self) -> frozenset[str]:
        """Return the types that somebody may post."""
        return frozenset(row.type for row in self.rows)

    def may_write(self, seat: Seat, channel: str, kind: str) -> bool:
        """Say whether a seat may post a message of this type in a channel."""
        return (seat, channel, kind) in self._allowed

    def check(self, author: Seat, channel: str, kind: str) -> None:
        """Refuse what the matrix does not allow.

        Raises:
            Forbidden: The sentence says whether type, seat or channel is wrong, and what would be allowed.
        """
        if (author, channel, kind) not in self._allowed:
            raise self._refusal(author, channel, kind)

    def may_read(self, seat: Seat, channel: str) -> bool:
        """Say whether a seat reads a channel."""
        return channel in self.readable(seat)

    def readable(self, seat: Seat) -> frozenset[str]:
        """Return the channels that a seat reads."""
        return self._reads.get(seat, frozenset())

    def _refusal(self, author: Seat, channel: str, kind: str) -> Forbidden:
        if channel not in ANY:
            return Forbidden("messages", f"there is no channel {channel!r}", field="channel")
        # A plain string may stand for a seat here: envelopes of unchecked logs carry what they carry.
        if {system_of(author), _SYSTEM[channel]} == {"A", "B"}:
            return Forbidden(
                "R-B11",
                f"{author} is of System {system_of(author)} and has no part in {channel}",
                field="channel",
            )
        rows = [row for row in self.rows if row.type == kind]
        if not rows:
            return Forbidden("messages", f"nobody may post {kind}", field="body.type")
        where = frozenset(place for seat, place, type_ in self._allowed if type_ == kind and seat == author)
        if where:
            return Forbidden(
                "messages", f"{author} may post {kind} in {_list(where)}, not in {channel}", field="channel"
            )
        who = frozenset().union(*(row.seats for row in rows))
        return Forbidden("messages", f"{author} may not post {kind}: only {_list(who)} may", field="author")


def _list(names: Iterable[str]) -> str:
    *most, last = sorted(str(name) for name in names)
    return f"{', '.join(most)} or {last}" if most else last
