"""`moot positions`, `strategies`, `halt`, `resume`: the trading desk, and an admin's hand on it (R-B5, R-B13)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from moot.cli.act.acts import act, perform
from moot.cli.act.authority import As, seat_of, user_of
from moot.cli.act.people import made, said
from moot.cli.app import command
from moot.cli.errors import Refused, Unusable
from moot.cli.fitting import Row, print_rows
from moot.cli.output import clock_time, heading, money, page, per_cent, print_table, table, write_json
from moot.cli.place import DEFAULT, AsJson, Living, Source, shown
from moot.cli.reading import Log
from moot.cli.situation import Situation

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from moot.protocols.kernel.docket import Docket, Effects
    from moot.protocols.kernel.envelope import Envelope
    from moot.protocols.trading.halt import Reason


# ---------------------------------------------------------------- looking


@command("moot positions ./moot-data", "moot positions ./moot-data --json | jq .totals")
def positions(named: Source = DEFAULT, as_json: AsJson = False) -> None:
    """Show the desk's money and what it holds: cash, equity, P&L, exposure, every position at its last mark."""
    from moot.desk import day_told

    found = Situation.of(named)
    data = positions_json(found)
    if as_json:
        write_json(data)
        return
    target = page()
    target.print(heading(str(named), f"exchange {market_text(found)}"))
    rows = table("", "", "", right=("",), fold=("",))
    rows.show_header = False
    rows.columns[0].style, rows.columns[0].no_wrap, rows.columns[0].justify = "dim", True, "left"
    rows.columns[1].no_wrap, rows.columns[2].justify = True, "left"
    since = f"{money(data['total_pnl_usd'], sign=True)} ({per_cent(data['total_pnl_pct'], sign=True)}) in all"
    rows.add_row("equity", money(data["equity"]), since)
    rows.add_row("cash", money(data["cash"]), "")
    rows.add_row(
        "day", _signed(data["pnl_usd"]), f"{per_cent(data['pnl_pct'], sign=True)} since the desk day began"
    )
    largest = (
        f", {data['largest_symbol']} {per_cent(data['largest_position'])}" if data["largest_symbol"] else ""
    )
    limits = data["limits"]
    rows.add_row(
        "exposure", per_cent(data["exposure"]), f"of at most {per_cent(limits['exposure'])}{largest}"
    )
    rows.add_row(
        "trades",
        f"{data['trades_today']}",
        f"of at most {limits['trades']} {day_told(data['date'], found.now)}",
    )
    print_table(target, rows)
    if data["halted"]:
        target.print(halt_text(data["halted"]), style="bold red")
    target.print()
    _print_holdings(target, data)


def positions_json(found: Situation) -> dict[str, Any]:
    """Return the desk's money and positions as plain data: dollars, shares of the equity as fractions."""
    from moot.desk import holdings, totals
    from moot.protocols.kernel.times import rfc3339

    return {
        "at": None if found.now is None else rfc3339(found.now),
        **found.desk_json(),
        "positions": [holding._asdict() for holding in holdings(found.docket.context)],
        "totals": totals(found.docket.context),
    }


def halt_text(halt: dict[str, Any]) -> str:
    """Say since when the desk is halted, by whom and why."""
    from moot.channels.showing.wording import clean

    since = clock_time(datetime.fromisoformat(halt["since"]))
    more = ""
    for reason in halt.get("reasons", ())[1:]:
        more += f"; also by {clean(reason['by'], 60)}, message {reason['seq']}: {clean(reason['why'])}"
    more += ", a resume waits to be confirmed" if halt["phase"] == "resuming" else ""
    return (
        f"halted since {since} UTC by {clean(halt['by'], 60)} ({halt['halt_id']}): {clean(halt['why'])}{more}"
    )


def market_text(found: Situation) -> str:
    """Say whether the exchange is open and until when."""
    hours = found.market()
    word = "open" if hours.is_open else "closed"
    if hours.until is None or found.now is None:
        return word
    is_today = hours.until.date() == found.now.date()
    return f"{word} until {hours.until:{'%H:%M' if is_today else '%a %d %b %H:%M'}} UTC"


