"""Everything that can go wrong with a model in a seat, tried as somebody meets it: a debate whose Critic is that model.

Whatever happens, the debate ends by its rules, the log says why the Critic is silent, the ledger adds up, `moot verify`
finds nothing, and no key is in the directory.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any, Final

import pytest

from moot import open_log
from moot.bots.models import client
from moot.channels.errors import StorageError
from moot.channels.log.write_behind import LogWriter
from moot.memory.bodies_file import CALLS_NAME
from moot.protocols.kernel.envelope import Envelope
from moot.stored import stored_envelopes
from tests.doubles.command_line import Result, data, done, moot, write
from tests.doubles.model_server import (
    MISBEHAVING,
    ModelServer,
    Turn,
    completion,
    refusal,
    too_many,
)

KEY: Final = "plain/key+0123456789"
"""Nothing in it looks like a key."""

PROBED: Final = completion('{"colour":"red","number":1}')

NOTHING: Final = {"objections": [], "confidence": 0.5}
"""A Critic's answer: it has no objection."""


def objecting(text: str) -> Turn:
    """Make an answer with one objection."""
    return completion(
        json.dumps({**NOTHING, "objections": [{"text": text, "severity": "minor", "evidence_ref": ""}]})
    )


def holding(**over: Any) -> Turn:
    """Make an answer with further fields."""
    return completion(json.dumps({**NOTHING, **over}))


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer(key=KEY) as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.start()
    return running.forget()


class Debate:
    """A debate whose Critic is a model, and what came of it."""

    def __init__(
        self, server: ModelServer, place: Path, turn: Turn | None, *earlier: Turn, **model: Any
    ) -> None:
        """Hold it; after the probe the server plays `earlier`, then always `turn`, None: as a model would."""
        server.plays(PROBED, *earlier)
        server.always = turn
        self.place = place / "debate"
        self.result = debate(server, place, self.place, **model)
        self.log: list[Envelope] = list(stored_envelopes(self.place))

    def bodies(self, *kinds: str) -> list[Any]:
        return [env.body for env in self.log if env.body.type in kinds]

    @property
    def settled(self) -> list[Any]:
        return self.bodies("CALL_SETTLED")

    @property
    def silences(self) -> list[str]:
        """Return why minds were silent, by the log."""
        return [body.reason for body in self.bodies("AUDIT") if body.event == "mind_failed"]

    def check(self) -> None:
        """Check what holds whatever happens."""
        assert self.result.exit_code == 0, self.result.output
        assert "Traceback" not in self.result.output
        assert "JUDGMENT" in {env.body.type for env in self.log}
        assert {env.author for env in self.log if env.channel == "#calls"} <= {"bursar"}
        reserved = {body.call_id: body for body in self.bodies("CALL_RESERVED")}
        assert [body.call_id for body in self.settled] == list(reserved), "each call is settled, in its order"
        log = open_log(self.place)
        assert [(one.id, one.cost) for one in log.calls()] == [
            (one.call_id, one.cost) for one in self.settled
        ]
        report = log.verify(strict=True)
        assert report.ok, report.findings
        assert not [name for name, text in texts(self.place) if KEY.encode() in text]


def debate(
    server: ModelServer,
    place: Path,
    out: Path,
    *,
    key: str | None = KEY,
    budget: float = 10,
    rounds: int = 2,
    **model: Any,
) -> Result:
    """Run `moot debate` with the server's model as its Critic."""
    settings: Mapping[str, Any] = {"url": server.url, "model": server.model, "key_env": "A_KEY", **model}
    written = [
        "[models.local]",
        *(f"{name} = {json.dumps(value)}" for name, value in settings.items()),
        "price = { input = 1, output = 10 }",
        '[minds]\ncritic = { model = "local" }',
        f"[budget]\nusd = {budget}",
    ]
    config = write(place / "society.toml", "\n".join(written))
    return moot(
        "debate", "Four days or five?", "--config", config, "--rounds", rounds, "--out", out, A_KEY=key
    )


