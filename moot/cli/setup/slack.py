"""`moot slack`: the app's manifest, and making and checking what the mirror needs in a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from moot.cli.app import Group, app, command
from moot.cli.errors import CheckFailed, Unusable
from moot.cli.output import console, plural, print_hanging, write_json, write_lines
from moot.cli.place import AsJson
from moot.cli.setup.config import ConfigFile

if TYPE_CHECKING:
    from moot.channels.slack.options import SlackOptions
    from moot.channels.slack.setting_up import State, Step

group = typer.Typer(
    cls=Group,
    help="""Show the society in a Slack workspace: make the app, then the channels.

    docs/how-to/slack.md leads through all of it.""",
    epilog="moot slack manifest --json > manifest.json\nmoot slack setup --check",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="slack")

SURFACE: Final = "slack"

MARKS: Final[dict[State, tuple[str, str]]] = {
    "ok": ("✓", "green"),
    "done": ("+", "cyan"),
    "missing": ("✗", "bold red"),
}


@command(
    "moot slack manifest",
    "moot slack manifest --json > manifest.json",
    "moot slack manifest --mode http --url https://moot.example.org",
    within=group,
)
def manifest(
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="socket, which needs no public address, or http.",
            show_default="socket",
        ),
    ] = "socket",
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Your public https address, for http.")
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What the app is called.", show_default="Moot")
    ] = "Moot",
    as_json: AsJson = False,
) -> None:
    """Print the manifest that Slack makes the app from: YAML with a reason for each scope, or JSON.

    Paste it at https://api.slack.com/apps: Create New App, From a manifest.
    """
    from moot.channels.slack.manifest import as_yaml
    from moot.channels.slack.manifest import manifest as build
    from moot.channels.surface import SurfaceConfigError

    if not 0 < len(name) <= 35:
        raise Unusable("--name: 1 to 35 characters")
    try:
        found = build(_mode(mode), url, name)
    except SurfaceConfigError as error:
        raise Unusable(str(error)) from None
    if as_json:
        write_json(found)
    else:
        write_lines(as_yaml(found).splitlines())


@command(
    "moot slack setup",
    "moot slack setup --config my-society.toml --check",
    "moot slack setup --check --json",
    within=group,
)
def setup(
    config: ConfigFile = None,
    is_check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit code 1 when something is missing.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check tokens and scopes, make and join the channels, and say what is left to click.

    A second run finds nothing to do. Exit code 1: something is missing that only you can do.
    """
    import asyncio

    from moot.channels.slack.setting_up import set_up
    from moot.channels.surface import SurfaceConfigError, SurfaceDown
    from moot.log_setup import set_up_logging

    set_up_logging(None)
    try:
        steps = asyncio.run(set_up(_options(config), may_change=not is_check))
    except SurfaceConfigError as error:
        raise Unusable(str(error)) from None
    except SurfaceDown as error:
        raise CheckFailed(str(error)) from None
    missing = sum(step.state == "missing" for step in steps)
    done = sum(step.state == "done" for step in steps)
    if as_json:
        write_json(
            {
                "ok": not missing,
                "changed": done,
                "steps": [
                    {"name": step.name, "state": step.state, "found": step.found, "to_do": step.to_do}
                    for step in steps
                ],
            }
        )
    else:
        _print(steps, missing, done)
    return 1 if missing else 0


def _print(steps: list[Step], missing: int, done: int) -> None:
    from rich.text import Text

    target = console()
    width = max(len(step.name) for step in steps) + 2
    for step in steps:
        mark, style = MARKS[step.state]
        prefix = Text.assemble((f"{mark} ", style), (f"{step.name:<{width}}", "dim"))
        advice = (f"; {step.to_do}", style) if step.to_do else ""
        print_hanging(target, prefix, Text.assemble(step.found, advice), prefix.cell_len)
    if missing:
        target.print(Text(f"{plural(missing, 'thing')} missing", "bold red"))
    elif done:
        target.print(Text(f"{plural(done, 'channel')} set up; run: moot up", "bold"))
    else:
        target.print(Text("nothing to do", "bold"))


def _mode(mode: str) -> Literal["socket", "http"]:
    if mode == "socket":
        return "socket"
    if mode == "http":
        return "http"
    raise Unusable(f"--mode is socket or http, not {mode!r}")


def _options(config: Path | None) -> SlackOptions:
    """Return the options of [surfaces.slack]; where there is no such section yet, the usual ones.

    Raises:
        Unusable: The configuration cannot be read, or an option cannot be meant so.
    """
    from dataclasses import fields

    from moot.channels.slack.options import SlackOptions
    from moot.channels.surface import SurfaceConfigError
    from moot.cli.setup.config import config_file, settings
    from moot.config.sections import PLATFORMS
    from moot.config.settings import ConfigError
    from moot.gateway import folder_of, options_of

    try:
        chosen = settings(config)
        found = chosen.surfaces.get(SURFACE)
        if found is not None and found.module != PLATFORMS[SURFACE]:
            raise Unusable(f"[surfaces.{SURFACE}] is {found.module}, which moot slack setup knows nothing of")
        options = {} if found is None else options_of(chosen, SURFACE, folder_of(config_file(config)))
        options.pop("name", None)
        known = [field.name for field in fields(SlackOptions)]
        if unknown := sorted(set(options) - set(known)):
            raise Unusable(f"[surfaces.{SURFACE}] has no option {unknown[0]}; it takes {', '.join(known)}")
        return SlackOptions(**options)
    except (ConfigError, SurfaceConfigError) as error:
        raise Unusable(str(error)) from None
