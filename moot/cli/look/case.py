"""`moot case`: one run of a protocol, from its first message to its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from moot.cli.app import command
from moot.cli.errors import Unusable
from moot.cli.look.case_panel import panel_json, panel_lines
from moot.cli.look.log import Reader
from moot.cli.look.motion import print_outcome
from moot.cli.output import (
    clock_time,
    console,
    duration,
    heading,
    plural,
    print_hanging,
    print_table,
    seat_text,
    table,
    write_json,
)
from moot.cli.place import AsJson, Source
from moot.cli.reading import Log, fold

if TYPE_CHECKING:
    from rich.console import Console

    from moot.protocols.kernel.case import CaseState
    from moot.protocols.kernel.docket import Docket, Effects
    from moot.protocols.kernel.envelope import Envelope
    from moot.protocols.kernel.minds import Minds


WIDEST: Final = 120
"""Prose is broken to so many columns at most."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of a case: the phase it entered, with which message, when."""

    name: str
    seq: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Lateness:
    """Somebody who was late: in the grace, ruled silent, or after the ruling."""

    seat: str
    step: str
    how: str
    seq: int
    by_s: float


@dataclass(slots=True)
class CaseStory:
    """All that a log says about a case."""

    case_id: str
    state: CaseState | None = None
    transcript: list[Envelope] = field(default_factory=list)
    path: list[Phase] = field(default_factory=list)
    late: list[Lateness] = field(default_factory=list)
    minds: Minds = field(init=False)

    def take(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one message."""
        self.minds = docket.context.fold_named("minds")
        self._lateness(env, fx)
        if env.case_id == self.case_id or any(state.case_id == self.case_id for state in fx.started):
            self.transcript.append(env)
        state = docket.cases.get(self.case_id)
        for ended in fx.ended:
            if ended.case_id == self.case_id:
                state = ended
        if state is None or state is self.state:
            return
        self.state = state
        phase = str(state.phase)
        if not self.path or self.path[-1].name != phase:
            self.path.append(Phase(phase, env.seq, env.sent_at))

    @property
    def is_panel(self) -> bool:
        """Say whether it is a review panel, of which there is more to show."""
        return self.state is not None and self.state.kind == "panel"

    def motion(self) -> dict[str, Any] | None:
        """Return what it came to, if it is a motion."""
        from moot.cases.motion.record import motion_record
        from moot.protocols.motion.state import KIND

        state = self.state
        if state is None or state.kind != KIND:
            return None
        return motion_record(self.transcript, state.outcome, self.minds)

    def _lateness(self, env: Envelope, fx: Effects) -> None:
        from moot.protocols.kernel.errors import Late
        from moot.protocols.kernel.seats import OFFICERS

        answered, ruled = fx.settled, fx.voided
        if answered is not None and answered.case_id == self.case_id and answered.seat not in OFFICERS:
            over = (env.sent_at - answered.due_at).total_seconds()
            if over > 0:
                self.late.append(Lateness(answered.seat, answered.step, "within the grace", env.seq, over))
        if ruled is not None and ruled.case_id == self.case_id:
            over = (env.sent_at - ruled.due_at).total_seconds()
            outcome = fx.decision.outcome if fx.decision is not None else "void"
            self.late.append(Lateness(ruled.seat, ruled.step, f"silent, ruled {outcome}", env.seq, over))
        if isinstance(fx.violation, Late) and env.case_id == self.case_id:
            self.late.append(
                Lateness(str(env.author), env.body.type, "after the ruling, it changed nothing", env.seq, 0.0)
            )

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data; the transcript as envelopes."""
        import json

        from moot.protocols.authorship import written_by
        from moot.protocols.kernel.times import rfc3339

        state = self.state
        more = {"panel": panel_json(self.transcript, self.minds)} if self.is_panel else {}
        if (motion := self.motion()) is not None:
            more["motion"] = motion
        return {
            **more,
            "case_id": self.case_id,
            "kind": state.kind if state else "",
            "phase": str(state.phase) if state else "",
            "outcome": state.outcome if state else None,
            "parent": state.parent if state else None,
            "path": [{"phase": p.name, "seq": p.seq, "at": rfc3339(p.at)} for p in self.path],
            "late": [
                {"seat": x.seat, "step": x.step, "how": x.how, "seq": x.seq, "late_s": round(x.by_s)}
                for x in self.late
            ],
            "owed": [o.id for o in state.owed] if state else [],
            "written_by": written_by(self.transcript, self.minds),
            "transcript": [json.loads(envelope.line) for envelope in self.transcript],
        }


@command(
    "moot case ./moot-data hyp_20260223_1030",
    "moot case ./moot-data hyp_20260223_1030 --full",
    "moot case ./moot-data panel_20260223_1030",
    "moot case ./moot-data esc_20260223_1440 --json | jq .path",
)
def case(
    named: Source,
    case_id: Annotated[str, typer.Argument(metavar="ID", help="A case, or the beginning of its id.")],
    full: Annotated[bool, typer.Option("--full", help="Show texts whole that a line cuts short.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one case: what was said, through which phases it went, who was late; of a panel also how it judged."""
    from moot.control import note_shown

    log = Log(named)
    story = CaseStory(full_id(log, case_id))
    fold(log, watch=story.take)
    if story.state is not None and story.state.kind == "escalation":
        note_shown(named, [story.case_id])
    if as_json:
        write_json(story.as_json())
        return
    print_story(console(), story, log, full=full)


def full_id(log: Log, given: str) -> str:
    """Complete the id of a case.

    Raises:
        Unusable: No case begins so, or several do.
    """
    import json

    from moot.cli.reading import key

    if log.newest(key("case_id", given)) is not None:
        return given
    begins = key("case_id", given)[:-1]
    found = {json.loads(line)["case_id"] for line in log.lines(having=[begins])}
    found = {case_id for case_id in found if isinstance(case_id, str) and case_id.startswith(given)}
    if len(found) == 1:
        return str(found.pop())
    if not found:
        raise Unusable(
            f"there is no case {given}: moot status {log.directory or log.path} lists the open ones"
        )
    some = ", ".join(sorted(found)[:3])
    raise Unusable(
        f"{plural(len(found), 'case')} begin with {given}: {some}" + (" …" if len(found) > 3 else "")
    )


def print_story(target: Console, story: CaseStory, log: Log, *, full: bool = False) -> None:
    """Print a case for people; `full`: with the texts that its messages' lines leave out or cut short."""
    from rich.text import Text

    from moot.channels.showing.wording import words
    from moot.protocols.rulebook import rulebook

    state, said = story.state, story.transcript
    if state is None or not said:
        raise Unusable(f"{story.case_id} never opened")
    took = duration(said[-1].sent_at - said[0].sent_at)
    outcome = words(state.outcome) if state.outcome else f"open, {words(str(state.phase))}"
    target.print(heading(f"{rulebook().types[state.kind].shown} {story.case_id}", outcome))
    opened = f"opened {clock_time(said[0].sent_at)} UTC with message {state.opened_seq}"
    parent = f" in {state.parent}" if state.parent else ""
    print_hanging(
        target, Text(), Text(f"{opened}{parent}, {plural(len(said), 'message')} in {took}", "dim"), 0
    )
    target.print()
    path = Text(" → ", "dim").join(Text(words(phase.name)) for phase in story.path)
    print_hanging(target, Text("path  ", "dim"), path, 6)
    target.print()
    reader = Reader(target, log.namebook())
    for envelope in said:
        reader.show_envelope(envelope)
        for name, text in left_out(envelope) if full else ():
            print_hanging(target, Text(f"{'':9}{name}: ", "dim"), Text(text), 11)
    target.print()
    if story.is_panel:
        for line in panel_lines(said, story.minds, min(target.width, WIDEST)):
            # Columns of the matrix stay in line; a terminal breaks what is too long.
            target.print(Text(line), soft_wrap=True)
        target.print()
    if (motion := story.motion()) is not None:
        print_outcome(target, motion)
        target.print()
    if not story.late:
        target.print("nobody was late", style="dim")
        return
    rows = table("late", "for", "by", "", "message", right=("message",), fold=("",))
    for x in story.late:
        by = duration_of(x.by_s) if x.by_s else ""
        rows.add_row(seat_text(x.seat), x.step, by, x.how, str(x.seq))
    print_table(target, rows)


def left_out(envelope: Envelope) -> Iterator[tuple[str, str]]:
    """Yield the texts of a message that its line leaves out or cuts short, whole, each with its name in words."""
    from moot.channels.showing.rendering import predicate
    from moot.channels.showing.wording import harmless, words

    said = predicate(envelope)
    for path, text in _texts(envelope.body.model_dump()):
        plain = harmless(" ".join(text.split()))
        if " " in plain and plain not in said:
            yield words(path), harmless(text).strip()


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in plain data, with the names that lead to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, f"{path} {name}".strip())
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, path)


def duration_of(seconds: float) -> str:
    """Write a number of seconds as a duration."""
    from datetime import timedelta

    return duration(timedelta(seconds=seconds))
