"""Avatars: a picture of 128 by 128 for each seat, drawn here, so that no file has to travel along.

Bots are on a disc, officers on a rounded square, people on a hexagon; each seat has a sign of its own in white.
Equal bytes for equal versions of Pillow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Final

from moot.channels.showing.looks import LOOKS, MOOT
from moot.protocols.arena.seats import FINALIZER, PLANNER, REVIEWER
from moot.protocols.kernel.seats import (
    ADMIN,
    LIAISON,
    OFFICERS,
    ORCHESTRATOR,
    PEOPLE,
    REFEREE,
    TIMEKEEPER,
    VIEWER,
    Seat,
)
from moot.protocols.panel.seats import DA, DOMAIN, EIC, METHODOLOGY, PERSPECTIVE, SYNTHESIZER
from moot.protocols.research.seats import CRITIC, EVOLVER, EXPLORER
from moot.protocols.trading.seats import GUARDIAN, OPERATOR, TRADER

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

SIDE: Final = 128
"""Pixels of a side."""

_FINER: Final = 4
_INK: Final = (255, 255, 255, 255)

Point = tuple[float, float]


def avatar(seat: Seat | None) -> bytes:
    """Draw a seat's picture, the society's own for None, as PNG."""
    from PIL import Image

    look = LOOKS[seat] if seat is not None else MOOT
    pen = _Pen(look.colour)
    _ground(pen, seat)
    pen.sign(_SIGNS[seat] if seat is not None else _moot)
    out = BytesIO()
    small = pen.image.resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    small.save(out, "PNG", optimize=True)
    return out.getvalue()


def emoji_name(seat: Seat | None) -> str:
    """Name the emoji that carries a seat's picture: 2 to 32 of a-z and _."""
    return f"moot_{seat}" if seat is not None else "moot_society"


