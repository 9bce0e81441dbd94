"""The seats' pictures, as every surface shows them; kept by browsers for a year."""

from __future__ import annotations

import hashlib
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from moot.channels.showing.avatars import avatar
from moot.channels.showing.looks import LOOKS

YEAR: Final = "private, max-age=31536000, immutable"

PICTURES: Final = {str(seat): avatar(seat) for seat in LOOKS}

DRAWN: Final = hashlib.sha256(b"".join(PICTURES.values())).hexdigest()[:8]
"""Names the pictures: another version may bring others."""


def add_pictures(app: FastAPI) -> None:
    """Serve `/pictures/SEAT.png`."""

    async def picture(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in PICTURES:
            return PlainTextResponse(f"There is no seat {name[:40]!r}.", status_code=404)
        return Response(PICTURES[name], media_type="image/png", headers={"cache-control": YEAR})

    app.add_route("/pictures/{name}.png", picture)
