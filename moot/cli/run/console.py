"""`moot console`: the web page of a data directory by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moot.cli.app import command
from moot.cli.place import DEFAULT, read_from
from moot.cli.setup.config import ConfigFile, config_file


@command(
    "moot console ./moot-data",
    "moot console ./moot-data --port 8421 --config moot.toml",
    "moot console ./moot-data --no-page --port 0",
    "moot console nats://10.0.0.5:4222/desk",
)
def console(
    named: Annotated[
        str,
        typer.Argument(
            metavar="DIR|nats://HOST/NAME",
            help="A society's data directory, by default ./moot-data, or its address on NATS.",
        ),
    ] = str(DEFAULT),
    host: Annotated[
        str | None, typer.Option("--host", metavar="H", help="Where it is bound; by default 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", help="Its port, by default 8420; 0 takes a free one."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", metavar="FILE", help="Tokens, a line USER TOKEN each.")
    ] = None,
    no_page: Annotated[bool, typer.Option("--no-page", help="Serve the API only.")] = False,
    config: ConfigFile = None,
) -> int:
    """Serve the web page of a data directory by itself, until Ctrl-C.

    Where a society runs, or a host that follows one, people act in it from here too; where none runs it shows what
    is there. moot up serves a page of its own.
    """
    # Loading the page's libraries takes a second, which no other command pays.
    from moot.console.__main__ import main

    words = [str(read_from(named, bodies=True, serves=True))]
    for name, value in (("--host", host), ("--port", port), ("--token-file", token_file)):
        words += [] if value is None else [name, str(value)]
    if (found := config_file(config)) is not None:
        words += ["--config", str(found)]
    return main([*words, *(["--no-page"] if no_page else [])])