def texts(place: Path) -> Iterator[tuple[str, bytes]]:
    """Yield all that a directory holds: its files as they are, and the bodies in them."""
    for path in sorted(place.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes()
    with closing(connect(place / CALLS_NAME)) as db:
        for name, packed in db.execute("SELECT hex(sha256), zlib FROM body"):
            yield name, zlib.decompress(packed)


# ---------------------------------------------------------------- before anything starts


@pytest.mark.parametrize(
    ("model", "key", "why"),
    [
        ({"url": "http://127.0.0.1:9/v1"}, KEY, "no connection to http://127.0.0.1:9/v1: "),
        ({"url": "https://127.0.0.1:{port}/v1"}, KEY, "no secure connection to https://127.0.0.1:"),
        ({"model": "huge-9"}, KEY, "HTTP 404: the model huge-9 does not exist: correct model"),
        (
            {},
            "another/key",
            "HTTP 401: Incorrect API key provided: [redacted:key]: name the variable or file",
        ),
        ({}, None, "the key is missing: set A_KEY"),
    ],
    ids=["no server", "no TLS", "unknown model", "wrong key", "no key"],
)
def test_a_model_that_cannot_be_called_is_one_line_before_anything_starts(
    server: ModelServer,
    tmp_path: Path,
    model: dict[str, str],
    key: str | None,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "CAP_S", 0.0)
    told = {name: value.format(port=server.port) for name, value in model.items()}
    result = debate(server, tmp_path, tmp_path / "out", key=key, **told)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith(f"moot debate: models.local: {why}")
    assert "Traceback" not in result.stderr


# ---------------------------------------------------------------- while it runs

SILENT: Final[Mapping[str, tuple[Turn, str, str]]] = {
    "wrong key": (refusal(401, f"Incorrect API key provided: {KEY}"), "provider_error", "HTTP 401"),
    "unknown model": (refusal(404, "no such model", "model_not_found"), "provider_error", "HTTP 404"),
    "429, wait 0 s": (MISBEHAVING["429, wait 0 s"], "provider_error", "HTTP 429: slow down"),
    "429, wait 3600 s": (
        MISBEHAVING["429, wait 3600 s"],
        "provider_error",
        "to wait 3600 s more takes too long",
    ),
    "429, wait nonsense": (MISBEHAVING["429, wait nonsense"], "provider_error", "HTTP 429: slow down"),
    "429, wait for ever": (too_many("9" * 400), "provider_error", "HTTP 429: slow down"),
    "500": (MISBEHAVING["500"], "provider_error", "HTTP 500: it broke"),
    "500, in bytes": (Turn(500, b"\0\xff" * 3_000), "provider_error", "HTTP 500: "),
    "hangs after headers": (MISBEHAVING["hangs after headers"], "timed_out", "no whole reply within 3 s"),
    "breaks after headers": (MISBEHAVING["breaks after headers"], "unknown", "the connection broke"),
    "20 MB": (MISBEHAVING["20 MB"], "provider_error", "the reply is longer than 4 MiB"),
    "5 MB, and says so": (
        MISBEHAVING["5 MB, and says so"],
        "provider_error",
        "the reply is longer than 4 MiB",
    ),
    "no JSON": (MISBEHAVING["no JSON"], "provider_error", "the reply of the server is no JSON"),
    "nothing": (MISBEHAVING["nothing"], "provider_error", "the reply of the server is no JSON"),
    "nested without end": (Turn(body=b"[" * 500_000), "provider_error", "the reply of the server is no JSON"),
    "no choices": (MISBEHAVING["no choices"], "provider_error", "the reply holds no choice"),
    "error inside 200": (MISBEHAVING["error inside 200"], "provider_error", "upstream is down"),
    "refusal": (MISBEHAVING["refusal"], "refused", "I cannot help with that."),
    "filter": (MISBEHAVING["filter"], "filtered", "the provider's filter"),
    "truncated": (MISBEHAVING["truncated"], "truncated", "cut off at max_tokens"),
    "empty": (MISBEHAVING["empty"], "unparsable", "the reply is empty"),
    "cut without a word": (MISBEHAVING["cut without a word"], "unparsable", "not one JSON object"),
    "double": (MISBEHAVING["double"], "unparsable", "not one JSON object"),
    "prose around": (MISBEHAVING["prose around"], "unparsable", "not one JSON object"),
    "a field twice": (MISBEHAVING["a field twice"], "unparsable", "stands twice"),
    "a tool that there is not": (MISBEHAVING["tool loop"], "unparsable", "the tool 'look_up' is not offered"),
    "a type of its own": (holding(type="JUDGMENT"), "unparsable", "type: there is no such field"),
    "a case of its own": (holding(motion_id="motion_20200101_0000"), "unparsable", "there is no such field"),
    "100,000 items": (holding(objections=[{}] * 100_000), "unparsable", "lacks text"),
    "nested deep": (completion("[" * 500_000), "unparsable", "nested too deep"),
    "a long number": (
        completion('{"n":' + "9" * 5_000 + "}"),
        "unparsable",
        "a number of 5,000 digits is too long",
    ),
    "half a character": (objecting("a\ud800b"), "unparsable", "OBJECTIONS"),
}
"""What the server says, how its calls end, and a word of why the Critic is silent."""

CALLS: Final = {"unparsable": 3, "truncated": 2}
"""Answers that cannot be used are asked for so often; everything else once."""


@pytest.mark.parametrize("fault", SILENT)
def test_whatever_a_provider_does_the_debate_ends_by_its_rules_and_says_why_the_seat_is_silent(
    server: ModelServer, tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CAP_S", 0.0)
    turn, outcome, why = SILENT[fault]
    calls = CALLS.get(outcome, 1)
    held = Debate(server, tmp_path, turn, **({"timeout_s": 3} if turn.stall == "after" else {}))
    held.check()
    assert [body.outcome for body in held.settled] == [outcome] * calls
    assert len(server.calls) == 1 + calls
    (silence,) = held.silences
    assert f"has no answer ({outcome.replace('_', ' ')}): " in silence and why in silence
    assert silence in held.result.stderr
    assert not held.bodies("OBJECTIONS") and held.bodies("RULING")[0].rule == "R-Q2"


def dated(year: int) -> Turn:
    """Make an answer by whose clock it is another year."""
    reply = {**json.loads(holding().body), "created": (year - 1970) * 31_556_952}
    return Turn(body=json.dumps(reply).encode(), headers={"date": f"Thu, 01 Jan {year} 00:00:00 GMT"})


WORST: Final = -1

SPOKEN: Final[Mapping[str, tuple[Turn, int]]] = {
    "another model": (completion(json.dumps(NOTHING), model="other-9"), 300),
    "a model's name that moves the cursor": (
        completion(json.dumps(NOTHING), model="\x1b[2J\n\u202e" * 99),
        300,
    ),
    "usage missing": (completion(json.dumps(NOTHING), usage=None), WORST),
    "usage negative": (
        completion(json.dumps(NOTHING), usage={"prompt_tokens": -5, "completion_tokens": 20}),
        WORST,
    ),
    "usage beyond all numbers": (
        completion(json.dumps(NOTHING), usage={"prompt_tokens": 10**30, "completion_tokens": 1}),
        WORST,
    ),
    "usage above the worst case": (
        completion(json.dumps(NOTHING), usage={"prompt_tokens": 50_000, "completion_tokens": 10}),
        50_100,
    ),
    "a clock that is behind": (dated(1998), 300),
    "a clock that is ahead": (dated(2099), 300),
    "control characters": (objecting("a\x1b[2J\0\x07b"), 300),
    "right to left": (objecting("a\u202egnp.exe\u2066"), 300),
    "the key": (objecting(f"It is {KEY}."), 300),
    "the key, as PHP writes it": (
        Turn(body=objecting(f"It is {KEY}.").body.replace(b"/", b"\\\\/").replace(b"y+0", b"y+\\\\u0030")),
        300,
    ),
}
"""What the server says, and what is booked for each call in micro-dollars."""


@pytest.mark.parametrize("fault", SPOKEN)
def test_what_is_odd_about_a_reply_changes_no_answer_and_is_booked_as_it_was_or_at_its_worst(
    server: ModelServer, tmp_path: Path, fault: str
) -> None:
    turn, booked = SPOKEN[fault]
    # One round: an answer identical to that of the round before is flagged.
    held = Debate(server, tmp_path, turn, rounds=1)
    held.check()
    assert held.bodies("OBJECTIONS") and not held.silences
    for asked, settled in zip(held.bodies("CALL_RESERVED"), held.settled, strict=True):
        assert settled.outcome == "answered"
        assert settled.cost == (asked.max_cost if booked == WORST else booked)
        assert settled.overrun == (settled.cost > asked.max_cost)
    if fault == "another model":
        assert {body.model_reported for body in held.settled} == {"other-9"}
    told = held.result.output + done("calls", held.place) + done("calls", held.place, held.settled[0].call_id)
    assert not [one for one in told if not one.isprintable() and one != "\n"]


@pytest.mark.parametrize("fault", ["429, wait 0 s", "429, wait nonsense", "500", "503 without a word"])
def test_what_passes_is_tried_again_within_the_one_call_that_is_booked(
    server: ModelServer, tmp_path: Path, fault: str
) -> None:
    held = Debate(server, tmp_path, holding(), MISBEHAVING[fault])
    held.check()
    assert held.bodies("OBJECTIONS")
    (settled,) = held.settled
    assert (settled.outcome, settled.cost, len(server.calls)) == ("answered", 300, 3)
    assert server.calls[1].body == server.calls[2].body


def test_a_server_that_goes_away_leaves_its_seat_silent(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CAP_S", 0.0)
    sending = client.Exchange.ask

    async def gone(exchange: Any, body: Mapping[str, Any]) -> Any:
        if server.calls and server.is_up:
            await asyncio.to_thread(server.stop)
        return await sending(exchange, body)

    monkeypatch.setattr(client.Exchange, "ask", gone)
    held = Debate(server, tmp_path, None)
    held.check()
    (settled,) = held.settled
    assert (settled.outcome, settled.cost) == ("provider_error", 0)
    assert "has no answer (provider error): no connection to" in held.silences[0]


def test_a_price_that_nobody_knows_is_refused_under_a_budget_in_dollars_and_counted_without_one(
    server: ModelServer, tmp_path: Path
) -> None:
    model = ("--model", f"{server.url}#tiny-1", "--seats", "critic", "--key-env", "A_KEY")
    asked = ("debate", "Four days or five?", *model)
    result = moot(*asked, "--budget", "1", A_KEY=KEY)
    assert result.exit_code == 2
    assert "a budget in US dollars needs its price, which is not known" in result.stderr.splitlines()[-1]
    assert not server.calls
    done(*asked, "--out", tmp_path / "out", A_KEY=KEY)
    told = data("calls", tmp_path / "out")["totals"]["all"]
    assert (told["cost"], told["unpriced"]) == (0, told["calls"])
    assert told["tokens"] == 120 * told["calls"] > 0


def test_with_a_budget_of_nothing_nothing_is_sent(server: ModelServer, tmp_path: Path) -> None:
    server.plays(PROBED)
    result = debate(server, tmp_path, tmp_path / "out", budget=0)
    assert result.exit_code == 0, result.output
    assert "was not asked: the budget of the society is $0.00" in result.stderr
    assert len(server.calls) == 1
    assert "every rule holds" in done("verify", tmp_path / "out", "--strict")


def test_a_model_that_only_looks_things_up_is_cut_off_in_a_society_too(
    server: ModelServer, tmp_path: Path
) -> None:
    server.plays(PROBED)
    server.always = completion(None, finish="tool_calls", tools=[("measure_strategy", "{}")])
    model = ("--model", f"{server.url}#tiny-1", "--seats", "critic", "--key-env", "A_KEY")
    done("simulate", "--days", "1", "--seed", "1", *model, "--out", tmp_path / "out", A_KEY=KEY)
    log = open_log(tmp_path / "out")
    owed = Counter((one.obligation, one.attempt) for one in log.calls())
    assert owed and set(owed.values()) == {8}, (
        "five look-ups, the turn that should have answered, two repairs"
    )
    assert len(server.calls) == 1 + owed.total()
    assert any("(tool loop)" in env.body.reason for env in log.messages(type="AUDIT"))
    assert not any(True for _ in log.messages(type="RISK_ASSESSMENT"))
    report = log.verify()
    assert report.ok, report.findings


@pytest.mark.parametrize(
    "held", [("debate", "Four days or five?"), ("simulate", "--days", "1")], ids=lambda one: one[0]
)
def test_nothing_is_sent_while_the_log_is_not_on_the_disk(
    server: ModelServer, tmp_path: Path, held: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_writer: LogWriter, _seq: int) -> Future[None]:
        done: Future[None] = Future()
        done.set_exception(StorageError("log.sqlite: database or disk is full"))
        return done

    monkeypatch.setattr(LogWriter, "synced", full)
    server.plays(PROBED)
    model = ("--model", f"{server.url}#tiny-1", "--seats", "critic", "--key-env", "A_KEY")
    result = moot(*held, *model, "--out", tmp_path / "out", A_KEY=KEY)
    assert result.exit_code not in (0, None)
    assert "database or disk is full" in result.stderr and "Traceback" not in result.output
    assert len(server.calls) == 1
