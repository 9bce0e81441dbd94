"""`moot status`, `moot obligations`: how a society stands and who owes what; now, or as it was after any message."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from moot.cli.act.desk import halt_text, market_text
from moot.cli.app import command
from moot.cli.fitting import Row, print_rows
from moot.cli.output import (
    clock_time,
    duration,
    heading,
    money,
    page,
    per_cent,
    plural,
    print_table,
    seat_text,
    table,
    write_json,
)
from moot.cli.place import DEFAULT, AsJson, Source, shown
from moot.cli.situation import Situation

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from moot.protocols.kernel.obligation import Obligation


@command("moot status ./moot-data", "moot status ./moot-data --until 250", "moot status ./moot-data --json")
def status(
    named: Source = DEFAULT,
    until: Annotated[
        int | None, typer.Option("--until", metavar="SEQ", help="As it stood after this message of the log.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how a society stands: its clock, open cases, what is owed, what waits for an admin."""
    from rich.text import Text

    from moot.desk import day_told
    from moot.protocols.rulebook import rulebook

    found = Situation.of(named, until)
    if as_json:
        write_json(found.status_json())
        return
    target, docket, context = page(), found.docket, found.docket.context
    target.print(heading(shown(named), _state(found) if until is None else f"after message {until:,}"))
    rows = table("", "", fold=("",))
    rows.show_header = False
    rows.columns[0].style, rows.columns[0].no_wrap = "dim", True
    if found.rehearsal is not None:
        share = "nothing has been made to go wrong since the last start"
        if found.rehearsal:
            share = f"{100 * found.rehearsal:g} % of occasions are made to go wrong"
        rows.add_row(
            "rehearsal", Text(f"{share}; moot log {shown(named)} --type AUDIT tells what was", "bold magenta")
        )
    when = f"{clock_time(docket.at)} UTC" if docket.at else "never started"
    rows.add_row("society time", f"{when}, seed {context.seed}, rules {context.rules_version or '?'}")
    rows.add_row("messages", f"{docket.seq:,}, {plural(len(docket.ended), 'ended case')}")
    counts = [plural(n, kind) for kind in rulebook().types if (n := context.running.get(kind))]
    rows.add_row("open", ", ".join(counts) or "no cases")
    if found.day is not None:
        desk = found.desk_json()
        when = day_told(desk["date"], found.now)
        day = f"{money(desk['pnl_usd'], sign=True)} {when} ({per_cent(desk['pnl_pct'], sign=True)})"
        rows.add_row("desk", f"exchange {market_text(found)}, equity {money(desk['equity'])}, {day}")
    if halted := found.halt_json():
        rows.add_row("", Text(halt_text(halted), "bold red"))
    if panels := found.panels_json():
        rows.add_row("panels", _panels(panels))
    for name, told in zip(("models", "spent"), _models(found), strict=True):
        for n, line in enumerate(told):
            rows.add_row("" if n else name, line)
    for one in found.calls_json()["spent"]:
        rows.add_row("", Text(f"no room: {one['why']}", "bold red"))
    if context.holders:
        rows.add_row(
            "people", ", ".join(f"{who.user_id} as {seat}" for seat, who in sorted(context.holders.items()))
        )
    if context.conservative_a:
        because = context.fold_named("modes").because
        rows.add_row(
            "mode",
            f"conservative because of {because}: what is below 0.75 is rejected; moot resume ends it",
        )
    for system in sorted(context.stopped):
        rows.add_row("stopped", f"system {system}, by a person, until the society is started again")
    if hosts := found.hosts_json():
        rows.add_row("leader", _leader(hosts))
        rows.add_row("hosts", _hosts(hosts))
    if found.queued:
        rows.add_row("inbox", f"{plural(found.queued, 'post')} waiting")
    print_table(target, rows)
    if until is not None:
        target.print()
        print_cases(target, found)
    if docket.open:
        target.print()
        print_obligations(target, found)


@command("moot obligations ./moot-data", "moot obligations ./moot-data --json | jq '.[].seat'")
def obligations(named: Source = DEFAULT, as_json: AsJson = False) -> None:
    """Show who owes which message, and how long they have.

    When its time is over a seat is reminded; after the grace the referee rules on its silence. People are reminded
    meanwhile, and ruled on where their step says what silence leads to.
    """
    found = Situation.of(named)
    if as_json:
        write_json([found.obligation_json(o) for o in found.owed()])
        return
    print_obligations(page(), found)


