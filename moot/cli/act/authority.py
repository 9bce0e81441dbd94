"""Who a person is in a society: admin or viewer (R-E5); the platform of the command line is `cli`.

The society judges for itself at its door. This says the same beforehand, from the configuration that its log
states, for what is queued or belongs to no message.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from moot.cli.errors import Refused, Unusable
from moot.cli.place import login_name, owner_of
from moot.cli.reading import Log, key

if TYPE_CHECKING:
    from moot.protocols.kernel.catalogue import Viewers
    from moot.protocols.kernel.seats import Seat

PLATFORM: Final = "cli"
MOST_NAME: Final = 60

As = Annotated[
    str | None, typer.Option("--as", metavar="USER", help="Who acts; by default whoever is logged in.")
]


def user_of(given: str | None) -> str:
    """Return who acts.

    Raises:
        Unusable: The name is none.
    """
    from moot.protocols.rulebook import rulebook

    user = login_name() if given is None else given
    if not user.strip() or len(user) > MOST_NAME or not user.isprintable():
        raise Unusable(f"--as {user[:MOST_NAME]!r}: a user is a name of 1 to {MOST_NAME} characters")
    if given is not None and given != login_name() and given.lower() in rulebook().seats:
        raise Unusable(f"--as {given}: that is a seat, name a person; moot take puts one into a seat")
    return user


def config_of(log: Log) -> dict[str, Any]:
    """Return the configuration that a society's log states last."""
    started = log.newest(key("type", "SOCIETY_STARTED"))
    if started is None:
        return {}
    message = json.loads(started)
    config: dict[str, Any] = dict(message["body"]["config"])
    changed = log.newest(key("type", "CONFIG_CHANGED"))
    if changed is not None and (later := json.loads(changed))["seq"] > message["seq"]:
        config.update(later["body"]["changes"])
    return config


def admins_of(log: Log) -> frozenset[str]:
    """Return the admins of a society on this platform: its owner, and whom its configuration names."""
    return frozenset({owner_of(log.path.parent), *_configured(log)})


def _configured(log: Log) -> tuple[str, ...]:
    """Return whom a society's configuration names as admins on this platform."""
    configured = config_of(log).get("admins")
    named = configured.get(PLATFORM) if isinstance(configured, dict) else None
    return tuple(map(str, named or ()))


def viewers_of(log: Log) -> Viewers:
    """Return what people without the admin role may do."""
    from moot.seeing import viewers_in

    return viewers_in(config_of(log))


def seat_of(user: str, log: Log) -> Seat:
    """Say what a person is in the society of a log."""
    from moot.protocols.kernel.seats import ADMIN, VIEWER

    return ADMIN if user in admins_of(log) else VIEWER


def remedy(log: Log, user: str, channel: str = "") -> str:
    """Name the line of the configuration that would let a viewer do it: say something in a channel, or all else."""
    if channel:
        writes = _written(*sorted(viewers_of(log).writes), channel)
        return f"; [viewers] writes = {writes} in its configuration would allow it"
    return f"; [admins] {PLATFORM} = {_written(*_configured(log), user)} in its configuration would allow it"


def _written(*names: str) -> str:
    return json.dumps(list(dict.fromkeys(names)), ensure_ascii=False)


def require_admin(user: str, named: Path, what: str) -> Log:
    """Return the log that a user names, if that person is an admin of its society.

    Raises:
        Refused: The person is not.
    """
    log = Log(named)
    admins = admins_of(log)
    if user not in admins:
        raise Refused(
            f"{user} is a viewer here, only admins may {what}: {', '.join(sorted(admins))}{remedy(log, user)}"
        )
    return log
