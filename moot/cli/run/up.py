"""`moot up`: a society that lives until it is told to stop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from moot.cli.app import command
from moot.cli.minds import Minds
from moot.cli.numbers import seed_option, some_days, some_speed
from moot.cli.place import DEFAULT, login_name, owner_of
from moot.cli.setup.config import ConfigFile, readable
from moot.place import price_source

Prices = Annotated[
    str | None,
    typer.Option("--prices", metavar="SOURCE", help="sample, synthetic, or a CSV or Parquet file."),
]


@command(
    "moot up",
    "moot up --speed 120 --warm-up 3 --data ./moot-data",
    "moot up --bus memory --seed 7",
    "moot up --mind critic=my_minds:MyCritic",
    "moot up --model http://127.0.0.1:8080/v1#qwen3:8b --seats critic,evolver",
    "moot up --model local --seats critic --budget 2.00 --config my-society.toml",
    "moot up --new --prices ./prices.csv",
)
def up(
    speed: Annotated[
        float,
        typer.Option(
            "--speed",
            metavar="X",
            callback=some_speed,
            help="Society seconds a wall second; 1 is real time.",
        ),
    ] = 1.0,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="Where it lives; by default ./moot-data.")
    ] = DEFAULT,
    bus: Annotated[
        Literal["sqlite", "memory"],
        typer.Option("--bus", metavar="BUS", help="sqlite lasts; memory is gone at the end."),
    ] = "sqlite",
    seed: Annotated[int, seed_option("Seeds the simulated minds")] = 1,
    warm_up: Annotated[
        float,
        typer.Option(
            "--warm-up",
            metavar="DAYS",
            callback=some_days,
            help="A fresh society first lives in virtual time, so long at most, until an escalation waits.",
        ),
    ] = 0.0,
    is_new: Annotated[
        bool, typer.Option("--new", help="Put the society that is there aside and start a fresh one.")
    ] = False,
    shows_all: Annotated[
        bool,
        typer.Option("--all", help="Show quiet checks of the desk too: risk within limits and the like."),
    ] = False,
    prices: Prices = None,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="H", help="Where the web page is bound; by default 127.0.0.1."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=0, max=65_535, help="The page's port; by default 8420."),
    ] = None,
    no_console: Annotated[bool, typer.Option("--no-console", help="Serve no web page.")] = False,
    who: Minds = Minds(),
    config: ConfigFile = None,
) -> int:
    """Let a society live: its bots argue, you watch; Ctrl-C stops it.

    Started again on the same directory it goes on where it was. What the bots say scrolls by, one line a
    message; who owes what stands below. The address that is printed opens the same on a web page; in another
    terminal moot post, reply, take and so on act in it.
    """
    from moot.heap import settle_heap
    from moot.up import UpOptions, run_up

    owner = owner_of(data) if data.exists() else login_name()
    options = UpOptions(
        directory=data,
        speed=speed,
        bus=bus,
        seed=seed,
        warm_up_days=warm_up,
        is_new=is_new,
        prices=None if prices is None else price_source(prices),
        config=readable(config),
        owner=owner,
        shows_all=shows_all,
        has_console=not no_console,
        host=host,
        port=port,
        minds=who.own,
        wanted=who.wanted,
    )
    settle_heap()
    return run_up(options)
