"""A run measures what models wrote, and keeps it without secrets (R-G7)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from moot.arbiter.ledger import Ledger
from moot.arbiter.outcomes import Outcomes
from moot.arbiter.verify import verify_run
from moot.bots.models.embeddings_api import embedding_of
from moot.config.arbiter.judging import judge_of
from moot.protocols.arbiter.generated import ResolvedConfiguration
from moot.stored import stored_envelopes
from tests.doubles.arbiter_configs import resolved
from tests.doubles.command_line import data, done, moot
from tests.doubles.model_server import ModelServer, completion

KEY: Final = "sk-test-0123456789abcdefghij"
DECIMAL_KEY: Final = "4815162342108"
"""A key that looks like no secret: only its value tells it."""

PASSWORDS: Final = ("correct-horse-7", "battery-staple-9")
ANSWERS: Final = tuple(f"The password: {one}" for one in PASSWORDS)


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    running.forget().always = completion("Yes.")
    running.latency_s, running.key = 0.0, ""
    return running


def carried_out(
    folder: Path, server: ModelServer, template: str, *options: object, contract: bool = False, **env: str
) -> Path:
    path = folder / "run.json"
    done("arbiter", "init", "Should the library open on Sundays?", "--template", template, "--out", path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    plain["execution"] |= {"k_max": 2, "k_min": 1, "batch_size": 2, "workers": 1}
    if contract:
        plain["protocol"]["decision_contract"] = {"id": "binary_decision_v1"}
    else:
        plain["protocol"].pop("decision_contract", None)
    path.write_text(json.dumps(plain), encoding="utf-8")
    told = data("arbiter", "run", path, "--endpoint", server.url, "--out", folder / "runs", *options, **env)
    return Path(told["path"])


def embedded(server: ModelServer) -> list[str]:
    return [one.body["input"] for one in server.embedded]


def lines(directory: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / name).read_text(encoding="utf-8").splitlines()]


def is_kept(directory: Path, *secrets: str) -> bool:
    """Whether a secret stands in a file of a run, or in what its ledger keeps of calls."""
    files = [path.read_bytes() for path in directory.rglob("*") if path.is_file()]
    log = "".join(str(env.body) for env in stored_envelopes(directory / "ledger"))
    return any(one.encode() in raw for one in secrets for raw in (*files, log.encode()))


@pytest.mark.rule("R-G7")
@pytest.mark.parametrize("debug", [(), ("--debug",)], ids=["plain", "debug"])
def test_what_a_model_wrote_is_embedded_and_what_is_kept_holds_no_secret(
    server: ModelServer, tmp_path: Path, debug: tuple[str, ...]
) -> None:
    server.plays(*map(completion, ANSWERS))
    directory = carried_out(tmp_path, server, "quickstart", *debug)
    assert sorted(embedded(server)) == sorted(ANSWERS)
    assert not is_kept(directory, *PASSWORDS)
    assert {one["embed_text"] for one in lines(directory, "parsed.jsonl")} == {
        "The password: [redacted:password]"
    }
    report = verify_run(directory)
    assert report.ok
    told = moot("arbiter", "verify", directory).stdout
    assert ("embed_text_sha256: is that of the text before it was redacted" in told) is bool(debug)
    assert done("verify", directory / "ledger").splitlines()[-1]
    # Two answers that redaction makes one are two to whoever measures them.
    (row,) = lines(directory, "convergence_trace.jsonl")
    assert row["mean_max_sim_to_prior"] < 0.5


@pytest.mark.rule("R-G7")
@pytest.mark.parametrize("key", [KEY, DECIMAL_KEY])
def test_a_key_that_a_reply_quotes_is_embedded_and_kept_nowhere(
    server: ModelServer, tmp_path: Path, key: str
) -> None:
    server.key = key
    server.always = completion(f"It said {key} to me.")
    directory = carried_out(tmp_path, server, "quickstart", "--key-env", "A_KEY", "--debug", A_KEY=key)
    assert embedded(server) == [f"It said {key} to me."] * 2
    assert not is_kept(directory, key)
    assert verify_run(directory).ok


@pytest.mark.rule("R-G7")
def test_the_last_turn_of_a_debate_is_read_before_it_is_redacted(server: ModelServer, tmp_path: Path) -> None:
    decision = json.dumps({"decision": f"take {PASSWORDS[0]}, the password: {PASSWORDS[1]}"})
    server.always = completion(decision)
    directory = carried_out(tmp_path, server, "debate")
    assert embedded(server) == [json.loads(decision)["decision"]] * 2
    assert not is_kept(directory, PASSWORDS[1])
    assert verify_run(directory).ok
    # The next turn is told what may be kept.
    assert not any(PASSWORDS[1] in str(one.body["messages"]) for one in server.calls)


@pytest.mark.rule("R-G7")
def test_a_rationale_is_read_before_it_is_redacted(server: ModelServer, tmp_path: Path) -> None:
    rationale = f"He gave the password: {PASSWORDS[0]}"
    server.always = completion(json.dumps({"decision": "yes", "rationale": rationale}))
    directory = carried_out(tmp_path, server, "quickstart", contract=True)
    assert embedded(server) == [rationale] * 2
    assert {one["outcome"] for one in lines(directory, "parsed.jsonl")} == {"yes"}
    assert not is_kept(directory, *PASSWORDS)
    assert verify_run(directory).ok


def outcomes(pattern: str) -> Outcomes:
    config = resolved()
    schema = {
        "type": "object",
        "required": ["decision"],
        "properties": {"decision": {"enum": ["yes"]}, "rationale": {"type": "string", "pattern": pattern}},
    }
    contract = {"id": "c", "sha256": "0" * 64, "schema": schema, "embed_text_source": "rationale"}
    config["protocol"]["decision_contract"] = contract
    read = ResolvedConfiguration.from_json(json.dumps(config))
    return Outcomes(read, judge_of(read.protocol.decision_contract), "live-v0")


@pytest.mark.rule("R-G7")
def test_what_redaction_would_break_counts_as_it_was_written() -> None:
    """The contract wants what redaction takes out: the decision stands, and its rationale is not kept."""
    written = '{"decision": "yes", "rationale": "hunter2hunter2"}'
    kept = written.replace("hunter2hunter2", "[redacted:key]")
    line, embed = outcomes("^hunter").read(0, kept, written)
    assert (line.parse_status, line.outcome, line.rationale) == ("success", "yes", "[redacted]")
    assert line.raw_assistant_text == kept and "hunter" not in str(line.as_json())
    assert embed is not None and embed.text == "hunter2hunter2"


@pytest.mark.rule("R-G7")
def test_what_only_redaction_makes_fit_does_not() -> None:
    written = '{"decision": "yes", "rationale": "hunter2hunter2"}'
    kept = written.replace("hunter2hunter2", "[redacted:key]")
    line, embed = outcomes("^.redacted").read(0, kept, written)
    assert line.parse_status == "fallback" and "hunter" not in str(line.as_json())
    assert line.parse_error is not None and line.parse_error.code == "contract_mismatch"
    assert embed is not None and embed.text == written


def test_a_text_without_secrets_is_read_as_ever() -> None:
    text = '{"decision": "yes", "rationale": "hunter"}'
    line, embed = outcomes("^hunter").read(0, text)
    assert line.rationale == "hunter" and embed is not None and embed.text == "hunter"


def test_no_endpoint_is_sent_the_key_of_another_one() -> None:
    ledger: Any = SimpleNamespace(_secrets={"chat": (KEY,), "embed": (DECIMAL_KEY,), "short": ("abc",)})
    text = f"{KEY}, {DECIMAL_KEY}, abc"
    request = embedding_of(text, "kept")
    assert Ledger._without_others_keys(ledger, "embed", request).measured == f"[redacted], {DECIMAL_KEY}, abc"
    assert Ledger._without_others_keys(ledger, "chat", request).measured == f"{KEY}, [redacted], abc"
    assert Ledger._without_others_keys(ledger, "embed", embedding_of(text)) == embedding_of(text)
