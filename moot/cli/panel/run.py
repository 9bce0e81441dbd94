"""`moot panel run`: a whole panel in virtual time, and what it leaves in a folder."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from moot.cases.texts import a_text
from moot.cli.app import command
from moot.cli.arena.out import progress, say_who_writes
from moot.cli.errors import Unusable
from moot.cli.minds import Minds, say_models
from moot.cli.numbers import seed_option
from moot.cli.output import page, say, write_json, write_lines
from moot.cli.panel.judges import WIDEST, MajorityOption, group
from moot.cli.place import AsJson
from moot.cli.replaying import Replay, compare, kept, needed
from moot.cli.setup.config import settings

if TYPE_CHECKING:
    from moot.cases.panel.offline import PanelRun
    from moot.protocols.panel.contract import Contract

MISMATCH, UNUSABLE, SHRUNK = 1, 2, 3
"""Exit codes of a panel that aborts, as those of verify: the synthesis, the contract, a reviewer."""


@command(
    "moot panel run --contract full --paper paper.md --title 'On widgets' --field widgetry",
    "moot panel run --contract full --paper p.md --title T --field F --model local --budget 0.50",
    "moot panel run --contract strategy --paper dossier.md --title S1 --field trading --out panel",
    "moot panel run --replay ./panel",
    "moot panel run --contract c.json --paper p.md --title T --field F --script answers --json",
    within=group,
)
def run(
    ctx: typer.Context,
    contract: Annotated[
        str | None,
        typer.Option(
            "--contract",
            metavar="C",
            help="A file, or full, methodology_focus, strategy, architecture.",
        ),
    ] = None,
    paper: Annotated[
        Path | None, typer.Option("--paper", metavar="FILE", help="The work: text or Markdown.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="T", help="What Phase 1 knows of it.")
    ] = None,
    field: Annotated[
        str | None, typer.Option("--field", metavar="F", help="What Phase 1 knows of it.")
    ] = None,
    script: Annotated[
        Path | None,
        typer.Option("--script", metavar="DIR", help="Raw outputs: <role>.phase1.md, <role>.phase2.md."),
    ] = None,
    majority: MajorityOption = "spec",
    on_none_fired: Annotated[
        Literal["accept", "abort"],
        typer.Option("--on-none-fired", metavar="WHAT", help="When no condition fires: accept or abort."),
    ] = "accept",
    seed: Annotated[int, seed_option("Seeds simulated reviewers")] = 1,
    who: Minds = Minds(),
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Write contract, outputs, prompts, synthesis, record and log here."
        ),
    ] = None,
    held: Replay = Replay(),
    as_json: AsJson = False,
) -> int:
    """Let a panel judge a work in virtual time: reviewers commit without seeing it, then review it.

    Who has no script is simulated. Exit code 0: decided, 3: the panel has shrunk, 1: the synthesis does not
    follow from the scores, 2: the contract or a file cannot be used. --out holds what verify takes.
    """
    from moot.cases.panel.given import a_contract
    from moot.cases.panel.offline import PanelOptions, again, run_panel, seats_of
    from moot.cases.panel.script import PanelScriptError, read_script
    from moot.config.models import public
    from moot.log_setup import set_up_logging
    from moot.minds.model_choice import unseated
    from moot.protocols.authorship import will_write
    from moot.protocols.kernel.errors import Malformed

    set_up_logging(None)
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Unusable(f"{out} is there already: name a new or an empty folder with --out")
    recording = held.recording(ctx, who.key_env, besides=("script",))
    try:
        texts = {} if script is None else read_script(script)
        with kept(recording, out) as place:
            if recording is not None:
                options, effective = again(recording, place, texts=texts), recording.first.settings
            else:
                needed(contract=contract, paper=paper, title=title, field=field)
                found = a_contract(str(contract), is_scripted=script is not None)
                judges = seats_of(found)
                seated = who.over(unseated(settings(None)), judges)
                effective = seated.settings
                options = PanelOptions(
                    contract=found,
                    content=a_text(Path(str(paper))),
                    title=str(title),
                    field=str(field),
                    texts=texts,
                    majority=majority,
                    on_none_fired=on_none_fired,
                    seed=seed,
                    minds=seated.minds,
                    models=seated.models,
                    budget=seated.budget,
                    prompts=seated.settings.prompts,
                    directory=place,
                )
            options = dataclasses.replace(options, warn=lambda line: say(f"moot panel: {line}"))
            judges = seats_of(options.contract)
            say_who_writes(will_write(judges, options.named, public(options.models)))
            say_models(options.chosen, effective)
            with progress("panel") as told:
                done = run_panel(options, told)
            compare(recording, place)
    except (PanelScriptError, Malformed) as error:
        raise Unusable(str(error)) from None
    if out is not None:
        try:
            _keep(done, out)
        except OSError as error:
            raise Unusable(f"{out}: cannot be written: {error.strerror or error}") from None
    if as_json:
        write_json(done.record)
    else:
        write_lines(_told(done, options.contract))
        if out is not None:
            write_lines(["", f"kept in {out}"])
    return _exit_code(done)


def _exit_code(done: PanelRun) -> int:
    aborted = done.record["aborted"]
    if aborted is None:
        return 0
    tag = aborted["tag"]
    if tag.startswith("[PANEL-SHRUNK"):
        return SHRUNK
    return MISMATCH if tag.startswith("[SYNTHESIS-MISMATCH") else UNUSABLE


def _told(done: PanelRun, contract: Contract) -> list[str]:
    from moot.cases.panel.show import shown

    return shown(done.record, contract, width=min(page().width, WIDEST))


def _keep(done: PanelRun, out: Path) -> None:
    """Write what anybody needs to judge the panel again, and whose word its outputs are."""
    from moot.protocols.panel.render import by

    out.mkdir(parents=True, exist_ok=True)
    record = done.record
    files = {
        "contract.json": json.dumps(record["contract"], ensure_ascii=False, indent=1) + "\n",
        "panel.json": json.dumps(record, ensure_ascii=False, indent=1) + "\n",
        # The outputs themselves stay as they were said: they are judged again, byte by byte.
        "written-by.txt": "".join(f"{by(record['written_by'], role)}\n" for role in record["written_by"]),
    }
    for role, phases in record["outputs"].items():
        for phase, texts in phases.items():
            for n, text in enumerate(texts, 1):
                files[f"{role}.{phase}{'' if n == 1 else f'.{n}'}.md"] = text
    for n, text in enumerate(record["synthesis"], 1):
        files[f"synthesis{'' if n == 1 else f'.{n}'}.md"] = text
    for role, phase, n, prompt in done.prompts:
        files[f"prompts/{role}.{phase}{'' if n == 1 else f'.{n}'}.txt"] = f"{prompt.system}\n{prompt.user}"
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
