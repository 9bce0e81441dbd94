"""`moot arbiter init | validate | resolve`: the file of a run, before anything is asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from moot.cli.app import Group, app, command
from moot.cli.arbiter.endpoints import (
    EmbeddingsOption,
    EndpointOption,
    KeyOption,
    models_of_run,
    own_names,
    settings_of,
    told_of,
    with_models,
)
from moot.cli.errors import CheckFailed
from moot.cli.output import console, heading, plural, say, write_json, write_lines
from moot.cli.place import AsJson
from moot.cli.setup.doctor import print_diagnosis

if TYPE_CHECKING:
    from moot.arbiter.resolving import Prepared
    from moot.cli.setup.models import Checked
    from moot.config.arbiter.bank import Bank
    from moot.protocols.arbiter.generated import Configuration, Policy

CONFIG: Final = Path("arbiter.config.json")

Template = Literal["quickstart", "heterogeneity", "debate", "free"]

group = typer.Typer(
    cls=Group,
    help="""Ask models one question over many trials, and measure the answers as a distribution.

    init writes the file of a run, validate judges it, resolve shows all that would be asked and asks nobody,
    mock-run carries it out with answers that are made up, run asks. quickstart does all of it the first time.""",
    epilog="moot arbiter quickstart\nmoot arbiter init 'Should the library open on Sundays?'\nmoot arbiter mock-run",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="arbiter")

ConfigArgument = Annotated[
    Path | None, typer.Argument(metavar="CONFIG", help=f"The file of a run; {CONFIG} by default.")
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The same, as an option.")
]
BankOption = Annotated[
    Path | None,
    typer.Option(
        "--bank",
        metavar="DIR",
        help="Prompts, contracts and models of your own, laid out like Moot's.",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse free and aliased models.")]
Permissive = Annotated[bool, typer.Option("--permissive", help="Warn of them; the default.")]
AllowFree = Annotated[bool, typer.Option("--allow-free", help="Allow free models under --strict.")]
AllowAliased = Annotated[bool, typer.Option("--allow-aliased", help="Allow aliased models under --strict.")]
ContractFailure = Annotated[
    Literal["warn", "exclude", "fail"],
    typer.Option(
        "--contract-failure",
        metavar="WHAT",
        help="What of a reply that breaks its contract: warn (the default), exclude, fail.",
    ),
]


@dataclass(frozen=True, slots=True)
class Judged:
    """A run that may be carried out.

    Attributes:
        path: The file that asks for it.
        prepared: With nothing left open.
        policy: What it allows.
        warnings: What is odd about it.
    """

    path: Path
    prepared: Prepared
    policy: Policy
    warnings: Sequence[str]


@command(
    "moot arbiter init",
    "moot arbiter init 'Should the library open on Sundays?' --template heterogeneity",
    "moot arbiter init --template debate --out debate.json --force",
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
        typer.Option(
            "--template", metavar="NAME", help="quickstart (the default), heterogeneity, debate or free."
        ),
    ] = "quickstart",
    as_json: AsJson = False,
) -> None:
    """Write the file of a run, to be changed by hand."""
    config = write_config(question, template, out, is_forced=is_forced)
    if as_json:
        write_json({"path": str(out), "template": template, "config": config})
        return
    write_lines(
        [f"{out} asks: {config['question']['text']}", f"Next: moot arbiter validate {_named(out)}".rstrip()]
    )


def write_config(question: str | None, template: Template, out: Path, *, is_forced: bool) -> dict[str, Any]:
    """Write the file of a run, and return what it says.

    Args:
        question: What it asks; None leaves the template's.
        template: What it starts from.
        out: Where to write it.
        is_forced: Replace a file that is there.

    Raises:
        CheckFailed: It is there and not to be replaced, cannot be written, or the question cannot be asked.
    """
    import json

    from moot.config.arbiter.templates import from_template

    if question is not None and not question.strip():
        raise CheckFailed("the question is empty: write one, or leave it out")
    if question is not None and not question.isprintable():
        raise CheckFailed("the question holds what cannot be printed: write it as one line of UTF-8")
    if out.is_dir():
        raise CheckFailed(f"{out}: is a folder: name a file in it with --out")
    if out.exists() and not is_forced:
        raise CheckFailed(f"{out}: is there already: --force replaces it, --out names another")
    config = from_template(template, question or "").as_json()
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
    named: ConfigArgument = None,
    config: ConfigOption = None,
    bank: BankOption = None,
    is_strict: Strict = False,
    is_permissive: Permissive = False,
    is_free_allowed: AllowFree = False,
    is_alias_allowed: AllowAliased = False,
    contract_failure: ContractFailure = "warn",
    is_live: Annotated[
        bool, typer.Option("--live", help="Ask the endpoints for their lists of models, too; costs nothing.")
    ] = False,
    endpoint: EndpointOption = None,
    key_env: KeyOption = None,
    embeddings: EmbeddingsOption = None,
    as_json: AsJson = False,
) -> int:
    """Judge the file of a run: exit code 0 when it can be carried out, 1 when not; a line for each fault.

    What is odd but allowed is told as warnings on standard error. Nothing is asked, and no key is needed, unless --live
    says to reach the endpoints.
    """
    path = path_of(named, config)
    policy = policy_of(is_strict, is_permissive, is_free_allowed, is_alias_allowed, contract_failure)
    if not is_live and (endpoint or key_env or embeddings):
        raise CheckFailed("--endpoint, --key-env and --embeddings go with --live")
    judged = judge(
        path, bank, policy, lambda: "pending", with_models(lambda one: one, endpoint, embeddings), endpoint
    )
    if not isinstance(judged, Judged):
        return refused("validate", path, judged, as_json=as_json)
    live: list[Checked] = []
    if is_live:
        live = _reached(judged, endpoint, key_env, embeddings)
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


def _reached(
    judged: Judged, endpoint: str | None, key_env: str | None, embeddings: str | None
) -> list[Checked]:
    import asyncio

    from moot.cli.arbiter.probing import probed
    from moot.config.budget import BudgetSettings

    told_ = told_of(settings_of(), endpoint, key_env, embeddings)
    models = models_of_run(judged, told_, BudgetSettings())
    return asyncio.run(probed(models, judged.prepared.config.measurement.embedding_model))


@command(
    "moot arbiter resolve",
    "moot arbiter resolve debate.json --out runs",
    "moot arbiter resolve --strict --json | jq -r .plan_sha256",
    within=group,
)
def resolve(
    named: ConfigArgument = None,
    config: ConfigOption = None,
    bank: BankOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Holds the folder of the run.", show_default="output.runs_dir"
        ),
    ] = None,
    is_strict: Strict = False,
    is_permissive: Permissive = False,
    is_free_allowed: AllowFree = False,
    is_alias_allowed: AllowAliased = False,
    contract_failure: ContractFailure = "warn",
    as_json: AsJson = False,
) -> int:
    """Write all that a run would ask into a folder of its own, and ask nobody.

    config.resolved.json holds every default and every prompt in full, trial_plan.jsonl each trial, manifest.json
    the hashes. Equal files give equal hashes: the run's id does not count.
    """
    from moot.arbiter.artifacts import write_resolved
    from moot.arbiter.instants import instant

    path = path_of(named, config)
    policy = policy_of(is_strict, is_permissive, is_free_allowed, is_alias_allowed, contract_failure)
    now, new_id = begun()
    judged = judge(path, bank, policy, new_id)
    if not isinstance(judged, Judged):
        return refused("resolve", path, judged, as_json=as_json)
    resolved = judged.prepared.config
    directory = (out or Path(resolved.output.runs_dir or "runs")) / resolved.run.run_id
    try:
        manifest = write_resolved(judged.prepared, directory, policy, instant(now))
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


def begun() -> tuple[datetime, Callable[[], str]]:
    """Return the time, and what gives a run that begins now its id."""
    from moot.arbiter.resolving import run_id
    from moot.clock.wall import utc_ns

    now = datetime.fromtimestamp(utc_ns() / 1e9, UTC)
    chance = os.urandom(3)  # noqa: TID251  # the id of a run derives from nothing
    return now, lambda: run_id(now, chance)


def path_of(named: Path | None, config: Path | None) -> Path:
    """Return the file of a run, however it was named.

    Raises:
        CheckFailed: It was named twice.
    """
    if named is not None and config is not None:
        raise CheckFailed(f"{named} and --config {config} name a file each: choose one of them")
    return named or config or CONFIG


def _named(path: Path) -> str:
    """Return a file as the next command needs it."""
    import shlex

    return "" if path == CONFIG else shlex.quote(str(path))


def policy_of(
    is_strict: bool,
    is_permissive: bool,
    is_free_allowed: bool,
    is_alias_allowed: bool,
    contract_failure: Literal["warn", "exclude", "fail"],
) -> Policy:
    """Return what options allow.

    Raises:
        CheckFailed: They contradict each other.
    """
    from moot.protocols.arbiter.generated import Policy

    if is_strict and is_permissive:
        raise CheckFailed("--strict and --permissive: choose one of them")
    return Policy(
        strict=is_strict,
        allow_free=is_free_allowed,
        allow_aliased=is_alias_allowed,
        contract_failure_policy=contract_failure,
    )


def judge(
    path: Path,
    folder: Path | None,
    policy: Policy,
    new_id: Callable[[], str],
    change: Callable[[Configuration], Configuration] = lambda config: config,
    endpoint: str | None = None,
) -> Judged | Sequence[str]:
    """Return the run that a file asks for; else what is wrong with it, a line each.

    Args:
        path: The file.
        folder: A bank of the user's own.
        policy: What is allowed.
        new_id: Gives the run its id.
        change: Puts options in the place of the file's values.
        endpoint: What --endpoint says.
    """
    from moot.arbiter.resolving import prepare
    from moot.config.arbiter.bank import load_bank
    from moot.config.arbiter.configuring import load_configuration, resolve
    from moot.config.arbiter.reading import Faulty
    from moot.protocols.arbiter.policy import refusals, warnings

    if path == CONFIG and not path.exists():
        return [f"{path}: there is no such file: moot arbiter init writes one"]
    try:
        bank: Bank = load_bank(folder)
        resolved = resolve(change(load_configuration(path)), bank, new_id(), str(path))
    except Faulty as error:
        return error.lines
    models = {one.slug: one for one in bank.catalog.models}
    if refused := refusals(resolved, models, policy):
        return [f"{path}: {line}" for line in refused]
    return Judged(path, prepare(resolved, bank), policy, warnings(resolved, models, own_names(endpoint)))


def refused(word: str, path: Path, lines: Sequence[str], *, as_json: bool) -> int:
    """Tell why a run cannot be carried out, and return the exit code."""
    if as_json:
        write_json({"valid": False, "path": str(path), "faults": [*lines], "warnings": []})
        return 1
    for line in lines:
        say(f"moot arbiter {word}: {line}")
    return 1


def summary(judged: Judged) -> dict[str, Any]:
    """Return what a run is, as data."""
    prepared = judged.prepared
    return {
        "question": prepared.config.question.text,
        "protocol": prepared.config.protocol.type,
        "k_planned": len(prepared.trials),
        "policy": judged.policy.as_json(),
        **prepared.hashes.as_json(),
    }


def told(judged: Judged) -> str:
    """Return what a run is, in a line."""
    config = judged.prepared.config
    sampling = config.sampling
    parts = [plural(len(sampling.models), "model"), plural(len(sampling.personas), "persona")]
    if config.protocol.type == "independent":
        parts.append(plural(len(sampling.protocols), "template"))
    return f"{plural(len(judged.prepared.trials), 'trial')} ({config.protocol.type}) from {', '.join(parts)}"
