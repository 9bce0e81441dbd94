"""The seats' pictures, as every surface shows them; drawn once, kept by browsers for a year."""

from __future__ import annotations

import asyncio
import hashlib
from functools import cache
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from moot.channels.showing.avatars import avatar
from moot.channels.showing.looks import LOOKS
from moot.protocols.kernel.seats import Seat
from moot.version import MOOT_VERSION

YEAR: Final = "private, max-age=31536000, immutable"

DRAWN: Final = hashlib.sha256(
    "\n".join((MOOT_VERSION, *(f"{seat} {look.colour}" for seat, look in LOOKS.items()))).encode()
).hexdigest()[:8]
"""Names the drawings: another version may draw them anew."""


def add_pictures(app: FastAPI) -> None:
    """Serve `/pictures/SEAT.png`."""

    async def picture(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in LOOKS:
            return PlainTextResponse(f"There is no seat {name[:40]!r}.", status_code=404)
        drawn = await asyncio.to_thread(_drawn, Seat(name))
        return Response(drawn, media_type="image/png", headers={"cache-control": YEAR})

    app.add_route("/pictures/{name}.png", picture)


@cache
def _drawn(seat: Seat) -> bytes:
    return avatar(seat)
