"""The seats' pictures, as every surface shows them; kept by browsers for a year."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from moot.channels.showing.avatars import avatar
from moot.protocols.rulebook import Rulebook, rulebook

YEAR: Final = "private, max-age=31536000, immutable"


@cache
def _pictures(book: Rulebook) -> Mapping[str, bytes]:
    return {str(seat): avatar(seat) for seat in book.seats}


def drawings() -> str:
    """Name the pictures: another version may draw them anew."""
    return hashlib.sha256(b"".join(_pictures(rulebook()).values())).hexdigest()[:8]


def add_pictures(app: FastAPI) -> None:
    """Serve `/pictures/SEAT.png`."""

    async def picture(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _pictures(rulebook()):
            return PlainTextResponse(f"There is no seat {name[:40]!r}.", status_code=404)
        return Response(_pictures(rulebook())[name], media_type="image/png", headers={"cache-control": YEAR})

    app.add_route("/pictures/{name}.png", picture)
