"""`moot calls`: what models were asked, what they answered, and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from moot.cli.app import command
from moot.cli.errors import Unusable
from moot.cli.fitting import Row, print_rows
from moot.cli.look.call_story import cost_text, money, print_answer, state_text, story_json, took
from moot.cli.output import heading, page, plural, say, seat_text, write_json
from moot.cli.place import DEFAULT, AsJson, SourceWithBodies, shown
from moot.cli.reading import Log, fold, key
from moot.cli.situation import budgets_json, budgets_of

if TYPE_CHECKING:
    from rich.console import Console

    from moot.call_history.listing import Call, Probe, Total
    from moot.protocols.kernel.docket import Docket, Effects
    from moot.protocols.kernel.envelope import Envelope

LATELY: Final = 40
"""So many calls are listed, the latest; --json has them all."""
PROBES: Final = "(probes)"
"""Stands where a call's seat does, for calls of no seat."""
MOST_CASES: Final = 10
"""So many cases are totalled, the dearest."""


class Read:
    """The calls of a log, and the messages that they were for."""

    def __init__(self, named: Path) -> None:
        """Fold the log.

        Raises:
            CheckFailed: It breaks the rules.
        """
        from moot.call_history.listing import Calls

        self.log = Log(named)
        self._calls = Calls()
        self.messages: dict[str, tuple[Envelope, str]] = {}
        """By id, the answers to what a model was called for, and why the rules refused them."""
        self._called: set[str] = set()
        self.docket = fold(self.log, watch=self._take)

    @property
    def all(self) -> list[Call]:
        """The calls, as they were asked for."""
        return [*self._calls.by_id.values()]

    @property
    def probes(self) -> list[Probe]:
        """The calls that starts made to find out how models are called."""
        return self._calls.probes

    def named(self, name: str) -> list[Call]:
        """Return the calls of the answers that a user names: by a call, an obligation or a message.

        Raises:
            Unusable: There is no such thing, or no model was called for it.
        """
        wanted = self._id_of_message(int(name)) if name.isdecimal() else name
        found = [one for one in self.all if f"{one.id}/".startswith(f"{wanted}/")]
        if found:
            answers = {one.answer for one in found}
            return [one for one in self.all if one.answer in answers]
        if self.log.newest(key("id", wanted)) is not None:
            raise Unusable(
                f"no model was called for message {name}: moot calls {self._where} lists the calls"
            )
        raise Unusable(
            f"there is no call, obligation or message {name}: moot calls {self._where} lists the calls"
        )

    @property
    def _where(self) -> Path:
        return self.log.directory or self.log.path

    def _id_of_message(self, seq: int) -> str:
        env = next(iter(self.log.envelopes(seq, seq)), None)
        if env is None:
            raise Unusable(f"there is no message {seq}: the log of {self._where} ends at {self.docket.seq}")
        return str(getattr(env.body, "call_id", env.id))

    def _take(self, env: Envelope, fx: Effects, _docket: Docket) -> None:
        self._calls.take(env, fx)
        if (obligation := getattr(env.body, "obligation", None)) is not None and env.case_id is None:
            self._called.add(obligation)
        elif env.obligation_id in self._called:
            self.messages[env.id] = (env, str(fx.violation.why) if fx.violation is not None else "")


