"""What the commands of `moot arena` share: the progress of a run, its record written and shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.cli.errors import Unusable
from moot.cli.output import console, say, write_lines


@contextmanager
def progress(what: str) -> Iterator[Callable[[str], None] | None]:
    """Show on standard error how far something is, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.status import Status
    from rich.text import Text

    from moot.channels.showing.wording import clean

    with Status(what, console=console(sys.stderr)) as shown:
        yield lambda line: shown.update(Text(f"{what} … {clean(line, 60)}"))


def say_who_writes(written: Mapping[str, Iterable[str]]) -> None:
    """Tell on standard error whose word the answer to a free question will be.

    Args:
        written: By seat, as `moot.protocols.authorship.will_write` gives it.
    """
    from moot.protocols.authorship import is_modelless, summary

    first = "no language model writes here" if is_modelless(written) else "who writes here"
    say(f"{first}: {summary(written)}")


def check_out(out: Path | None, *inputs: Path | None) -> None:
    """Say before anything runs that the record could not be written, or would replace what it is made from.

    Raises:
        Unusable: It could not, or it would.
    """
    if out is None:
        return
    for given in inputs:
        if given is not None and out.is_file() and out.samefile(given):
            raise Unusable(f"--out {out}: the run reads this file")
    if out.is_dir() or not out.parent.is_dir():
        raise Unusable(
            f"--out {out}: " + ("it is a directory" if out.is_dir() else f"there is no {out.parent}")
        )


def deliver(record: Mapping[str, Any], out: Path | None, *, as_json: bool) -> None:
    """Write a record where it was asked for, and print it or its account."""
    text = json_text(record)
    if out is not None:
        write_whole(out, f"{text}\n")
    if as_json:
        write_lines([text])
        return
    from moot.cli.arena.show import print_account

    print_account(console(), record)
    if out is not None:
        say(f"the audit record is in {out}")


def write_whole(out: Path, text: str) -> None:
    """Write a file at once, so that nobody ever reads half of it.

    Raises:
        Unusable: It cannot be written.
    """
    # What is no file, such as a pipe, is written to and never replaced.
    is_file = out.is_file() or not out.exists()
    fresh = out.with_name(f".{out.name}.part") if is_file else out
    try:
        fresh.write_text(text, encoding="utf-8")
        if is_file:
            fresh.replace(out)
    except OSError as error:
        if is_file:
            fresh.unlink(missing_ok=True)
        raise Unusable(f"--out {out}: {error.strerror or error}") from None


def json_text(record: Mapping[str, Any]) -> str:
    """Write a record as JSON that every reader takes: lone surrogates are escaped."""
    text = json.dumps(record, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(record, indent=2)
    return text