def print_cases(target: Console, found: Situation) -> None:
    """Print the open cases."""
    from moot.channels.showing.wording import words

    if not found.docket.cases:
        target.print("no case was open", style="dim")
        return
    rows = table("case", "kind", "phase", "since", fold=("phase",))
    for state in found.docket.cases.values():
        phase = words(str(state.phase))
        if state.case_id in found.docket.waiting:
            phase += ", waits for a ruling"
        rows.add_row(state.case_id, state.kind, phase, f"message {state.opened_seq}")
    print_table(target, rows)


def print_obligations(target: Console, found: Situation) -> None:
    """Print what is owed, with countdowns; what officers owe is dim."""
    from rich.text import Text

    from moot.channels.showing import duties
    from moot.protocols.kernel.seats import OFFICERS

    if not found.docket.open:
        target.print("nobody owes anything", style="dim")
        return
    rows = []
    for o in found.owed():
        holder = found.docket.context.holders.get(o.seat)
        who = Text.assemble(seat_text(o.seat), (f" ({holder.user_id})", "dim") if holder else "")
        cells = (who, duties.owed(o.id, duties.position(o.subject)), due_text(found, o), o.id)
        rows.append(Row(cells, "dim" if o.seat in OFFICERS else ""))
    print_rows(target, ("seat", "owes", "due", "obligation"), rows, fold="owes", below="obligation")


def due_text(found: Situation, o: Obligation) -> Text:
    """Return the countdown of an obligation, red when it is late."""
    from rich.text import Text

    from moot.protocols.kernel.seats import OFFICERS

    left = found.remaining(o)
    if left > timedelta(0):
        return Text(f"in {duration(left)}")
    if not left or o.seat in OFFICERS or not o.is_ruled_on:
        return Text("now")
    void_at = found.docket.deadlines.void_at(o)
    until_void = void_at - (found.now or void_at)
    rest = f", void in {duration(until_void)}" if until_void > timedelta(0) else ", void"
    return Text(f"{duration(left)} late{rest}", style="red")


def _models(found: Situation) -> tuple[list[str], list[str]]:
    """Say which seats models fill, and what calls came to where that is limited; nothing where none was made."""
    from moot.protocols.calls.books import NONE, SOCIETY, UNLIMITED, spent

    context = found.docket.context
    filled = context.fold_named("minds").models(found.docket.seq)
    seats = [f"{', '.join(seats)}: {model}" for model, seats in filled.items()]
    if found.now is None:
        return seats, []
    gauges = [one for one in context.fold_named("ledger").room(found.now) if one[0].scope != "case"]
    told = [
        spent(place, booked, limit)
        for place, limit, booked, _ in gauges
        if limit != UNLIMITED or (place == SOCIETY and (booked != NONE or seats))
    ]
    return seats, told


def _panels(panels: Mapping[str, Any]) -> Text:
    """Word how panels ended; red when too many shrank."""
    from rich.text import Text

    shrunk = f"{panels['shrunk']} in [PANEL-SHRUNK] ({per_cent(panels['shrunk_rate'])})"
    said = f"{panels['ended']} ended, {panels['decided']} with a decision, "
    return Text.assemble(said, (shrunk, "bold red" if panels["is_alarming"] else ""))


def _leader(hosts: Mapping[str, Any]) -> str:
    from moot.protocols.kernel.times import parse_instant

    leader = hosts["leader"]
    if leader is None:
        return f"nobody now, of {hosts['society']}"
    return f"{leader['name']} leads {hosts['society']} since {clock_time(parse_instant(leader['since']))} UTC"


def _hosts(hosts: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{one['name']} " + (f"{one['behind']:,} behind" if one["behind"] else f"at message {one['seq']:,}")
        for one in hosts["hosts"]
    )


def _state(found: Situation) -> str:
    context = found.docket.context
    if found.log.directory is None:
        return "an exported log"
    if found.pid is None:
        return "ended without saying so" if context.is_up else "stopped"
    pace = "paused" if context.paused else "real time" if found.clock == "real" else f"×{context.speed:g}"
    return f"running, {pace}" + (f", process {found.pid}" if found.pid else "")
