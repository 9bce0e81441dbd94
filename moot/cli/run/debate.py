"""`moot debate`: any question, debated by an Advocate and a Critic and judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from moot.cli.app import command
from moot.cli.arena.out import say_who_writes
from moot.cli.look.log import Reader
from moot.cli.look.motion import print_outcome
from moot.cli.minds import Minds, say_models
from moot.cli.numbers import seed_option
from moot.cli.output import say, write_json
from moot.cli.place import AsJson
from moot.cli.replaying import Replay, compare, kept, needed
from moot.cli.setup.config import ConfigFile, settings

if TYPE_CHECKING:
    from moot.cases.motion.offline import MotionOptions, MotionRun
    from moot.protocols.kernel.envelope import Envelope

JUDGED: Final = frozenset({"UPHELD", "REJECTED", "UNDECIDED"})
UNJUDGED: Final = 3
"""Exit code of a motion that nobody judged."""


@command(
    "moot debate 'Should we adopt a four-day week?'",
    "moot debate 'Where do we meet?' --options Rome,Oslo,Bonn --seed 2",
    "moot debate 'Should we merge this?' --context proposal.md --out ./debate",
    "moot debate 'Is this change safe?' --context - --json < change.diff",
    "moot debate 'Should we merge this?' --mind critic=my_minds:MyCritic",
    "moot debate 'Should we merge this?' --model http://127.0.0.1:8080/v1#qwen3:8b --seats critic,judge",
    "moot debate 'Should we merge this?' --model local --budget 0.10 --config my-society.toml",
    "moot debate 'Should we merge this?' --config my-society.toml",
    "moot debate --replay ./debate",
)
def debate(
    ctx: typer.Context,
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="What is asked.")] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--options",
            metavar="A,B,C",
            help="Answers to choose from, two or more; by default yes and no. May be repeated.",
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", help="Rounds of objections and replies, 1 to 3.")
    ] = 2,
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="FILE|-",
            help="A text that all seats are shown, up to 100,000 characters; - is standard input.",
        ),
    ] = None,
    seed: Annotated[int, seed_option("Seeds simulated minds")] = 1,
    who: Minds = Minds(),
    config: ConfigFile = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Keep the log in this directory.")
    ] = None,
    held: Replay = Replay(),
    as_json: AsJson = False,
) -> int:
    """Have a question debated in virtual time: a claim, objections, replies, and a judgment.

    Exit code 0: it was judged, whatever the judgment; 3: nobody judged it in time. What is said is shown as it is
    said, then what it came to; with --json the record alone. Of a configuration only the minds of its three seats,
    models and budget count. In a society that runs, moot act DIR debate asks.
    """
    from moot.cases.motion.offline import SEATS, MotionOptions, again
    from moot.cases.texts import a_named_text
    from moot.config.models import public
    from moot.log_setup import set_up_logging
    from moot.place import free_for_a_log
    from moot.protocols.authorship import will_write

    set_up_logging(None)
    recording = held.recording(ctx, who.key_env)
    if recording is None:
        needed(QUESTION=question)
    if out is not None:
        free_for_a_log(out)
    with kept(recording, out) as place:
        if recording is not None:
            asked, effective = again(recording, place), recording.first.settings
        else:
            seated = who.over(settings(config), SEATS)
            effective = seated.settings
            asked = MotionOptions(
                question=str(question),
                options=[part.strip() for given in options or () for part in given.split(",")],
                context="" if context is None else a_named_text(context),
                rounds=rounds,
                seed=seed,
                minds=seated.minds,
                models=seated.models,
                budget=seated.budget,
                prompts=seated.settings.prompts,
                directory=place,
            )
        say_who_writes(will_write(SEATS, asked.named, public(asked.models)))
        say_models(asked.chosen, effective)
        run = _held(asked, as_json=as_json)
        compare(recording, place)
    if out is not None and not as_json:
        say(f"the log is in {out}")
    for line in run.record["warnings"]:
        say(f"moot debate: {line}")
    return 0 if run.record["outcome"] in JUDGED else UNJUDGED


def _held(asked: MotionOptions, *, as_json: bool) -> MotionRun:
    """Have it debated, and show it."""
    from moot.cases.motion.offline import hold_motion
    from moot.channels.showing.namebook import NameBook
    from moot.protocols.calls.rights import PLACE as CALLS

    book = NameBook()
    reader = Reader(book=book)

    def show(envelope: Envelope) -> None:
        if envelope.body.type == "SOCIETY_STARTED":
            book.note(envelope)  # it says who sits where, and is no part of the debate
        elif envelope.channel != CALLS:  # moot calls shows those
            reader.show_envelope(envelope)

    run = hold_motion(asked, listener=None if as_json else show)
    if as_json:
        write_json(run.record)
    else:
        reader.console.print()
        print_outcome(reader.console, run.record)
    return run
