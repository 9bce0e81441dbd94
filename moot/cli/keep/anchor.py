"""`moot anchor`: what a log is now, to be kept elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from moot.cli.act.authority import As, seat_of, user_of
from moot.cli.app import command
from moot.cli.errors import CliError, Unusable
from moot.cli.output import console, print_hanging, say, write_json
from moot.cli.place import AsJson, Source
from moot.cli.reading import Log

if TYPE_CHECKING:
    from moot.anchor import Anchor


@command(
    "moot anchor ./moot-data",
    "moot anchor ./moot-data --append ~/anchors.jsonl",
    "moot anchor ./moot-data --sign ~/.ssh/id_ed25519 --append anchors.jsonl",
    "moot anchor ./moot-data --post admin",
)
def anchor(
    named: Source,
    append: Annotated[
        Path | None,
        typer.Option(
            "--append", metavar="FILE", help="Add it as one line to a file, best on another machine."
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--sign", metavar="KEY", help="Sign it with an ed25519 key, PEM or of ssh-keygen."),
    ] = None,
    channel: Annotated[
        str | None, typer.Option("--post", metavar="CHANNEL", help="Say it in a channel; # may be left out.")
    ] = None,
    as_user: As = None,
    as_json: AsJson = False,
) -> int:
    """Print number and hash of the last message, with the society's identity.

    Kept where whoever can write the log cannot, it lets moot verify --anchor FILE find any edit, cut or
    reattribution of what was said before, even one with all hashes computed anew. A society posts such an
    anchor each midnight by itself, in #admin and wherever that is mirrored.
    """
    from moot.anchor import AnchorError, sign

    log = Log(named)
    made = _of(log)
    try:
        made = sign(made, key) if key is not None else made
    except AnchorError as exc:
        raise Unusable(str(exc)) from exc
    if append is not None:
        _append(append, json.dumps(made.as_json()))
    if channel is not None:
        return _post(log, channel, f"Anchor: message {made.seq}, hash {made.hash}", as_user, as_json=as_json)
    if as_json:
        write_json(made.as_json())
        return 0
    target = console()
    for name, value in made.as_json().items():
        if name != "anchor":
            print_hanging(target, Text(f"{name:<10} ", "dim"), Text(str(value)), 11)
    if append is not None:
        say(f"moot anchor: added to {append}")
    return 0


def _of(log: Log) -> Anchor:
    from moot.anchor import Anchor
    from moot.protocols.codec import decode_envelope
    from moot.protocols.kernel.errors import Violation
    from moot.protocols.kernel.officers import SocietyStarted
    from moot.protocols.kernel.times import rfc3339

    text = log.newest()
    if text is None:
        raise Unusable(f"{log.path} is empty: no society ever ran there")
    try:
        first, last = next(log.envelopes(1, 1)), decode_envelope(text)
    except Violation as exc:
        raise Unusable(f"{log.path}: its last message is none: {exc}; moot verify says more") from exc
    if not last.hash:
        raise Unusable(f"{log.path} has no hashes: anchor the directory that it was exported from")
    society = first.body.society_id if isinstance(first.body, SocietyStarted) else ""
    return Anchor(seq=last.seq, hash=last.hash, society=society, sent_at=rfc3339(last.sent_at))


def _append(path: Path, line: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as exc:
        kind = Unusable if not path.parent.is_dir() or path.is_dir() else CliError
        raise kind(f"{path}: cannot be written: {(exc.strerror or str(exc)).lower()}") from exc


def _post(log: Log, channel: str, text: str, as_user: str | None, *, as_json: bool) -> int:
    from moot.cli.act.acts import act, perform
    from moot.protocols.kernel.people import Note

    if log.directory is None:
        raise Unusable(f"{log.path} is a file: --post needs the data directory of a society")
    user = user_of(as_user)
    place = channel if channel.startswith("#") else f"#{channel}"
    draft = act(user, seat_of(user, log), place, Note(text=text, about_case_id=None))
    return perform(log, draft, as_json=as_json, done=f"anchored in {place}")
