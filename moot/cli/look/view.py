"""`moot view`: what a seat may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from moot.cli.app import command
from moot.cli.errors import Unusable
from moot.cli.output import console, heading, plural, print_hanging, write_json
from moot.cli.place import AsJson, Source

if TYPE_CHECKING:
    from moot.protocols.kernel.docket import Docket
    from moot.protocols.kernel.obligation import Obligation
    from moot.protocols.kernel.seats import Seat

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
        typer.Option("--owed", metavar="ID", help="What is shown for this obligation, which may be less."),
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
    from moot.cli.reading import Log
    from moot.cli.situation import Situation
    from moot.logs import asking
    from moot.protocols.kernel.seats import Seat
    from moot.seeing import seen

    who = Seat(asking.seat(seat))
    docket = Situation.of(named).docket
    matrix = docket.rules.matrix
    readable = sorted(matrix.readable(who))
    debts = [o for o in docket.open.values() if o.seat == who]
    about = _owed(docket, who, owed) if owed is not None else None
    log = Log(named)
    found = [
        env
        for env in seen(log.envelopes(), matrix, who, about.may_see if about is not None else None)
        if case is None or env.case_id == case
    ]
    if as_json:
        write_json(
            {
                "seat": who,
                "reads": readable,
                "owes": [o.id for o in debts],
                "messages": [env.seq for env in found],
                "of": docket.seq,
            }
        )
        return
    target = console()
    target.print(heading(f"{seat_name(who)} sees {len(found):,} of {plural(docket.seq, 'message')}"))
    print_hanging(target, Text("reads  ", "dim"), Text(", ".join(readable) or "no channel"), 7)
    for n, one in enumerate(debts):
        told = Text.assemble(f"{duties.duty(one.id)}  ", (one.id, "dim"))
        print_hanging(target, Text("owes   " if not n else " " * 7, "dim"), told, 7)
    reader = Reader(target, log.namebook())
    shown = found if shows_all else found[-LAST:]
    for env in shown:
        reader.show_envelope(env)
    if len(shown) < len(found):
        target.print(f"{len(found) - len(shown):,} earlier ones: --all shows them", style="dim")


def _owed(docket: Docket, seat: Seat, owed: str) -> Obligation:
    """Return an obligation that a seat has.

    Raises:
        Unusable: It has none of that id.
    """
    found = docket.open.get(owed)
    if found is None or found.seat != seat:
        known = ", ".join(o.id for o in docket.open.values() if o.seat == seat) or "nothing"
        raise Unusable(f"--owed {owed[:120]}: the {seat} does not owe it; it owes {known}")
    return found
