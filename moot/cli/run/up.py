"""`moot up`: a society that lives until it is told to stop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from moot.cli.app import command
from moot.cli.errors import Unusable
from moot.cli.minds import Minds
from moot.cli.numbers import Replicas, seed_option, some_days, some_speed
from moot.cli.place import DEFAULT, login_name, owner_of
from moot.cli.setup.config import ConfigFile, readable
from moot.place import price_source

if TYPE_CHECKING:
    from moot.channels.nats.address import NatsAddress

Prices = Annotated[
    str | None,
    typer.Option("--prices", metavar="SOURCE", help="sample, synthetic, or a CSV or Parquet file."),
]


@command(
    "moot up",
    "moot up --speed 120 --warm-up 3 --data ./moot-data",
    "moot up --bus memory --seed 7",
    "moot up --chaos 0.02 --seed 1 --speed 120 --data ./rehearsal",
    "moot up --mind critic=my_minds:MyCritic",
    "moot up --model http://127.0.0.1:8080/v1#qwen3:8b --seats critic,evolver",
    "moot up --model local --seats critic --budget 2.00 --config my-society.toml",
    "moot up --new --prices ./prices.csv",
    "moot up --bus nats://10.0.0.5:4222 --society desk --data ./host-a",
    "moot up --bus nats://10.0.0.5:4222 --society desk --mirror ./copy",
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
        str,
        typer.Option(
            "--bus",
            metavar="BUS",
            help="sqlite lasts; memory is gone at the end; nats://HOST:PORT is led by one of several hosts.",
        ),
    ] = "sqlite",
    society: Annotated[
        str | None, typer.Option("--society", metavar="NAME", help="What the society is called on NATS.")
    ] = None,
    mirror: Annotated[
        Path | None,
        typer.Option(
            "--mirror",
            metavar="DIR",
            help="Instead of --data: follow the society on NATS there, and never lead.",
        ),
    ] = None,
    replicas: Replicas = None,
    seed: Annotated[int | None, seed_option("Seeds the simulated minds")] = None,
    warm_up: Annotated[
        float,
        typer.Option(
            "--warm-up",
            metavar="DAYS",
            callback=some_days,
            help="A fresh society first lives in virtual time, so long at most, until an escalation waits.",
        ),
    ] = 0.0,
    chaos: Annotated[
        float | None,
        typer.Option(
            "--chaos",
            metavar="R",
            help="A rehearsal: this share of occasions goes wrong on purpose, 0 to 1; needs --seed.",
        ),
    ] = None,
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

    With --chaos it is a rehearsal: bots die, are slow or say anything, models refuse, the disk takes no message, posts
    come late or twice, the gateway is cut off. R is the share of occasions on which that happens: answers that bots
    owe, calls of models, messages that are written, posts of people, and every ten minutes of society time for what
    happens of itself. The seed draws which. The log says from its first message on that it is a rehearsal, so does
    everything that shows it, and no other log becomes one; each fault is in it as an AUDIT.
    """
    if chaos is not None:
        from moot.chaos.faults import check_rate

        check_rate(chaos, "--chaos")
        if seed is None:
            raise Unusable("--chaos needs --seed N, which draws what goes wrong")

    from moot.heap import settle_heap
    from moot.up import UpOptions, run_up

    where = _bus(bus, society)
    data = _directory(data, mirror, where, replicas)
    owner = owner_of(data) if data.exists() else login_name()
    options = UpOptions(
        directory=data,
        speed=speed,
        bus=where,
        seed=1 if seed is None else seed,
        warm_up_days=warm_up,
        chaos=chaos,
        is_new=is_new,
        prices=None if prices is None else price_source(prices),
        config=readable(config),
        owner=owner,
        shows_all=shows_all,
        leads=mirror is None,
        replicas=replicas,
        has_console=not no_console,
        host=host,
        port=port,
        minds=who.own,
        wanted=who.wanted,
    )
    settle_heap()
    return run_up(options)


def _directory(data: Path, mirror: Path | None, bus: object, replicas: int | None) -> Path:
    """Return the host's directory.

    Raises:
        Unusable: It is asked for what goes with a society on NATS only, or for what contradicts itself.
    """
    asked = [name for name, one in (("--mirror", mirror), ("--replicas", replicas)) if one is not None]
    if asked and isinstance(bus, str):
        raise Unusable(f"{asked[0]} is for a society on NATS: add --bus nats://HOST:PORT --society NAME")
    if mirror is None:
        return data
    if data != DEFAULT:
        raise Unusable("--mirror and --data both name this host's directory: give one of them")
    if replicas is not None:
        raise Unusable("--mirror starts no society, so leave out --replicas")
    return mirror


def _bus(named: str, society: str | None) -> Literal["sqlite", "memory"] | NatsAddress:
    """Return what the log is kept in.

    Raises:
        Unusable: It is none that Moot knows.
        BadInput: It is a wrong address.
    """
    if named in ("sqlite", "memory"):
        if society is not None:
            raise Unusable("--society is the name of a society on NATS: add --bus nats://HOST:PORT")
        return "memory" if named == "memory" else "sqlite"
    from moot.channels.nats.address import NatsAddress, is_nats

    if not is_nats(named):
        raise Unusable(f"--bus {named}: sqlite, memory or nats://HOST:PORT")
    return NatsAddress.parse(named, society=society or "", environ=os.environ)