@command(
    "moot calls ./moot-data",
    "moot calls ./moot-data --seat critic --model local",
    "moot calls ./moot-data 412",
    "moot calls ./moot-data --json | jq .totals",
)
def calls(
    named: SourceWithBodies = DEFAULT,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            show_default=False,
            help="A call, an obligation, or a message: its number or its id.",
        ),
    ] = None,
    seat: Annotated[str | None, typer.Option("--seat", metavar="S", help="Only calls of this seat.")] = None,
    case: Annotated[
        str | None, typer.Option("--case", metavar="ID", help="Only calls about this case.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="M", help="Only calls to this model of the configuration."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what models were asked, what they answered, and what that cost.

    Without ID: the calls, the latest last, and what they come to by seat, case and model. With ID: how one answer came
    about, every turn and try of it, word for word. What is under way counts with the most that it may come to. The
    totals include the probes: calls that a start makes to find out how a model is called, for no seat and no case.
    """
    from moot.call_history.story import Bodies
    from moot.logs import asking

    if name is not None and (seat, case, model) != (None, None, None):
        raise Unusable("ID names calls already: leave --seat, --case and --model out")
    if seat is not None:
        asking.seat(seat)
    read = Read(named)
    with Bodies(read.log.directory) as bodies:
        if name is not None:
            found = read.named(name)
            if as_json:
                write_json(story_json(found, read.messages, bodies))
            else:
                print_answer(page(), found, read.messages, bodies)
            return
        found = [
            one
            for one in read.all
            if (seat is None or one.seat == seat)
            and (case is None or one.case == case)
            and (model is None or one.model == model)
        ]
        probes = [one for one in read.probes if (seat, case) == (None, None) and model in (None, one.model)]
        if as_json:
            write_json(_json(found, probes, read.docket, bodies.why))
            return
        every = len(read.all) + len(read.probes)
        _print(page(), found, probes, read, is_filtered=len(found) + len(probes) < every)
        kept = sum(bool(one.request_sha256) for one in found)
        if bodies.why and kept:
            say(
                f"moot calls {shown(named)}: {bodies.why}; what was asked and answered in "
                f"{plural(kept, 'call')} is lost, and moot verify says that it is not borne out"
            )


def _print(
    target: Console, found: Sequence[Call], probes: Sequence[Probe], read: Read, *, is_filtered: bool
) -> None:
    from rich.text import Text

    from moot.call_history.listing import total
    from moot.channels.showing.wording import clean

    if not found and not probes:
        target.print("no such call" if is_filtered else "no model was called", style="dim")
        return
    shown = found[-LATELY:]
    which = plural(len(found), "call") + (f", the last {LATELY} of them" if len(shown) < len(found) else "")
    probed = sum(one.calls for one in probes)
    target.print(heading("Calls of models", f"{which}, {plural(probed, 'probe')}" if probed else which))
    heads = ("message", "when", "seat", "model", "outcome", "tokens", "cost", "took", "about")
    rows = [
        Row(
            (
                str(one.seq),
                f"{one.at:%m-%d %H:%M}",
                seat_text(one.seat),
                one.model,
                state_text(one),
                f"{one.tokens:,}",
                cost_text(one.cost),
                took(one.latency_ms),
                ": ".join(part for part in (one.case or "", clean(one.why)) if part),
            )
        )
        for one in shown
    ]
    since = shown[0].seq if len(shown) < len(found) else 0
    recent = [one for one in probes if one.seq >= since]
    rows = sorted([*map(_probe_row, recent), *rows], key=lambda row: int(str(row.cells[0])))
    print_rows(
        target,
        heads,
        rows,
        right=("message", "tokens", "cost", "took"),
        below="about",
        drop=("took", "model"),
    )
    target.print()
    _print_totals(target, [*found, *probes])
    for line in _budget_lines(read.docket):
        target.print(Text(line))
    dear = total([*found, *probes])
    if dear.unpriced:
        target.print(Text(f"the price of {plural(dear.unpriced, 'call')} is not known", "dim"))


def _probe_row(one: Probe) -> Row:
    about = f"{plural(one.calls, 'call')} at the start, to find out how the model is called"
    when = f"{one.at:%m-%d %H:%M}"
    return Row(
        (str(one.seq), when, PROBES, one.model, "probe", f"{one.tokens:,}", cost_text(one.cost), "", about)
    )


def _print_totals(target: Console, found: Sequence[Call | Probe]) -> None:
    from moot.call_history.listing import Total, total, totals

    def row(by: str, name: Any, one: Total) -> Row:
        return Row((by, name, f"{one.calls:,}", f"{one.answered:,}", f"{one.tokens:,}", money(one)))

    rows = [
        row("by seat" if not n else "", seat_text(name) if name else PROBES, one)
        for n, (name, one) in enumerate(totals(found, lambda call: call.seat).items())
    ]
    cases = [*totals(found, lambda call: call.case or "(none)").items()]
    rows += [row("by case" if not n else "", name, one) for n, (name, one) in enumerate(cases[:MOST_CASES])]
    if len(cases) > MOST_CASES:
        rest = Total()
        for _, one in cases[MOST_CASES:]:
            for field in Total.__slots__:
                setattr(rest, field, getattr(rest, field) + getattr(one, field))
        rows.append(row("", f"{len(cases) - MOST_CASES} others", rest))
    rows += [
        row("by model" if not n else "", name, one)
        for n, (name, one) in enumerate(totals(found, lambda call: call.model).items())
    ]
    rows.append(row("all", "", total(found)))
    heads = ("total", "", "calls", "answered", "tokens", "cost")
    print_rows(target, heads, rows, right=("calls", "answered", "tokens", "cost"))


def _budget_lines(docket: Docket) -> list[str]:
    from moot.protocols.calls.books import UNITS, shown

    lines = []
    for place, limit, booked, _held in budgets_of(docket):
        for unit, most, has in zip(UNITS, limit, booked, strict=True):
            if most is not None:
                left = shown(unit, max(0, most - (has or 0)))
                lines.append(
                    f"budget of {place.shown}: {shown(unit, most)}, {shown(unit, has or 0)} booked, {left} left"
                )
    return lines


def _json(found: Sequence[Call], probes: Sequence[Probe], docket: Docket, why: str) -> dict[str, Any]:
    from dataclasses import asdict

    from moot.call_history.listing import total, totals

    def each(by: dict[str, Total]) -> dict[str, Any]:
        return {name: asdict(one) for name, one in by.items()}

    every: list[Call | Probe] = [*found, *probes]
    return {
        "calls": [one.to_dict() for one in found],
        "probes": [one.to_dict() for one in probes],
        "totals": {
            "all": asdict(total(every)),
            "by_seat": each(totals(every, lambda call: call.seat)),
            "by_case": each(totals(every, lambda call: call.case or "")),
            "by_model": each(totals(every, lambda call: call.model)),
        },
        "budgets": budgets_json(docket),
        "texts_lost": why,
    }
