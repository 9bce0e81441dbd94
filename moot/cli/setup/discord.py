"""`moot discord setup`: a server of Discord, ready for a society."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from moot.cli.app import Group, app, command
from moot.cli.errors import CheckFailed, Unusable
from moot.cli.output import console, plural, print_hanging, write_json
from moot.cli.place import AsJson
from moot.cli.setup.config import ConfigFile, config_file, settings

if TYPE_CHECKING:
    from moot.channels.discord.surface import DiscordSurface
    from moot.channels.surface import Check
    from moot.config.settings import Settings

group = typer.Typer(
    cls=Group,
    help="Make a server of Discord ready.",
    epilog="moot discord setup --config my-society.toml --check",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="discord")


@command(
    "moot discord setup --config my-society.toml",
    "moot discord setup --config my-society.toml --check --json",
    within=group,
)
def setup(
    config: ConfigFile = None,
    only_check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit code 1 when something is missing.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Make what a server of Discord needs and lacks: channels, webhooks, slash commands, pictures.

    It changes nothing that is there. What only a person can do, such as inviting the bot, it explains.
    """
    import asyncio

    from moot.channels.surface import SurfaceConfigError, SurfaceError
    from moot.gateway import folder_of
    from moot.log_setup import set_up_logging

    set_up_logging(None)
    found = settings(config)
    try:
        surface = _surface(found, folder_of(config_file(config)))
    except SurfaceConfigError as exc:
        raise Unusable(str(exc)) from None
    try:
        rows = asyncio.run(_go(surface, found, only_check=only_check, is_quiet=as_json))
    except SurfaceError as exc:
        raise CheckFailed(f"{exc}") from None
    made = [check for check, is_made in rows if is_made]
    left = [check for check, is_made in rows if not check.is_ok and not is_made]
    if as_json:
        write_json(
            {
                "ok": not left,
                "made": [f"{check.name}: {check.found}" for check in made],
                "checks": [
                    {
                        "name": check.name,
                        "ok": check.is_ok or is_made,
                        "found": check.found,
                        "to_do": check.to_do,
                    }
                    for check, is_made in rows
                ],
            }
        )
    elif left:
        console().print(f"{plural(len(left), 'thing')} missing")
    else:
        console().print(f"{plural(len(made), 'thing')} made" if made else "nothing to do")
    return 1 if left else 0


async def _go(
    surface: DiscordSurface, found: Settings, *, only_check: bool, is_quiet: bool
) -> list[tuple[Check, bool]]:
    """Go through the steps, making what is missing; each is told as it is done.

    A token that is missing or refused is a step that failed, the last one.
    """
    from contextlib import aclosing

    from moot.channels.discord.setup import steps
    from moot.channels.surface import Check, SurfaceConfigError

    rows: list[tuple[Check, bool]] = []
    try:
        client = await surface.log_in()
        async with aclosing(steps(client, surface.options, found.viewers.viewers())) as each:
            async for step in each:
                is_made = step.make is not None and not only_check
                if step.make is not None and is_made:
                    await step.make()
                rows.append((step.check, is_made))
                if not is_quiet:
                    _show(step.check, is_made)
    except SurfaceConfigError as exc:
        failed = Check("token" if not rows else "server", False, str(exc))
        rows.append((failed, False))
        if not is_quiet:
            _show(failed, False)
    finally:
        await surface.close()
    return rows


def _show(check: Check, is_made: bool) -> None:
    from rich.text import Text

    mark, style = ("+", "green") if is_made else ("✓", "green") if check.is_ok else ("✗", "bold red")
    said = f"{check.found}: made" if is_made else check.found
    to_do = f"; {check.to_do}" if check.to_do and not is_made else ""
    prefix = Text.assemble((f"{mark} ", style), (f"{check.name:<12}", "dim"))
    print_hanging(console(), prefix, Text.assemble(said, (to_do, style)), prefix.cell_len)


def _surface(found: Settings, folder: Path) -> DiscordSurface:
    """Build the surface that the configuration names, or one without a server when it names none."""
    from moot.channels.discord import DiscordSurface
    from moot.gateway import surface_of

    for name, how in found.surfaces.items():
        if how.module == "moot.channels.discord:DiscordSurface":
            surface = surface_of(found, name, folder)
            assert isinstance(surface, DiscordSurface)
            return surface
    return DiscordSurface()
