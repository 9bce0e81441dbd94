"""`moot models check`: whether the models of the configuration can be called, and what to do where they cannot."""

from __future__ import annotations

import difflib
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from moot.cli.app import Group, app, command
from moot.cli.errors import Unusable
from moot.cli.minds import KeyOption
from moot.cli.output import console, heading, plural, write_json
from moot.cli.place import AsJson
from moot.cli.setup.config import ConfigFile
from moot.cli.setup.doctor import Diagnosis, print_diagnosis

if TYPE_CHECKING:
    from moot.bots.models.answer import Answer
    from moot.bots.models.client import ModelClient
    from moot.bots.models.request import Rung
    from moot.config.models import ModelSettings
    from moot.model_start import SeatLimit
    from moot.protocols.calls.price import ModelPrice

group = typer.Typer(
    cls=Group,
    help="""Look after the language models of the configuration.

    docs/how-to/use-a-model.md shows how one is named there.""",
    epilog="moot models check\nmoot models check local --json",
    rich_markup_mode=None,
    no_args_is_help=True,
)
app.add_typer(group, name="models")

RUNGS: Final[Mapping[Rung, str]] = {
    "json_schema": "a strict JSON Schema",
    "tool": "one forced tool",
    "json_object": "any JSON object",
    "prompt": "asking in the prompt",
}


@dataclass
class Account:
    """What the calls of a check came to.

    Attributes:
        calls: How many were made.
        micro_usd: What they cost together, as far as is known.
        unpriced: How many of them have no known cost.
    """

    calls: int = 0
    micro_usd: int = 0
    unpriced: int = 0

    def book(self, answers: list[Answer], price: ModelPrice | None) -> None:
        """Add calls."""
        from moot.protocols.calls.price import cost

        for answer in answers:
            self.calls += 1 if answer.tries else 0
            if answer.is_free:
                continue
            if price is None or answer.usage is None:
                self.unpriced += 1
            else:
                self.micro_usd += cost(price, answer.usage)


@dataclass
class Checked:
    """What is known of one model.

    Attributes:
        name: Its name in the configuration.
        findings: What was found.
        account: What the calls came to.
        limit: The least that a seat of the configuration lets an answer of it have; None: no seat says.
        rung: How it is held to a form.
        context: Its length of context in tokens.
    """

    name: str
    findings: list[Diagnosis] = field(default_factory=list)
    account: Account = field(default_factory=Account)
    limit: SeatLimit | None = None
    rung: Rung | None = None
    context: int | None = None

    @property
    def is_ok(self) -> bool:
        """Say whether it can be called."""
        return all(finding.state != "failure" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "name": self.name,
            "ok": self.is_ok,
            "rung": self.rung,
            "context_tokens": self.context,
            "calls": self.account.calls,
            "cost_micro_usd": None if self.account.unpriced else self.account.micro_usd,
            "findings": [finding._asdict() for finding in self.findings],
        }


@command(
    "moot models check",
    "moot models check local --config my-society.toml",
    "moot models check http://127.0.0.1:8080/v1#qwen3:8b --key-env MY_KEY",
    "moot models check --json",
    within=group,
)
def check(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME|URL#NAME", help="The model of [models.NAME], or any; by default all configured."
        ),
    ] = None,
    key_env: KeyOption = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> int:
    """Try the models: is each reached, is its key taken, how is it held to a form, what does it cost.

    It sends up to ten small requests to each, which a provider charges for. Exit code 1: a model cannot be used so.
    """
    import asyncio

    from moot.cli.setup.config import settings
    from moot.minds.model_choice import Wanted
    from moot.model_start import seat_limits

    configured = settings(config)
    models = configured.models
    chosen = dict(models)
    if name is not None:
        found, held, _ = Wanted(model=name, key_env=key_env).named(models)
        chosen = {found: held}
    elif key_env is not None:
        raise Unusable("--key-env goes with URL#NAME")
    elif not models:
        raise Unusable(
            "no model is configured: write [models.NAME] with url and model; docs/how-to/use-a-model.md"
        )
    limits = seat_limits(
        (seat, mind.model, mind.max_tokens) for seat, mind in configured.minds.items() if mind.model
    )
    checked = asyncio.run(_check_all(chosen, limits, shows=not as_json))
    if as_json:
        write_json({"ok": all(one.is_ok for one in checked), "models": [one.as_json() for one in checked]})
    elif failed := sum(not one.is_ok for one in checked):
        console().print(f"{plural(failed, 'model')} cannot be used", style="bold red")
    return 0 if all(one.is_ok for one in checked) else 1