def _print_holdings(target: Console, data: dict[str, Any]) -> None:
    from rich.text import Text

    held = data["positions"]
    if not held:
        target.print("the desk holds nothing", style="dim")
        return
    figures = ("shares", "cost", "mark", "value", "P&L")
    rows = [
        Row(
            (
                h["strategy_id"],
                h["symbol"],
                f"{h['quantity']:,}",
                f"{h['average_cost']:,.2f}",
                f"{h['mark']:,.2f}" if h["mark"] else "?",
                money(h["value"]),
                _signed(h["unrealised_usd"]),
            )
        )
        for h in held
    ]
    total = data["totals"]
    worth = money(total["value"]), _signed(total["unrealised_usd"])
    rows.append(Row((Text("total", "bold"), "", "", "", "", *worth)))
    print_rows(target, ("strategy", "symbol", *figures), rows, right=figures, drop=("cost", "mark", "shares"))


def _signed(dollars: float) -> Text:
    """Return a gain in green, a loss in red."""
    from rich.text import Text

    return Text(money(dollars, sign=True), style="green" if dollars > 0 else "red" if dollars < 0 else "")


@command("moot strategies ./moot-data", "moot strategies ./moot-data --json | jq '.[].strategy_id'")
def strategies(named: Source = DEFAULT, as_json: AsJson = False) -> None:
    """Show where every strategy stands: its stage, its figures since it was deployed, what it trades, why it moved.

    In a pipe its lines fit 80 columns, or what COLUMNS says: with COLUMNS=500 each strategy is one line, for grep.
    """
    moves: dict[str, dict[str, Any]] = {}
    found = Situation.of(named, watch=lambda env, fx, _docket: _note_move(moves, env, fx))
    data = strategies_json(found, moves)
    if as_json:
        write_json(data)
        return
    target = page()
    if not data:
        target.print("the log names no strategy", style="dim")
        return
    _print_strategies(target, data)


