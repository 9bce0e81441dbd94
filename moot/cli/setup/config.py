"""`moot config show`, `moot schema`: what a deployment chose, and what may be said at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from moot.cli.app import Group, app, command
from moot.cli.output import console, print_hanging, write_json
from moot.cli.place import AsJson

if TYPE_CHECKING:
    from moot.config.settings import Settings

VARIABLE: Final = "MOOT_CONFIG"

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="A TOML file of your own.", show_default=f"${VARIABLE}"),
]

group = typer.Typer(
    cls=Group,
    help="Show the configuration.",
    epilog="moot config show\nmoot config show --config my-society.toml --json",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="config")


def config_file(given: Path | None) -> Path | None:
    """Return the configuration file that counts: the one given, else the one that MOOT_CONFIG names."""
    named = os.environ.get(VARIABLE)
    return given or (Path(named) if named else None)


def readable(given: Path | None) -> Path | None:
    """Return the configuration file that counts, if it can be read.

    Raises:
        ConfigError: It cannot.
    """
    from moot.config.settings import text_of

    path = config_file(given)
    if path is not None:
        text_of(path)
    return path


def settings(given: Path | None) -> Settings:
    """Load the configuration that counts."""
    from moot.config.settings import load_settings

    return load_settings(readable(given))


@command("moot config show", "moot config show --config my-society.toml --json", within=group)
def show(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Show the effective configuration: the shipped one, a file of your own, MOOT_* variables.

    A society states it in its log when it starts.
    """
    from rich.text import Text

    path = config_file(config)
    effective = settings(config).as_log()
    if as_json:
        write_json(effective)
        return
    target = console()
    target.print(Text(f"# the shipped defaults{f', {path}' if path else ''}, MOOT_* variables", "dim"))
    for section in sorted(effective):
        values = effective[section]
        if not isinstance(values, Mapping):
            values = {"": values}
        target.print(Text(f"[{section}]", "bold"))
        width = max((len(name) for name in values), default=0)
        for name, value in values.items():
            print_hanging(target, Text(f"  {name:<{width}} = ", "dim"), Text(_toml(value)), width + 5)


@command("moot schema", "moot schema | jq '.[\"$defs\"].Hypothesis'")
def schema() -> None:
    """Print the JSON Schema of every message."""
    from moot.protocols.rulebook import VERSION, rulebook

    found: dict[str, Any] = rulebook().any_message.json_schema()
    write_json(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Every message of Moot",
            "description": f"Bodies of envelopes, rules version {VERSION}.",
            **found,
        }
    )


def _toml(value: object) -> str:
    """Write a value as a TOML file would."""
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False)
    return "none" if value is None else str(value)
