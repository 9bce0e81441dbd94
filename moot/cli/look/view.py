"""`moot view`: what a seat may see."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from moot.cli.app import command
from moot.cli.output import console, heading, plural, print_hanging, write_json
from moot.cli.place import AsJson, Source
from moot.cli.reading import Log, fold

LAST: Final = 20
"""So many messages are shown; --all and --json have them all."""


@command(
    "moot view ./moot-data critic",
    "moot view ./moot-data critic --case hyp_20260223_1030",
    "moot view ./moot-data critic --owed hyp_20260223_1030/assessment-1/critic --json",
)
def view(
    named: Source,
    seat: Annotated[str, typer.Argument(metavar="SEAT", help="A seat: critic, guardian ...")],
    case: Annotated[str | None, typer.Option("--case", metavar="ID", help="Only this case.")] = None,
    owed: Annotated[
        str | None,
        typer.Option(
            "--owed", metavar="ID", help="What is or was shown for this obligation, which may be less."
        ),
    ] = None,
    shows_all: Annotated[
        bool, typer.Option("--all", help=f"All messages, not only the last {LAST}.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a seat may see: the channels that it reads, what it owes, and the messages that are open to it.

    A mind is never shown more; for an obligation it may be shown less, such as a debate that another seat is to judge
    by itself.
    """
    from rich.text import Text

    from moot.channels.showing import duties
    from moot.channels.showing.wording import seat_name
    from moot.cli.look.log import Reader
    from moot.logs import asking
    from moot.protocols.kernel.seats import Seat
    from moot.seeing import Onlooker

    who = Seat(asking.seat(seat))
    log = Log(named)
    onlooker = Onlooker(who, owed)
    docket = fold(log, watch=onlooker.take)
    onlooker.end(docket)
    found = [*onlooker.sees(log.envelopes(), case)]
    if as_json:
        write_json(
            {
                "seat": who,
                "reads": onlooker.reads,
                "owes": [o.id for o in onlooker.owes],
                "messages": [env.seq for env in found],
                "of": docket.seq,
            }
        )
        return
    target = console()
    target.print(heading(f"{seat_name(who)} sees {len(found):,} of {plural(docket.seq, 'message')}"))
    print_hanging(target, Text("reads  ", "dim"), Text(", ".join(onlooker.reads) or "no channel"), 7)
    for n, one in enumerate(onlooker.owes):
        about = duties.position(one.subject)
        told = Text.assemble(duties.duty(one.id) + (f", {about}" if about else ""), "  ", (one.id, "dim"))
        print_hanging(target, Text("owes   " if not n else " " * 7, "dim"), told, 7)
    reader = Reader(target, log.namebook())
    shown = found if shows_all else found[-LAST:]
    for env in shown:
        reader.show_envelope(env)
    if len(shown) < len(found):
        target.print(f"{len(found) - len(shown):,} earlier ones: --all shows them", style="dim")