def strategies_json(found: Situation, moves: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every strategy with its last move as plain data."""
    from moot.desk import strategies as known

    return [{**one, "moved": moves.get(one["strategy_id"])} for one in known(found.docket.context)]


def _note_move(moves: dict[str, dict[str, Any]], env: Envelope, fx: Effects) -> None:
    from moot.protocols.kernel.times import rfc3339
    from moot.protocols.research.messages import StrategyMoved

    body = env.body
    if isinstance(body, StrategyMoved) and fx.violation is None and not fx.superseded:
        moves[body.strategy_id] = {
            "seq": env.seq,
            "at": rfc3339(env.sent_at),
            "by": env.author,
            "from": body.from_,
            "to": body.to,
            "reason": body.reason,
        }


TRADES: Final = "trades, and why it moved last"


def _trades(one: dict[str, Any]) -> str:
    """Say what a strategy trades, and why it moved last."""
    from moot.channels.showing.wording import clean, words

    archetype, symbols, moved = one["archetype"], one["symbols"], one["moved"]
    kind = f"{words(archetype)} on {', '.join(symbols)}" if archetype else ""
    why = (
        f"{clock_time(datetime.fromisoformat(moved['at']))}: {clean(moved['reason'])}"
        if moved is not None
        else ""
    )
    return "; ".join(filter(None, (kind, why)))


def _print_strategies(target: Console, data: list[dict[str, Any]]) -> None:
    from moot.desk import ratio_text

    figures = ("days", "Sharpe", "P&L", "from peak", "limit")
    rows = []
    for one in data:
        days = f"{one['days']}/{one['days_needed']}" if one["stage"] == "staging" else f"{one['days']}"
        is_traded = one["is_deployed"]
        cells = (
            one["strategy_id"],
            one["stage"] + (", flagged" if one["is_flagged"] else ""),
            "yes" if is_traded else "no",
            days if is_traded else "",
            ratio_text(one).replace(" sessions", ""),
            _signed(one["pnl_usd"]) if one["trades"] or one["pnl_usd"] else "",
            per_cent(one["drawdown"]) if is_traded else "",
            per_cent(one["position_limit"]) if is_traded else "",
            _trades(one),
        )
        rows.append(Row(cells, "dim" if one["stage"] == "withdrawn" else ""))
    print_rows(
        target,
        ("strategy", "stage", "deployed", *figures, TRADES),
        rows,
        right=figures,
        below=TRADES,
        drop=("limit", "deployed", "from peak", "days", "Sharpe"),
    )


# ---------------------------------------------------------------- acting


@command("moot halt ./moot-data --why 'prices look wrong'")
def halt(
    named: Living,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Your reason; it stands in the log.")],
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Halt all trading at once: from then on no position is opened or made larger; moot resume lifts it.

    Where no society runs, the next one begins with it. A case of its own is opened, in the trading day that is open.
    On a desk that is halted already, your reason is added to that halt and the admin is paged again; a resume then has
    to name both.
    """
    from moot.protocols.trading.messages import Halt

    user, log = user_of(as_user), Log(named)
    body = made(Halt, reason=said(why, "--why"), by=user)
    return perform(
        log, act(user, seat_of(user, log), "#b-risk", body), as_json=as_json, done="the desk is halted"
    )


@command(
    "moot resume ./moot-data --why 'the feed is right again'",
    "moot resume ./moot-data --confirm --why 'positions compared by hand'",
)
def resume(
    named: Living = DEFAULT,
    why: Annotated[
        str | None, typer.Option("--why", metavar="TEXT", help="Your reason; it stands in the log.")
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Confirm a resume in place of the Guardian, who is silent.")
    ] = False,
    lift: Annotated[
        list[int] | None,
        typer.Option(
            "--lift",
            metavar="SEQ",
            help="Message number of a HALT to lift; repeat it for every reason where trading is halted for several.",
        ),
    ] = None,
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Ask to lift the halt; trading goes on when the Guardian, or an admin with --confirm, has confirmed it.

    Where trading is halted for several reasons, --lift names each of them; without it the command lists them.
    Where nothing is halted, end System A's conservative mode, which silence about an escalation led to.
    """
    from moot.protocols.trading.messages import Resume, ResumeConfirmed

    user, log = user_of(as_user), Log(named)
    if why is None and not confirm:
        raise Unusable("--why TEXT is missing: say why trading may go on")
    reason = None if why is None else said(why, "--why")
    halt_id, is_halt, reasons = _to_lift(log, named, confirm)
    done = f"asked to lift {halt_id}, the Guardian is to confirm it"
    if not is_halt:
        done = f"System A is no longer conservative because of {halt_id}"
    channel = "#b-ops"
    body: Resume | ResumeConfirmed
    if confirm:
        channel, done = "#b-risk", f"{halt_id} is lifted"
        body = made(ResumeConfirmed, halt_id=halt_id, checks=() if reason is None else (reason,))
    else:
        body = made(Resume, halt_id=halt_id, reason=reason, lifts=_named(lift or [], reasons))
    draft = act(user, seat_of(user, log), channel, body, case_id=halt_id)
    return perform(log, draft, as_json=as_json, done=done)


def _named(lift: Sequence[int], reasons: tuple[Reason, ...]) -> tuple[str, ...]:
    """Return the texts of the reasons that --lift names; none where the halt has one reason.

    Raises:
        Refused: R-G12, it leaves reasons out, or names a message that gave none.
    """
    from moot.protocols.trading.halt import listed

    numbers = {one.seq: one.text for one in reasons}
    for seq in lift:
        if seq not in numbers:
            raise Refused(
                f"--lift {seq}: that message is no open reason; open are {listed(reasons) or 'none'}"
            )
    left_out = [seq for seq in numbers if seq not in lift]
    if len(reasons) > 1 and left_out:
        options = " ".join(f"--lift {seq}" for seq in numbers)
        raise Refused(
            f"trading is halted for {len(reasons)} reasons, and a resume names all of them: {listed(reasons)}. "
            f"Check each, then add {options}"
        )
    return tuple(dict.fromkeys(numbers[seq] for seq in lift))


def _to_lift(log: Log, named: Path, confirm: bool) -> tuple[str, bool, tuple[Reason, ...]]:
    """Return the case of the halt in force, or what led to System A's conservative mode (R-F2), which, and its reasons.

    Raises:
        Refused: R-B5, nothing is halted, or a resume was asked for already, or is not yet to be confirmed.
    """
    from moot.cli.reading import fold

    docket: Docket = fold(log)
    halt_id: str = docket.context.fold_named("book").halt_id
    if not halt_id and not confirm and docket.context.conservative_a:
        return docket.context.fold_named("modes").because, False, ()
    if not halt_id:
        raise Refused(f"nothing is halted in {shown(named)}")
    is_asked = docket.cases[halt_id].phase == "resuming"
    if is_asked and not confirm:
        raise Refused(f"{halt_id} waits for the Guardian's confirmation: --confirm gives it in its place")
    if confirm and not is_asked:
        raise Refused(f"nobody asked to lift {halt_id}: moot resume {shown(named)} --why TEXT does")
    return halt_id, True, docket.cases[halt_id].reasons  # type: ignore[attr-defined]
