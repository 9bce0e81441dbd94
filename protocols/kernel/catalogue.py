"""The catalogue: what a channel is, who reads which, and the permission matrix that says who writes what where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from moot.protocols.kernel.errors import Forbidden
from moot.protocols.kernel.seats import ADMIN, OFFICERS, VIEWER, Seat, SeatInfo


class Channel(NamedTuple):
    """A place for messages.

    Attributes:
        name: With its `#`.
        system: The group that it belongs to: a system, `both` for what both see, or another protocol's seats.
        purpose: What is said there.
        group: The heading that it is listed under; "": its system's name.
        guests: Seats of other groups that read it.
        is_private: Whether viewers read it only where the configuration names it, beyond `*`; no platform mirrors it.
    """

    name: str
    system: str
    purpose: str
    group: str = ""
    guests: frozenset[Seat] = frozenset()
    is_private: bool = False

    @property
    def heading(self) -> str:
        """Return the heading that it is listed under."""
        return self.group or (f"System {self.system}" if self.system in SYSTEMS else self.system.capitalize())


ANY: Final = frozenset({"*"})
"""Every channel that there is."""

CLOSED: Final = frozenset({"#admin"})
"""Where viewers write only if the configuration says so."""

SYSTEMS: Final = frozenset({"A", "B"})
"""The groups of channels that are kept apart, but for those of `both` (R-B11)."""


class Right(NamedTuple):
    """One row of the permission matrix: these seats may post this type in these channels."""

    type: str
    seats: frozenset[Seat]
    channels: frozenset[str]


class Viewers(NamedTuple):
    """What people without the admin role may do; `config` sets it.

    Attributes:
        reads: Channels they read.
        writes: Channels in which they may post what the matrix lets viewers post; `ANY` leaves out #admin.
    """

    reads: frozenset[str] = ANY
    writes: frozenset[str] = ANY


def meant(named: frozenset[str], channels: frozenset[str]) -> frozenset[str]:
    """Return the channels that are meant: all that there are for `ANY`."""
    return channels if named == ANY else named


class Matrix:
    """The permission matrix: seat × channel × type, and who reads which channel."""

    def __init__(
        self,
        rows: Iterable[Right],
        channels: Iterable[Channel],
        seats: Iterable[SeatInfo],
        viewers: Viewers = Viewers(),  # noqa: B008  # immutable
    ) -> None:
        """Index the rows.

        Raises:
            ValueError: A row or the viewers name a channel that does not exist.
        """
        channels = tuple(channels)
        self._group = {channel.name: channel.system for channel in channels}
        self._guests = {channel.name: channel.guests for channel in channels}
        self.seats = {info.seat: info for info in seats}
        self.channels = frozenset(self._group)
        public = frozenset(channel.name for channel in channels if not channel.is_private)
        self.rows = tuple(row._replace(channels=meant(row.channels, self.channels)) for row in rows)
        self.viewers = Viewers(meant(viewers.reads, public), meant(viewers.writes, public - CLOSED))
        for name, named in [(row.type, row.channels) for row in self.rows] + [
            ("viewers", self.viewers.reads | self.viewers.writes)
        ]:
            if unknown := named - self.channels:
                raise ValueError(f"{name}: there is no channel {', '.join(sorted(unknown))}")
        self._allowed = frozenset(
            (seat, channel, row.type)
            for row in self.rows
            for seat in row.seats
            for channel in (row.channels & self.viewers.writes if seat == VIEWER else row.channels)
        )
        self._reads = {seat: self._read_by(info) for seat, info in self.seats.items()}

    def _read_by(self, info: SeatInfo) -> frozenset[str]:
        """Say what a seat reads: its group's channels, where it is a guest, and what both systems see (R-B11)."""
        if info.seat == VIEWER:
            return self.viewers.reads
        if info.seat == ADMIN or info.seat in OFFICERS:
            return self.channels
        groups = {info.group, "both"} if info.group in SYSTEMS else {info.group}
        return frozenset(
            name for name, group in self._group.items() if group in groups or info.seat in self._guests[name]
        )

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
        if channel not in self.channels:
            return Forbidden("messages", f"there is no channel {channel!r}", field="channel")
        info = self.seats.get(author)
        if info is None:
            return Forbidden("messages", f"there is no seat {str(author)!r}", field="author")
        if {info.group, self._group[channel]} == SYSTEMS:
            return Forbidden(
                "R-B11",
                f"{author} is of System {info.group} and has no part in {channel}",
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
        if named := frozenset().union(*(row.channels for row in rows if author in row.seats)):
            places = "any channel" if named == self.channels else _list(named)
            why = f"{author} may post {kind} in {places} where [viewers] writes names it, and it does not"
            return Forbidden("messages", why, field="channel")
        who = frozenset().union(*(row.seats for row in rows))
        return Forbidden("messages", f"{author} may not post {kind}: only {_list(who)} may", field="author")


def _list(names: Iterable[str]) -> str:
    *most, last = sorted(str(name) for name in names)
    return f"{', '.join(most)} or {last}" if most else last