class _Pen:
    """Draws in units of a square of 100, four times as fine as the picture will be."""

    def __init__(self, colour: str) -> None:
        from PIL import Image, ImageDraw

        side = SIDE * _FINER
        self.colour = (*bytes.fromhex(colour[1:]), 255)
        self.image: Image.Image = Image.new("RGBA", (side, side), (*self.colour[:3], 0))
        self._draw: ImageDraw.ImageDraw = ImageDraw.Draw(self.image)
        self._unit = side / 100

    def sign(self, draw: Callable[[_Pen], None]) -> None:
        draw(self)

    def polygon(self, points: Sequence[Point], *, is_ground: bool = False) -> None:
        self._draw.polygon([(x * self._unit, y * self._unit) for x, y in points], fill=self._fill(is_ground))

    def line(self, *points: Point, width: float = 7, is_ground: bool = False) -> None:
        """Draw joined strokes with round ends."""
        scaled = [(x * self._unit, y * self._unit) for x, y in points]
        self._draw.line(scaled, fill=self._fill(is_ground), width=round(width * self._unit), joint="curve")
        for x, y in (points[0], points[-1]):
            self.dot(x, y, width / 2, is_ground=is_ground)

    def dot(self, x: float, y: float, radius: float, *, is_ground: bool = False) -> None:
        box = self._box(x - radius, y - radius, x + radius, y + radius)
        self._draw.ellipse(box, fill=self._fill(is_ground))

    def ring(self, x: float, y: float, radius: float, width: float = 7) -> None:
        self.arc(x, y, radius, radius, 0, 360, width)

    def arc(
        self, x: float, y: float, rx: float, ry: float, start: float, end: float, width: float = 7
    ) -> None:
        """Draw a part of an ellipse, degrees clockwise from three o'clock."""
        box = self._box(x - rx, y - ry, x + rx, y + ry)
        self._draw.arc(box, start, end, fill=_INK, width=round(width * self._unit))

    def ellipse(self, x: float, y: float, rx: float, ry: float, *, is_ground: bool = False) -> None:
        self._draw.ellipse(self._box(x - rx, y - ry, x + rx, y + ry), fill=self._fill(is_ground))

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        radius: float = 0,
        *,
        is_ground: bool = False,
    ) -> None:
        scaled = self._box(left, top, right, bottom)
        self._draw.rounded_rectangle(scaled, radius=radius * self._unit, fill=self._fill(is_ground))

    def pie(self, x: float, y: float, radius: float, start: float, end: float) -> None:
        box = self._box(x - radius, y - radius, x + radius, y + radius)
        self._draw.pieslice(box, start, end, fill=_INK)

    def _box(self, left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        return left * self._unit, top * self._unit, right * self._unit, bottom * self._unit

    def _fill(self, is_ground: bool) -> tuple[int, ...]:
        return self.colour if is_ground else _INK


def _ground(pen: _Pen, seat: Seat | None) -> None:
    if seat is None or seat in OFFICERS:
        pen.box(2, 2, 98, 98, 22, is_ground=True)
    elif seat in PEOPLE:
        pen.polygon(_star(50, 50, 49, 6, -90), is_ground=True)
    else:
        pen.dot(50, 50, 49, is_ground=True)


def _at(x: float, y: float, radius: float, degrees: float) -> Point:
    return x + radius * math.cos(math.radians(degrees)), y + radius * math.sin(math.radians(degrees))


def _star(x: float, y: float, radius: float, corners: int, start: float) -> list[Point]:
    return [_at(x, y, radius, start + 360 * n / corners) for n in range(corners)]


def _lens(start: Point, end: Point, bulge: float) -> list[Point]:
    """Return a leaf from one point to another, as thick as twice `bulge`."""
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    length = math.hypot(dx, dy)
    steps = [n / 24 for n in range(25)]
    way = [(t, bulge * math.sin(math.pi * t)) for t in steps] + [
        (t, -bulge * math.sin(math.pi * t)) for t in steps[::-1]
    ]
    return [(x + t * dx - off * dy / length, y + t * dy + off * dx / length) for t, off in way]


def _compass(pen: _Pen) -> None:
    pen.ring(50, 50, 32, 6)
    pen.polygon([(66, 34), (55, 55), (34, 66), (45, 45)])
    pen.dot(50, 50, 4, is_ground=True)


def _magnifier(pen: _Pen) -> None:
    pen.ring(44, 43, 23, 8)
    pen.line((60, 60), (76, 77), width=11)


def _sprout(pen: _Pen) -> None:
    pen.line((50, 82), (50, 60), width=7)
    pen.polygon(_lens((49, 55), (81, 27), 11))
    pen.polygon(_lens((51, 63), (20, 39), 10))


def _gear(pen: _Pen) -> None:
    for n in range(8):
        inner, outer = _at(50, 50, 18, 45 * n), _at(50, 50, 31, 45 * n)
        pen.line(inner, outer, width=11)
    pen.dot(50, 50, 25)
    pen.dot(50, 50, 11, is_ground=True)


def _shield(pen: _Pen) -> None:
    outline = [(50, 17), (77, 26), (76, 50), (68, 67), (50, 83), (32, 67), (24, 50), (23, 26)]
    pen.polygon(outline)
    pen.line((38, 49), (47, 59), (63, 38), width=7, is_ground=True)


def _candles(pen: _Pen) -> None:
    for x, low, high, top, bottom in ((29, 78, 40, 50, 70), (50, 66, 27, 34, 58), (71, 54, 18, 24, 46)):
        pen.line((x, low), (x, high), width=4)
        pen.box(x - 7, top, x + 7, bottom, 2)


def _checklist(pen: _Pen) -> None:
    for y in (31, 50, 69):
        pen.box(24, y - 6, 36, y + 6, 2)
        pen.line((46, y), (75, y), width=7)


def _eye(pen: _Pen) -> None:
    pen.polygon(_lens((16, 50), (84, 50), 23))
    pen.dot(50, 50, 15, is_ground=True)
    pen.dot(50, 50, 7)


def _flag(pen: _Pen) -> None:
    pen.line((27, 20), (27, 82), width=6)
    for row in range(4):
        for column in range(5):
            if (row + column) % 2 == 0:
                pen.box(30 + column * 9.5, 22 + row * 9.5, 39.5 + column * 9.5, 31.5 + row * 9.5)


def _network(pen: _Pen) -> None:
    for n in range(5):
        x, y = _at(50, 50, 30, 72 * n - 90)
        pen.line((50, 50), (x, y), width=5)
        pen.dot(x, y, 8)
    pen.dot(50, 50, 12)


def _nib(pen: _Pen) -> None:
    pen.polygon([(50, 84), (31, 50), (40, 20), (60, 20), (69, 50)])
    pen.line((50, 80), (50, 52), width=4, is_ground=True)
    pen.dot(50, 48, 6, is_ground=True)
    pen.line((40, 29), (60, 29), width=3, is_ground=True)


def _flask(pen: _Pen) -> None:
    pen.box(37, 18, 63, 25, 3)
    pen.polygon([(42, 22), (58, 22), (58, 44), (77, 74), (73, 81), (27, 81), (23, 74), (42, 44)])
    pen.polygon([(47, 27), (53, 27), (53, 46), (60, 57), (40, 57), (47, 46)], is_ground=True)
    pen.dot(43, 70, 4, is_ground=True)
    pen.dot(57, 66, 5, is_ground=True)


def _globe(pen: _Pen) -> None:
    pen.ring(50, 50, 32, 6)
    pen.arc(50, 50, 15, 32, 0, 360, 5)
    pen.line((20, 50), (80, 50), width=5)
    for y in (34, 66):
        pen.line((25, y), (75, y), width=4)


def _cube(pen: _Pen) -> None:
    corners = _star(50, 50, 33, 6, -90)
    pen.polygon(corners)
    for corner in (corners[1], corners[3], corners[5]):
        pen.line((50, 50), corner, width=5, is_ground=True)


def _trident(pen: _Pen) -> None:
    pen.line((50, 20), (50, 83), width=7)
    pen.line((27, 26), (27, 40), (33, 51), (50, 55), (67, 51), (73, 40), (73, 26), width=7)
    for x, y in ((27, 15), (50, 12), (73, 15)):
        pen.polygon([(x, y), (x + 9, y + 16), (x - 9, y + 16)])


def _confluence(pen: _Pen) -> None:
    pen.line((24, 24), (50, 54), (76, 24), width=7)
    pen.line((50, 22), (50, 70), width=7)
    pen.polygon([(50, 85), (33, 63), (67, 63)])


def _scales(pen: _Pen) -> None:
    pen.line((50, 20), (50, 78), width=6)
    pen.line((33, 80), (67, 80), width=7)
    pen.line((24, 29), (76, 29), width=6)
    for x in (26, 74):
        pen.line((x, 30), (x - 12, 56), width=3)
        pen.line((x, 30), (x + 12, 56), width=3)
        pen.pie(x, 55, 14, 0, 180)


def _clock(pen: _Pen) -> None:
    pen.ring(50, 50, 33, 7)
    pen.line((50, 30), (50, 51), (64, 60), width=7)


def _bridge(pen: _Pen) -> None:
    pen.line((15, 67), (85, 67), width=7)
    for x in (30, 70):
        pen.line((x, 27), (x, 80), width=7)
    pen.arc(50, 30, 20, 27, 0, 180, 5)
    pen.arc(10, 30, 20, 27, 15, 90, 5)
    pen.arc(90, 30, 20, 27, 90, 165, 5)
    pen.line((50, 57), (50, 67), width=4)


def _crown(pen: _Pen) -> None:
    pen.polygon([(23, 66), (18, 33), (35, 47), (50, 24), (65, 47), (82, 33), (77, 66)])
    pen.box(23, 70, 77, 78, 2)
    for x, y in ((18, 32), (50, 23), (82, 32)):
        pen.dot(x, y, 5)


def _spectacles(pen: _Pen) -> None:
    for x in (32, 68):
        pen.ring(x, 55, 16, 7)
    pen.arc(50, 54, 7, 8, 180, 360, 6)
    pen.line((17, 51), (23, 36), width=6)
    pen.line((83, 51), (77, 36), width=6)


def _moot(pen: _Pen) -> None:
    pen.box(18, 24, 82, 66, 14)
    pen.polygon([(32, 62), (32, 84), (54, 62)])
    for x in (34, 50, 66):
        pen.dot(x, 45, 5.5, is_ground=True)


_SIGNS: Final[Mapping[Seat, Callable[[_Pen], None]]] = {
    EXPLORER: _compass,
    CRITIC: _magnifier,
    EVOLVER: _sprout,
    OPERATOR: _gear,
    GUARDIAN: _shield,
    TRADER: _candles,
    PLANNER: _checklist,
    REVIEWER: _eye,
    FINALIZER: _flag,
    ORCHESTRATOR: _network,
    EIC: _nib,
    METHODOLOGY: _flask,
    DOMAIN: _globe,
    PERSPECTIVE: _cube,
    DA: _trident,
    SYNTHESIZER: _confluence,
    REFEREE: _scales,
    TIMEKEEPER: _clock,
    LIAISON: _bridge,
    ADMIN: _crown,
    VIEWER: _spectacles,
}
