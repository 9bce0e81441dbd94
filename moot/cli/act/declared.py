"""`moot act`: whatever a protocol lets people do, by its name and what it asks for."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from moot.cli.act.acts import perform
from moot.cli.act.authority import PLATFORM, As, seat_of, user_of
from moot.cli.app import Command, command
from moot.cli.errors import Unusable
from moot.cli.output import console, print_table, table, write_json
from moot.cli.place import AsJson, Living
from moot.cli.reading import Log, key
from moot.cli.speaking import speak

if TYPE_CHECKING:
    from moot.protocols.kernel.acts import Act, Blank
    from moot.protocols.kernel.envelope import Draft


class _Listing(Command):
    """The command's help lists the acts."""

    def get_help(self, ctx: Any) -> str:
        """Lay out `--help`."""
        from moot.cli.helping import command_help

        return command_help(ctx, self, "Acts", _listed())


@command(
    "moot act ./moot-data",
    "moot act ./moot-data halt reason='wrong prices'",
    "moot act ./moot-data override case=hyp_20260223_1030 verdict=REJECT why='bad data'",
    "moot act ./moot-data note text='Seen.' --in bridge --as ann",
    name="act",
    cls=_Listing,
)
def act_by_name(
    named: Living,
    name: Annotated[
        str | None, typer.Argument(metavar="ACT", help="What you do; left out, the acts are listed.")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME=VALUE", help="What the act asks for; a list is its name several times, or JSON."
        ),
    ] = None,
    here: Annotated[
        str | None,
        typer.Option("--in", metavar="CHANNEL", help="Where, for an act without a channel of its own."),
    ] = None,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol", metavar="MODULE", help="A module with a protocol that the society speaks."
        ),
    ] = None,
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Do what a protocol lets people do, Moot's own or another that is installed.

    Whether you may is said by the rights; where no society runs it waits for the next one.
    """
    speak(modules or [])
    user, log = user_of(as_user), Log(named)
    if name is None:
        _print_acts(as_json=as_json)
        return 0
    act = _named(name)
    draft = _draft(log, act, user, given or [], here)
    return perform(log, draft, as_json=as_json, done=f"{act.type} in {draft.channel}")


def _draft(log: Log, act: Act, user: str, given: Sequence[str], here: str | None) -> Draft:
    from moot.channels.filling import from_words, with_kept
    from moot.channels.inbound import draft_of
    from moot.channels.surface import InboundAct, PlatformMessageId
    from moot.cli.look.case import full_id
    from moot.memory.errors import MemoryStoreError
    from moot.memory.evidence import DirectoryEvidence, keep_text
    from moot.protocols.kernel.errors import Malformed

    try:
        fields = dict(from_words(act, _words(given)))
    except ValueError as exc:
        raise Unusable(f"{act.name}: {exc}; write {_usage(act)}") from None
    if log.directory is not None:
        try:
            fields = dict(
                with_kept(act, fields, partial(keep_text, DirectoryEvidence(log.directory / "evidence")))
            )
        except (ValueError, MemoryStoreError) as exc:
            raise Unusable(f"{act.name}: {exc}") from None
    channel, case = f"#{here.removeprefix('#')}" if here else "", None
    if isinstance(about := fields.get(act.about), str):
        fields[act.about] = case_id = full_id(log, about)
        opener = next(log.envelopes(having=[key("case_id", case_id)]), None)
        case = opener.channel if opener is not None else None
    doing = InboundAct(
        platform=PLATFORM,
        user_id=user,
        user_name=user,
        platform_message_id=PlatformMessageId(str(uuid.uuid4())),  # noqa: TID251  # each time an act of its own
        channel=channel,
        kind=act.name,
        fields=fields,
    )
    try:
        draft = draft_of(doing, seat_of(user, log), case_channel=case)
    except Malformed as exc:
        blank = next((one.name for one in act.asks if one.becomes == exc.field), exc.field)
        raise Unusable(f"{act.name}: {f'{blank}: ' if blank else ''}{exc.why}; write {_usage(act)}") from None
    if not draft.channel:
        raise Unusable(f"{act.name}: say where, with --in CHANNEL")
    return draft


def _words(given: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in given:
        name, is_value, value = word.partition("=")
        if not is_value:
            raise ValueError(f"{word[:40]!r} is no NAME=VALUE")
        found.setdefault(name, []).append(value)
    return found


def _named(name: str) -> Act:
    """Return the act of a name, or of a word in chat."""
    from difflib import get_close_matches

    from moot.protocols.rulebook import rulebook

    known = {**{act.word: act for act in rulebook().acts.values()}, **rulebook().acts}
    word = name.lower().removeprefix("/")
    if word in known:
        return known[word]
    near = get_close_matches(word, known, 1)
    hint = f"did you mean {near[0]}? Else " if near else ""
    raise Unusable(f"there is no act {name[:40]!r}: {hint}choose one of {', '.join(rulebook().acts)}")


def _print_acts(*, as_json: bool) -> None:
    from moot.channels.filling import form_of
    from moot.protocols.rulebook import rulebook

    if as_json:
        acts = rulebook().acts.values()
        write_json([{"name": a.name, "type": a.type, "does": a.does, "takes": form_of(a)} for a in acts])
        return
    rows = table("act", "what it does", fold=("what it does",))
    for name, does in _listed():
        rows.add_row(name, does)
    print_table(console(), rows)


def _listed() -> list[tuple[str, str]]:
    """Return each act with what it does and asks for."""
    from moot.protocols.rulebook import rulebook

    return [
        (act.name, f"{act.does}: {', '.join(map(_asked, act.asks))}" if act.asks else act.does)
        for act in rulebook().acts.values()
    ]


def _asked(blank: Blank) -> str:
    return f"{blank.name} ({' or '.join(blank.choices)})" if blank.choices else blank.name


def _usage(act: Act) -> str:
    """Say how an act is written; what may be left out stands in brackets."""
    from moot.channels.filling import is_needed

    asked = (f"{one.name}={one.name.upper()}" for one in act.asks if is_needed(act, one))
    more = (f"[{one.name}={one.name.upper()}]" for one in act.asks if not is_needed(act, one))
    return " ".join((f"moot act DIR {act.name}", *asked, *more))
