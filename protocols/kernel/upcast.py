"""Reading older envelopes: upcasters by type and schema version; opaque bodies for unknown types (K4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import model_serializer

from moot.protocols.kernel.envelope import SCHEMA_VERSION
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.fields import FrozenJson
from moot.protocols.kernel.frozen import thaw
from moot.protocols.kernel.message import Message

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
"""Turns a body of one version into one of the next."""

UPCASTERS: Final[dict[tuple[str, int], Upcaster]] = {}
"""By (type, version it reads). Between 1 and 2 only the order of the fields changed, so there are none yet."""


class Opaque(Message):
    """A body of a type that this version does not know; it is kept and folds as nothing."""

    data: FrozenJson

    @model_serializer
    def _as_it_was(self) -> object:
        return thaw(self.data)


def upcast(
    body: dict[str, Any], version: int, table: Mapping[tuple[str, int], Upcaster] = UPCASTERS
) -> dict[str, Any]:
    """Bring a body up to the present schema version.

    Raises:
        Malformed: The version is of the future.
    """
    if version > SCHEMA_VERSION:
        raise Malformed(
            "K4",
            f"schema version {version} is newer than {SCHEMA_VERSION}: update moot to read it",
            field="v",
        )
    for step in range(version, SCHEMA_VERSION):
        upcaster = table.get((str(body.get("type")), step))
        if upcaster is not None:
            body = upcaster(body)
    return body
