"""What the commands about runs of Arbiter share: their group, their options, and how a file is judged."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

import typer

from moot.cli.app import Group, app
from moot.cli.arbiter.endpoints import Endpoints
from moot.cli.errors import CheckFailed
from moot.cli.output import plural, say, write_json

if TYPE_CHECKING:
    from moot.arbiter.resolving import Prepared
    from moot.config.arbiter.bank import Bank
    from moot.protocols.arbiter.generated import Configuration, Policy

CONFIG: Final = Path("arbiter.config.json")


class ArbiterGroup(Group):
    """Arbiter's commands, in the order in which one meets them."""

    panels: ClassVar = {
        "Begin": ("quickstart", "init", "validate", "resolve"),
        "Carry out": ("mock-run", "run"),
        "Look at a run": ("report", "verify", "certify", "compare"),
    }


group = typer.Typer(
    cls=ArbiterGroup,
    help="""Ask models one question over many trials, and measure the answers as a distribution.

    init writes the file of a run, validate judges it, resolve shows all that would be asked and asks nobody,
    mock-run carries it out with answers that are made up, run asks. quickstart does all of it the first time.""",
    epilog="moot arbiter quickstart\nmoot arbiter init 'Should the library open on Sundays?'\nmoot arbiter mock-run",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="arbiter")


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that say which run is meant, and what it is allowed."""

    named: Annotated[
        Path | None, typer.Argument(metavar="CONFIG", help=f"The file of a run; {CONFIG} by default.")
    ] = None
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="The same, as an option.")
    ] = None
    bank: Annotated[
        Path | None,
        typer.Option(
            "--bank", metavar="DIR", help="Prompts, contracts and models of your own, laid out like Moot's."
        ),
    ] = None
    is_strict: Annotated[bool, typer.Option("--strict", help="Refuse free and aliased models.")] = False
    is_permissive: Annotated[bool, typer.Option("--permissive", help="Warn of them; the default.")] = False
    is_free_allowed: Annotated[
        bool, typer.Option("--allow-free", help="Allow free models under --strict.")
    ] = False
    is_alias_allowed: Annotated[
        bool, typer.Option("--allow-aliased", help="Allow aliased models under --strict.")
    ] = False
    contract_failure: Annotated[
        Literal["warn", "exclude", "fail"],
        typer.Option(
            "--contract-failure",
            metavar="WHAT",
            help="What of a reply that breaks its contract: warn (the default), exclude, fail.",
        ),
    ] = "warn"

    @property
    def path(self) -> Path:
        """The file, however it was named.

        Raises:
            CheckFailed: It was named twice.
        """
        if self.named is not None and self.config is not None:
            raise CheckFailed(f"{self.named} and --config {self.config} name a file each: choose one of them")
        return self.named or self.config or CONFIG

    @property
    def policy(self) -> Policy:
        """What is allowed.

        Raises:
            CheckFailed: The options contradict each other.
        """
        from moot.protocols.arbiter.generated import Policy

        if self.is_strict and self.is_permissive:
            raise CheckFailed("--strict and --permissive: choose one of them")
        return Policy(
            strict=self.is_strict,
            allow_free=self.is_free_allowed,
            allow_aliased=self.is_alias_allowed,
            contract_failure_policy=self.contract_failure,
        )


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


def begun() -> tuple[datetime, Callable[[], str]]:
    """Return the time, and what gives a run that begins now its id."""
    from moot.arbiter.resolving import run_id
    from moot.clock.wall import utc_ns

    now = datetime.fromtimestamp(utc_ns() / 1e9, UTC)
    chance = os.urandom(3)  # noqa: TID251  # the id of a run derives from nothing
    return now, lambda: run_id(now, chance)


def named(path: Path) -> str:
    """Return a file as the next command needs it."""
    import shlex

    return "" if path == CONFIG else shlex.quote(str(path))


def judge(
    asked: Asked,
    new_id: Callable[[], str],
    endpoints: Endpoints = Endpoints(),
    change: Callable[[Configuration], Configuration] = lambda config: config,
) -> Judged | Sequence[str]:
    """Return the run that options ask for; else what is wrong with it, a line each.

    Args:
        asked: Which, and what is allowed.
        new_id: Gives the run its id.
        endpoints: Whom it asks instead of whom the file names.
        change: Puts other options in the place of the file's values.
    """
    from moot.arbiter.resolving import prepare
    from moot.config.arbiter.bank import load_bank
    from moot.config.arbiter.configuring import read_configuration, resolve
    from moot.config.arbiter.reading import Faulty
    from moot.protocols.arbiter.policy import refusals, warnings

    path, policy = asked.path, asked.policy
    if path == CONFIG and not path.exists():
        return [f"{path}: there is no such file: moot arbiter init writes one"]
    try:
        bank: Bank = load_bank(asked.bank)
        config, whole = read_configuration(path)
        wanted = endpoints.put_into(change(config))
        resolved = resolve(wanted, bank, new_id(), str(path), whole=whole)
    except Faulty as error:
        return error.lines
    models = {one.slug: one for one in bank.catalog.models}
    if refused := refusals(resolved, models, policy):
        return [f"{path}: {line}" for line in refused]
    return Judged(path, prepare(resolved, bank), policy, warnings(resolved, models, endpoints.is_own_name))


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