async def _check_all(
    models: Mapping[str, ModelSettings], limits: Mapping[str, SeatLimit], *, shows: bool
) -> list[Checked]:
    checked = []
    for name, given in models.items():
        one = Checked(name, limit=limits.get(name))
        if shows:
            console().print(heading(name, f"{given.model} at {given.url}"))
        async for finding in _examine(given, one):
            one.findings.append(finding)
            if shows:
                print_diagnosis(console(), finding)
        checked.append(one)
    return checked


async def _examine(given: ModelSettings, one: Checked) -> AsyncIterator[Diagnosis]:
    """Look at one model, until something is found without which the rest cannot be."""
    from moot.bots.models.client import ModelClient
    from moot.bots.models.errors import NoKey, NoNetwork, NoPackage
    from moot.bots.models.key import key_of
    from moot.clock.wall import monotonic_ns

    try:
        key = key_of(one.name, given)
    except NoKey as exc:
        yield Diagnosis("key", "failure", str(exc).removeprefix(f"models.{one.name}: "))
        return
    rng = Random(monotonic_ns())
    try:
        made = ModelClient(given, key, rng=rng, now_s=lambda: monotonic_ns() / 1e9)
    except NoKey as exc:
        yield Diagnosis("headers", "failure", str(exc))
        return
    except NoNetwork as exc:
        yield Diagnosis("network", "failure", str(exc))
        return
    except NoPackage as exc:
        yield Diagnosis("package", "failure", str(exc))
        return
    async with made as client:
        async for finding in _call(client, one, "key" if key else ""):
            yield finding


async def _call(client: ModelClient, one: Checked, key: str) -> AsyncIterator[Diagnosis]:
    from moot.bots.models.embeddings_api import embedding_of
    from moot.bots.models.prices import price_of
    from moot.bots.models.probing import PROBE_S, TOKENS, TRIAL, asked, find_rung

    found = await reached(client, one)
    yield found
    if found.state == "failure":
        return
    price = price_of(client.settings, _now())
    if client.settings.api == "embeddings":
        answer = await client.call(embedding_of("colour"), deadline_s=client.now_s() + PROBE_S)
        one.account.book([answer], price)
        yield (
            Diagnosis("embeds", "ok", f"{len(answer.value)} dimensions")
            if answer.outcome == "answered"
            else _failed("embeds", answer, client, one)
        )
        yield _cost(one.account)
        return
    max_tokens = None if one.limit is None else one.limit.max_tokens
    probed = await find_rung(client, PROBE_S, max_tokens=max_tokens)
    answers = [answer for _, answer in probed.answers]
    one.account.book(answers, price)
    last = answers[-1]
    if last.fault in ("key", "credit", "no_model"):
        where = {"key": "key", "credit": "key", "no_model": "model"}[last.fault]
        yield _failed(where, last, client, one)
        yield _cost(one.account)
        return
    yield Diagnosis("key", "ok", "accepted" if key else "none is sent, and none is asked for")
    one.rung = probed.rung
    if probed.rung is None:
        yield _failed("typed", last, client, one)
        yield _cost(one.account)
        return
    yield _typed(client, probed.rung)
    yield _context(one.context)
    yield _price(client.settings, price)
    cap = max_tokens or client.settings.max_tokens or TOKENS
    trial = await asked(client, replace(TRIAL, max_tokens=cap), probed.rung, PROBE_S)
    one.account.book(trial, price)
    yield _round_trip(client, trial[-1], one)
    yield _cost(one.account)


