"""What `[surfaces.discord]` says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_SNOWFLAKE: Final = re.compile(r"\d{1,20}")
_PREFIX: Final = re.compile(r"[a-z0-9_-]{0,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the surface, checked.

    Attributes:
        guild: Id of the server; "" while nobody has chosen one.
        token_file: File with the bot's token; None: the environment has it.
        api: Base of the REST API; "" for Discord's.
        gateway: Address of the gateway; "" for Discord's.
        cdn: Where pictures are; "" for Discord's, or the host of `api`.
        admin_role: Id of the role of admins, who may write in every channel that `setup` makes; "" for none.
        category: The heading under which `setup` makes channels.
        prefix: What stands before the names of channels there.

    Raises:
        ValueError: One of them is not what it must be; says what that is.
    """

    guild: str = ""
    token_file: str | None = None
    api: str = ""
    gateway: str = ""
    cdn: str = ""
    admin_role: str = ""
    category: str = "Moot"
    prefix: str = ""

    def __post_init__(self) -> None:
        """Check every option."""
        if self.guild and not _SNOWFLAKE.fullmatch(self.guild):
            raise ValueError(f"guild is the server's id, a long number in quotes, not {self.guild!r}")
        if self.api and not re.fullmatch(r"https?://\S+", self.api):
            raise ValueError(f"api is an address that begins with https://, not {self.api!r}")
        if self.gateway and not re.fullmatch(r"wss?://\S+", self.gateway):
            raise ValueError(f"gateway is an address that begins with wss://, not {self.gateway!r}")
        if self.cdn and not re.fullmatch(r"https?://\S+", self.cdn):
            raise ValueError(f"cdn is an address that begins with https://, not {self.cdn!r}")
        if self.admin_role and not _SNOWFLAKE.fullmatch(self.admin_role):
            raise ValueError(f"admin_role is the role's id, a long number in quotes, not {self.admin_role!r}")
        if not 1 <= len(self.category) <= 100:
            raise ValueError("category is a heading of 1 to 100 characters")
        if not _PREFIX.fullmatch(self.prefix):
            raise ValueError(f"prefix is at most 40 of a-z, 0-9, - and _, not {self.prefix!r}")

    @property
    def guild_id(self) -> int:
        """Return the server's id, 0 while nobody has chosen one."""
        return int(self.guild or 0)

    def name_of(self, channel: str) -> str:
        """Return what a channel of the log is called there, without its `#`."""
        return self.prefix + channel.removeprefix("#")

    def webhook_of(self, channel: str) -> str:
        """Return the name that a channel's webhook is given; not every server keeps a name as it was given."""
        return f"Moot {self.name_of(channel)}"
