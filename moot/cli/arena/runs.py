"""`moot arena`: a task refined by Planner, Reviewer and Finalizer under Arena Protocol v2, and its judges."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Final

import typer

from moot.cli.app import Group, app, command
from moot.cli.arena.input import given, read_bytes, read_json, source_of
from moot.cli.arena.out import check_out, deliver, progress, say_who_writes
from moot.cli.errors import Unusable
from moot.cli.minds import Minds, say_models
from moot.cli.numbers import seed_option
from moot.cli.output import console, say, write_json
from moot.cli.place import AsJson
from moot.cli.replaying import Replay, compare, kept, needed
from moot.cli.setup.config import settings

group = typer.Typer(
    cls=Group,
    help="""Refine a task in the Arena: Planner, Reviewer and Finalizer under Arena Protocol v2.

    run, start and record make audit records; conformance, parse and matrix judge.""",
    epilog="moot arena run --task task.json --out record.json\nmoot arena conformance record.json",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="arena")

EXIT_CODES: Final = {"TERMINATED_APPROVED": 0, "TERMINATED_MAX_ROUNDS": 3}
"""How `moot arena run` ends; 4 is TERMINATED_ERROR."""
FAILED: Final = 4

TaskFile = Annotated[
    Path, typer.Option("--task", metavar="FILE", help="JSON: a TaskContext, or {task, notebook}.")
]
ProtocolFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="JSON: a ProtocolConfig; by default the spec's."),
]
MaxRounds = Annotated[
    int | None, typer.Option("--max-rounds", metavar="N", help="Instead of the config's, 1 to 5.")
]
RecordOut = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the audit record to this file.")
]


@command(
    "moot arena run --task task.json --out record.json",
    "moot arena run --task task.json --notebook ./notes",
    "moot arena run --task task.json --script script.yaml",
    "moot arena run --task task.json --mind reviewer=my_minds:MyReviewer",
    "moot arena run --task task.json --model http://127.0.0.1:8080/v1#qwen3:8b --seats reviewer",
    "moot arena run --task task.json --mcp 'my-notes-server' --json",
    "moot arena run --task task.json --model local --out ./run",
    "moot arena run --replay ./run",
    within=group,
)
def run(
    ctx: typer.Context,
    task: Annotated[
        Path | None,
        typer.Option("--task", metavar="FILE", help="JSON: a TaskContext, or {task, notebook}."),
    ] = None,
    config: ProtocolFile = None,
    notebook: Annotated[
        Path | None, typer.Option("--notebook", metavar="DIR", help="A folder of notes, served over MCP.")
    ] = None,
    mcp: Annotated[
        str | None, typer.Option("--mcp", metavar="COMMAND", help="A command that starts an MCP server.")
    ] = None,
    mcp_url: Annotated[
        str | None, typer.Option("--mcp-url", metavar="URL", help="The address of an MCP server.")
    ] = None,
    no_notebook: Annotated[
        bool, typer.Option("--no-notebook", help="Consult no notebook, whatever the config says.")
    ] = False,
    script: Annotated[
        Path | None, typer.Option("--script", metavar="FILE", help="YAML: what the seats say.")
    ] = None,
    max_rounds: MaxRounds = None,
    seed: Annotated[int, seed_option("Seeds simulated minds")] = 1,
    who: Minds = Minds(),
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE.json|DIR",
            help="Write the audit record to this file; or to record.json in this folder, with the log.",
        ),
    ] = None,
    held: Replay = Replay(),
    as_json: AsJson = False,
) -> int:
    """Refine a task in virtual time, with scripted or simulated minds or with models, and say how it went.

    Exit code 0: approved, 3: the round cap was reached, 4: the run ended with an error. An invalid config or
    task is such an error, with its reason in the record. With --json the audit record itself is printed.
    """
    from moot.cases.arena.offline import RunOptions, again, run_offline
    from moot.cases.arena.script import ScriptError, read_script
    from moot.config.models import public
    from moot.log_setup import set_up_logging
    from moot.minds.model_choice import unseated
    from moot.protocols.arena.seats import ARENA, SEATS
    from moot.protocols.authorship import will_write

    set_up_logging(None)
    source = source_of(notebook, mcp, mcp_url, is_off=no_notebook)
    try:
        scripted = None if script is None else read_script(script)
    except ScriptError as error:
        raise Unusable(str(error)) from None
    recording = held.recording(
        ctx, who.key_env, besides=("notebook", "mcp", "mcp_url", "no_notebook", "script")
    )
    folder, file = _places(out, task, config, script)
    with kept(recording, folder) as place:
        if recording is not None:
            options, effective = (
                again(recording, place, script=scripted, source=source),
                recording.first.settings,
            )
        else:
            needed(task=task)
            what = given(
                Path(str(task)),
                config,
                max_rounds=max_rounds,
                script=scripted,
                source=source,
                is_off=no_notebook,
            )
            seated = who.over(unseated(settings(None)), ARENA)
            effective = seated.settings
            options = RunOptions(
                task=what.task,
                config=what.config,
                notebook=what.notebook,
                script=scripted,
                source=source,
                seed=seed,
                minds=seated.minds,
                models=seated.models,
                budget=seated.budget,
                prompts=seated.settings.prompts,
                directory=place,
            )
        options = replace(options, warn=lambda line: say(f"moot arena: {line}"))
        say_who_writes(will_write([info.seat for info in SEATS], options.named, public(options.models)))
        say_models(options.chosen, effective)
        with progress("arena") as told:
            record = run_offline(options, told)
        deliver(record, file, as_json=as_json)
        compare(recording, place)
    return EXIT_CODES.get(record["terminal_state"], FAILED)


def _places(out: Path | None, *inputs: Path | None) -> tuple[Path | None, Path | None]:
    """Return the folder that keeps the log, and the file of the record, as --out names them.

    Raises:
        Unusable: They cannot be written.
        BadInput: The folder holds a log.
    """
    from moot.place import free_for_a_log

    if out is None or (out.exists() and not out.is_dir()) or (out.suffix == ".json" and not out.exists()):
        check_out(out, *inputs)
        return None, out
    return free_for_a_log(out), out / "record.json"


@command(
    "moot arena parse review.txt",
    "moot arena parse - < review.txt",
    "moot arena parse review.txt --json",
    within=group,
)
def parse(
    named: Annotated[str, typer.Argument(metavar="FILE|-", help="A raw review; - is standard input.")],
    as_json: AsJson = False,
) -> int:
    """Find the verdict of a review; exit code 1 when there is none.

    Prints JSON, with and without --json: the verdict, its line from 1, how many lines are verdicts, and the parser's
    codes.
    """
    _ = as_json  # It is said so on every command that prints data.
    from moot.protocols.arena.verdict import parse_verdict

    # Decoded here, not by a text file: that would turn CR LF and CR into LF.
    found = parse_verdict(read_bytes(named).decode("utf-8", "replace"))
    write_json(
        {
            "verdict": found.verdict,
            "line": found.line,
            "matches": found.matches,
            "events": [found.code] if found.code is not None else [],
        }
    )
    return 0 if found.verdict is not None else 1


@command(
    "moot arena conformance record.json",
    "moot arena conformance record.json --json | jq .level",
    "moot arena conformance - < record.json",
    within=group,
)
def conformance(
    named: Annotated[
        str, typer.Argument(metavar="RECORD.json|-", help="An audit record; - is standard input.")
    ],
    as_json: AsJson = False,
) -> int:
    """Judge an audit record that anybody produced by the spec's 13 checks; exit code 1 when one fails.

    It reads the record alone, and computes again what can be computed: verdicts, paths, rounds, hooks.
    """
    from moot.cli.arena.show import print_conformance
    from moot.protocols.arena.conformance.checker import check

    found = check(read_json(named))
    if as_json:
        write_json(
            {
                "level": found.level,
                "is_conformant": found.is_conformant,
                "is_justified": found.is_justified,
                **asdict(found),
            }
        )
    else:
        print_conformance(console(), named, found)
    return 0 if found.is_conformant else 1


@command("moot arena matrix", "moot arena matrix --json | jq '.scenarios[].runs[].actual'", within=group)
def matrix(as_json: AsJson = False) -> int:
    """Run the spec's test matrix T01 to T12 and hold each run to its path and its criteria.

    Every run is scripted and offline. Exit code 1 when anything is missed.
    """
    from moot.cases.arena.matrix.runner import run_matrix
    from moot.cli.arena.matrix import print_matrix
    from moot.log_setup import set_up_logging

    set_up_logging(None)
    with progress("matrix") as told:
        found = run_matrix(told)
    if as_json:
        write_json(found.as_json())
    else:
        print_matrix(console(), found)
    return 0 if found.is_passed else 1
