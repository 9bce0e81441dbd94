"""The sections of a configuration: what each one may say, and its defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from moot.protocols.kernel.catalogue import Viewers
from moot.protocols.rulebook import rulebook


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScheduleSettings(_Section):
    """When a cycle is due: a cron expression, instants, or both; UTC."""

    cron: str | None = None
    at: tuple[str, ...] = ()

    def spec(self) -> dict[str, Any]:
        """Return it as the log keeps it."""
        return {**({"cron": self.cron} if self.cron else {}), **({"at": list(self.at)} if self.at else {})}


class ViewerSettings(_Section):
    """What people without the admin role may read and write; `*` stands for every channel that is not private."""

    reads: tuple[str, ...] = ("*",)
    writes: tuple[str, ...] = ()

    def viewers(self) -> Viewers:
        """Return it as the permission matrix takes it."""
        return Viewers(rulebook().named(self.reads), rulebook().named(self.writes))


class ClockSettings(_Section):
    """The clock's manners with people."""

    human_wall_s: Annotated[float, Field(ge=0, le=86_400)] = 600.0


class LogSettings(_Section):
    """What an acknowledged message survives."""

    durability: Literal["power", "process"] = "power"


class PriceSettings(_Section):
    """Where prices come from."""

    source: str = "sample"


class DeskSettings(_Section):
    """System B: whether it lives, with how many dollars, on which intraday prices."""

    enabled: bool = True
    capital: Annotated[float, Field(ge=1_000, le=1_000_000_000)] = 1_000_000.0
    intraday: str = ""


class ArenaSettings(_Section):
    """The Arena: whether its seats are filled, and the notebook that grounds its runs, one of three kinds."""

    enabled: bool = True
    notebook: str = ""
    mcp: str = ""
    mcp_url: str = ""

    @model_validator(mode="after")
    def _one_notebook(self) -> ArenaSettings:
        if sum(map(bool, (self.notebook, self.mcp, self.mcp_url))) > 1:
            raise ValueError("name one notebook: a folder, an MCP command or an MCP URL")
        return self


Say = Literal["off", "advisory", "binding"]
"""What a panel has to say in a decision: nothing, an opinion, or a veto."""


class PanelSettings(_Section):
    """Review panels: whether their seats are filled, and which decisions are put before one."""

    enabled: bool = True
    promotions: Say = "off"
    architecture: Say = "off"

    @model_validator(mode="after")
    def _filled_where_asked(self) -> PanelSettings:
        for name in ("promotions", "architecture"):
            if not self.enabled and getattr(self, name) != "off":
                raise ValueError(
                    f"{name} is {getattr(self, name)}, but enabled = false leaves no panel to ask"
                )
        return self


class MotionSettings(_Section):
    """Motions: whether their seats are filled."""

    enabled: bool = True


class ProtocolSettings(_Section):
    """Protocols besides Moot's own and the installed ones: modules that each hold one as PROTOCOL."""

    modules: tuple[str, ...] = ()


class ConsoleSettings(_Section):
    """The web page: whether `moot up` serves it, and where.

    Attributes:
        enabled: Whether it is served.
        host: Where it is bound; beyond this machine only with a `token_file`.
        port: Its port; 0 takes a free one.
        token_file: Who may come, a line `USER TOKEN` each; "": `console-token` in the data directory, made at the
            first start.
        public_url: Where people reach it; a message that a platform cuts links to `<public_url>/m/<seq>`.
    """

    enabled: bool = True
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8420
    token_file: str = ""
    public_url: Annotated[str, Field(pattern=r"^(https?://\S+)?$", max_length=300)] = ""


PLATFORMS: Final[Mapping[str, str]] = {
    "discord": "moot.channels.discord:DiscordSurface",
    "slack": "moot.channels.slack:SlackSurface",
}
"""Surfaces that need not name their module."""

SURFACE_NAME: Final = re.compile(r"[a-z0-9_-]{1,40}")
"""A surface's name is part of its outbox's file name, and the platform of the people there."""


class SurfaceSettings(BaseModel):
    """A platform that mirrors the society; `module` names its class, the rest are its options."""

    model_config = ConfigDict(extra="allow", frozen=True)

    module: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]

    def options(self) -> dict[str, Any]:
        """Return what is passed to the class."""
        return dict(self.model_extra or {})
