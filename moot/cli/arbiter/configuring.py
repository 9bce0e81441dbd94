"""`moot arbiter init | validate | resolve`: the file of a run, before anything is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from moot.cli.app import command
from moot.cli.arbiter.endpoints import Endpoints, models_of_run, settings_of
from moot.cli.arbiter.judging import CONFIG, Asked, Judged, begun, group, judge, named, refused, summary, told
from moot.cli.arbiter.running import RunsOption, directory_of
from moot.cli.errors import CheckFailed
from moot.cli.output import console, heading, plural, say, write_json, write_lines
from moot.cli.place import AsJson
from moot.cli.setup.doctor import print_diagnosis

if TYPE_CHECKING:
    from moot.cli.setup.models import Checked

Template = Literal["quickstart", "heterogeneity", "debate", "free", "moot:debate", "moot:arena", "moot:panel"]
ONE_OF: Final = (
    "quickstart (the default), heterogeneity, debate or free; moot:debate, moot:arena or moot:panel, of which each "
    "trial is held whole."
)


@command(
    "moot arbiter init",
    "moot arbiter init 'Should the library open on Sundays?' --template heterogeneity",
    "moot arbiter init --template debate --out debate.json --force",
    "moot arbiter init 'Should the library open on Sundays?' --template moot:debate",
    "moot arbiter init --template moot:arena --work task.md",
    "moot arbiter init --template moot:panel --work paper.md --title 'Rain in Ulm' --field weather",
    within=group,
)
def init(
    question: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", help="What every trial asks; by default an example."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where to write it.", show_default=str(CONFIG))
    ] = CONFIG,
    is_forced: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    template: Annotated[
        Template,
        typer.Option("--template", metavar="NAME", help=ONE_OF),
    ] = "quickstart",
    work: Annotated[
        str | None,
        typer.Option(
            "--work",
            metavar="FILE|-",
            help="A text of many lines instead of QUESTION: a work, a task; - is standard input.",
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="T", help="Of the work that a panel judges: its title."),
    ] = None,
    field: Annotated[
        str | None,
        typer.Option("--field", metavar="F", help="Of that work: its field."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the file of a run, to be changed by hand."""
    from moot.cases.texts import a_named_text
    from moot.channels.showing.wording import clean

    if work is not None and question is not None:
        raise CheckFailed("QUESTION and --work give a text each: choose one of them")
    known = {name: text for name, text in (("title", title), ("field", field)) if text is not None}
    if known and template != "moot:panel":
        raise CheckFailed(f"--{next(iter(known))} goes with --template moot:panel")
    asked = question if work is None else a_named_text(work)
    config = write_config(asked, template, out, is_forced=is_forced, is_work=work is not None, **known)
    if as_json:
        write_json({"path": str(out), "template": template, "config": config})
        return
    write_lines(
        [
            f"{out} asks: {clean(config['question']['text'])}",
            f"Next: moot arbiter validate {named(out)}".rstrip(),
        ]
    )


