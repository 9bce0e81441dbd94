"""Discord's permissions by name, and how roles and overwrites add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Json = dict[str, Any]

PERMISSIONS = {
    "CREATE_INSTANT_INVITE": 1 << 0, "ADMINISTRATOR": 1 << 3, "MANAGE_CHANNELS": 1 << 4, "MANAGE_GUILD": 1 << 5,
    "ADD_REACTIONS": 1 << 6, "VIEW_CHANNEL": 1 << 10, "SEND_MESSAGES": 1 << 11, "MANAGE_MESSAGES": 1 << 13,
    "EMBED_LINKS": 1 << 14, "ATTACH_FILES": 1 << 15, "READ_MESSAGE_HISTORY": 1 << 16,
    "MENTION_EVERYONE": 1 << 17, "MANAGE_ROLES": 1 << 28, "MANAGE_WEBHOOKS": 1 << 29,
    "USE_APPLICATION_COMMANDS": 1 << 31, "MANAGE_THREADS": 1 << 34, "CREATE_PUBLIC_THREADS": 1 << 35,
    "SEND_MESSAGES_IN_THREADS": 1 << 38,
}  # fmt: skip
EVERYBODY_MAY = sum(
    PERMISSIONS[name]
    for name in (
        "ADD_REACTIONS", "VIEW_CHANNEL", "SEND_MESSAGES", "EMBED_LINKS", "ATTACH_FILES", "READ_MESSAGE_HISTORY",
        "USE_APPLICATION_COMMANDS", "CREATE_PUBLIC_THREADS", "SEND_MESSAGES_IN_THREADS", "CREATE_INSTANT_INVITE",
    )
)  # fmt: skip
BOT_MAY = EVERYBODY_MAY | sum(
    PERMISSIONS[name]
    for name in ("MANAGE_CHANNELS", "MANAGE_WEBHOOKS", "MANAGE_MESSAGES", "MANAGE_THREADS", "MANAGE_ROLES")
)


def permitted(
    held: Iterable[int], overwrites: Iterable[Json], *, everybody: str, roles: Sequence[str], user: str
) -> int:
    """Add up as the reference tells: roles, then overwrites of everybody, of the roles, of the member."""
    allowed = 0
    for bits in held:
        allowed |= bits
    if allowed & PERMISSIONS["ADMINISTRATOR"]:
        return sum(PERMISSIONS.values())
    by_id = {item["id"]: item for item in overwrites}
    for ids in ([everybody], roles, [user]):
        for id in ids:
            allowed &= ~int(by_id.get(id, {}).get("deny", 0))
        for id in ids:
            allowed |= int(by_id.get(id, {}).get("allow", 0))
    return allowed