async def reached(client: ModelClient, one: Checked) -> Diagnosis:
    """Ask for the list of models, which costs nothing, and say whether the client's is there."""
    from moot.bots.models.answer import Answer
    from moot.bots.models.listing import models_listed

    told = await client.models()
    url, model = client.settings.url, client.settings.model
    if isinstance(told, Answer):
        return _failed("reachable", told, client, one)
    if told.status in (401, 403) or 300 <= told.status < 400:
        refused = client.endpoint.read_refusal(told.status, told.body)
        return _failed("key" if refused.fault == "key" else "reachable", refused, client, one)
    listed = models_listed(told.body) if told.status == 200 else None
    if listed is None:
        return Diagnosis("reachable", "ok", f"{url} answers, without a list of its models")
    # A name without a date is another one for the dated model.
    dated = re.compile(rf"{re.escape(model)}-\d{{8}}")
    names = [name for name in listed if name == model or dated.fullmatch(name)]
    one.context = listed[max(names)] if names else None
    if listed and not names:
        close = difflib.get_close_matches(model, listed, n=1)
        hint = f"did you mean {close[0]}?" if close else f"it lists {', '.join(sorted(listed)[:5])}"
        return Diagnosis("reachable", "warning", f"{url} answers, and lists no {model}", hint)
    return Diagnosis("reachable", "ok", f"{url} answers")


def _failed(check: str, answer: Answer, client: ModelClient, one: Checked) -> Diagnosis:
    from moot.bots.models.advice import advice

    setting = "" if one.limit is None else one.limit.setting
    return Diagnosis(check, "failure", answer.why, advice(answer, one.name, client.settings, setting))


def _typed(client: ModelClient, rung: Rung) -> Diagnosis:
    said = f"held to a form by {RUNGS[rung]}"
    if client.dialect.reasons:
        said += "; a model that reasons"
    elif not client.dialect.takes_temperature:
        said += "; takes no temperature"
    if rung == "prompt":
        return Diagnosis(
            "typed",
            "warning",
            said,
            "expect answers that do not fit; a server that enforces a schema is surer",
        )
    return Diagnosis("typed", "ok", said)


def _context(tokens: int | None) -> Diagnosis:
    if tokens is None:
        return Diagnosis("context", "ok", "the endpoint does not say how long")
    return Diagnosis("context", "ok", f"{tokens:,} tokens")


def _price(given: ModelSettings, price: ModelPrice | None) -> Diagnosis:
    if price is None:
        return Diagnosis(
            "price", "warning", "unknown",
            "write price = { input = …, output = … }, in US dollars for a million tokens",
        )  # fmt: skip
    source = "as configured" if given.price is not None else "as published"
    asked, made = (f"${one.normalize():f}" for one in (price.input, price.output))
    return Diagnosis("price", "ok", f"{asked} for a million tokens of input, {made} of output, {source}")


def _round_trip(client: ModelClient, answer: Answer, one: Checked) -> Diagnosis:
    if answer.outcome != "answered":
        return _failed("round trip", answer, client, one)
    said = (
        f"{answer.value.answer!r} with confidence {answer.value.confidence:g} after {answer.latency_ms:,} ms"
    )
    if answer.usage is None:
        return Diagnosis(
            "round trip", "warning", f"{said}; it tells no usable figures of its usage",
            "what such calls cost is not known",
        )  # fmt: skip
    said += f", {answer.usage.input} tokens in and {answer.usage.output} out"
    asked = client.settings.model
    if answer.model_reported and not _is_same(asked, answer.model_reported):
        return Diagnosis(
            "round trip", "warning", f"{said}; the answer is by {answer.model_reported[:100]!r}",
            f"the server does not use {asked}: correct model, or the server's configuration",
        )  # fmt: skip
    return Diagnosis("round trip", "ok", said)


def _is_same(asked: str, told: str) -> bool:
    """Say whether two names are one model's: a dated one, or one with its maker or file before it."""
    short, other = (name.rpartition("/")[2].lower() for name in (asked, told))
    return other.startswith(short) or short.startswith(other)


def _cost(account: Account) -> Diagnosis:
    calls = plural(account.calls, "call")
    if account.unpriced:
        known = f"at least ${account.micro_usd / 1e6:.6f} for {calls}; " if account.micro_usd else ""
        return Diagnosis("cost", "ok", f"{known}what {account.unpriced} of {calls} cost is not known")
    return Diagnosis("cost", "ok", f"${account.micro_usd / 1e6:.6f} for {calls}")


def _now() -> datetime:
    from moot.clock.wall import utc_ns

    return datetime.fromtimestamp(utc_ns() / 1e9, UTC)