def write_config(
    question: str | None,
    template: Template,
    out: Path,
    *,
    is_forced: bool,
    is_work: bool = False,
    **known: str,
) -> dict[str, Any]:
    """Write the file of a run, and return what it says.

    Args:
        question: What it asks; None leaves the template's.
        template: What it starts from.
        out: Where to write it.
        is_forced: Replace a file that is there.
        is_work: It may have many lines.
        known: What a panel knows of the work: its `title`, its `field`.

    Raises:
        CheckFailed: It is there and not to be replaced, cannot be written, or the question cannot be asked.
    """
    import json

    from moot.config.arbiter.templates import from_template

    if question is not None and not question.strip():
        raise CheckFailed("the question is empty: write one, or leave it out")
    for name, line in (("question", "" if is_work else question or ""), *known.items()):
        if not line.isprintable():
            raise CheckFailed(f"the {name} holds what cannot be printed: write it as one line of UTF-8")
    if out.is_dir():
        raise CheckFailed(f"{out}: is a folder: name a file in it with --out")
    if out.exists() and not is_forced:
        raise CheckFailed(f"{out}: is there already: --force replaces it, --out names another")
    config = from_template(template, question or "", **known).as_json()
    try:
        out.write_text(json.dumps(config, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise CheckFailed(f"{out}: cannot be written: {error.strerror or error}") from None
    return config


@command(
    "moot arbiter validate",
    "moot arbiter validate debate.json --strict --allow-aliased",
    "moot arbiter validate --bank my-bank --json | jq .warnings",
    within=group,
)
def validate(
    asked: Asked = Asked(),
    is_live: Annotated[
        bool, typer.Option("--live", help="Ask the endpoints for their lists of models, too; costs nothing.")
    ] = False,
    where: Endpoints = Endpoints(),
    as_json: AsJson = False,
) -> int:
    """Judge the file of a run: exit code 0 when it can be carried out, 1 when not; a line for each fault.

    What is odd but allowed is told as warnings on standard error. Nothing is asked, and no key is needed, unless --live
    says to reach the endpoints.
    """
    path = asked.path
    if where and not is_live:
        raise CheckFailed("--endpoint, --key-env and --embeddings go with --live")
    judged = judge(asked, lambda: "pending", where)
    if not isinstance(judged, Judged):
        return refused("validate", path, judged, as_json=as_json)
    live: list[Checked] = []
    if is_live:
        live = _reached(judged, where)
    is_ok = all(one.is_ok for one in live)
    if as_json:
        write_json(
            {
                "valid": is_ok,
                "path": str(path),
                "faults": [],
                "warnings": [*judged.warnings],
                **({"live": [one.as_json() for one in live]} if is_live else {}),
                **summary(judged),
            }
        )
        return 0 if is_ok else 1
    for line in judged.warnings:
        say(f"moot arbiter validate: {path}: {line}")
    count = f", {plural(len(judged.warnings), 'warning')}" if judged.warnings else ""
    write_lines([f"{path} is valid{count}: {told(judged)}"])
    for one in live:
        console().print(heading(one.name))
        for finding in one.findings:
            print_diagnosis(console(), finding)
    return 0 if is_ok else 1


def _reached(judged: Judged, where: Endpoints) -> list[Checked]:
    import asyncio

    from moot.cli.arbiter.probing import probed
    from moot.config.budget import BudgetSettings

    models = models_of_run(judged, where.told(settings_of()), BudgetSettings())
    return asyncio.run(probed(models, judged.prepared.config.measurement.embedding_model))


@command(
    "moot arbiter resolve",
    "moot arbiter resolve debate.json --out runs",
    "moot arbiter resolve --strict --json | jq -r .plan_sha256",
    within=group,
)
def resolve(
    asked: Asked = Asked(),
    out: RunsOption = None,
    as_json: AsJson = False,
) -> int:
    """Write all that a run would ask into a folder of its own, and ask nobody.

    config.resolved.json holds every default and every prompt in full, trial_plan.jsonl each trial, manifest.json
    the hashes. Equal files give equal hashes: the run's id does not count.
    """
    from moot.arbiter.artifacts import write_resolved
    from moot.arbiter.instants import instant

    path = asked.path
    now, new_id = begun()
    judged = judge(asked, new_id)
    if not isinstance(judged, Judged):
        return refused("resolve", path, judged, as_json=as_json)
    directory = directory_of(judged, out)
    try:
        manifest = write_resolved(judged.prepared, directory, judged.policy, instant(now))
    except OSError as error:
        raise CheckFailed(f"{error.filename or directory}: cannot be written: {error.strerror}") from None
    if as_json:
        write_json(
            {
                "path": str(directory),
                "run_id": manifest.run_id,
                "warnings": [*judged.warnings],
                **summary(judged),
                "artifacts": [one.path for one in manifest.artifacts.entries],
            }
        )
        return 0
    for line in judged.warnings:
        say(f"moot arbiter resolve: {path}: {line}")
    hashes = judged.prepared.hashes
    write_lines(
        [
            f"{directory}: {told(judged)}",
            f"  configuration  {hashes.config_sha256}",
            f"  plan           {hashes.plan_sha256}",
            f"  models         {hashes.model_catalog_sha256} ({hashes.model_catalog_version})",
            f"  prompts        {hashes.prompt_manifest_sha256}",
        ]
    )
    return 0
