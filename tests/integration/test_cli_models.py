"""`moot models check` against a server over real HTTP: what it finds, what it advises, how it ends."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from moot.bots.models import exchange
from moot.bots.models.prices import price_of
from moot.config.models import ModelSettings
from tests.doubles.command_line import complaint, data, done, moot, write
from tests.doubles.messages_server import MessagesServer
from tests.doubles.messages_server import refusal as messages_refusal
from tests.doubles.model_server import MISBEHAVING, ModelServer, Turn, completion, refusal, too_many

KEY = "sk-test-0123456789abcdefghij"
PRICE = "price = { input = 0.25, output = 2 }\n"

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-a-model.md"


def config(place: Path, server: ModelServer, more: str = PRICE, model: str = "tiny-1") -> Path:
    address = f'api = "{server.api}"\nurl = "{server.url}"\n'
    text = f'[models.local]\n{address}model = "{model}"\nkey_env = "MY_KEY"\n{more}'
    return write(place / "society.toml", text)


def findings(result: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {one["check"]: one for one in result["models"][0]["findings"]}


def test_a_model_that_can_be_used_is_told_with_its_rung_context_price_and_cost(tmp_path: Path) -> None:
    with ModelServer(key=KEY, rungs=frozenset({"tool"})) as server:
        path = config(tmp_path, server)
        lines = done("models", "check", "--config", path, MY_KEY=KEY).splitlines()
        calls = len(server.calls)
        result = data("models", "check", "local", "--config", path, MY_KEY=KEY)
    assert lines[0] == f"local  tiny-1 at {server.url}"
    assert lines[1:6] == [
        f"✓ reachable   {server.url} answers",
        "✓ key         accepted",
        "✓ typed       held to a form by one forced tool",
        "✓ context     4,096 tokens",
        "✓ price       $0.25 for a million tokens of input, $2 of output, as configured",
    ]
    assert lines[6].startswith("✓ round trip  'yes' with confidence 0.5 after ")
    assert lines[6].endswith(" ms, 100 tokens in and 20 out")
    assert lines[7] == "✓ cost        $0.000130 for 3 calls"
    assert calls == 3
    one = result["models"][0]
    assert (result["ok"], one["ok"], one["rung"], one["context_tokens"]) == (True, True, "tool", 4_096)
    # The strict schema was refused, for which nobody charges.
    assert (one["calls"], one["cost_micro_usd"]) == (3, 130)


@pytest.mark.parametrize(
    ("key", "model", "check", "said", "advice"),
    [
        ("sk-other-0123456789abcdef", "tiny-1", "key", "HTTP 401: Incorrect API key", "name the variable"),
        (KEY, "tiny-2", "model", "HTTP 404: the model tiny-2 does not exist", "correct model"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_model_is_a_failure_with_what_to_do(
    tmp_path: Path, key: str, model: str, check: str, said: str, advice: str
) -> None:
    with ModelServer(key=KEY) as server:
        path = config(tmp_path, server, model=model)
        result = moot("models", "check", "--config", path, MY_KEY=key)
    assert result.exit_code == 1
    assert f"✗ {check:<11} {said}" in result.stdout and advice in result.stdout
    assert result.stdout.endswith("1 model cannot be used\n")
    assert key not in result.output
    if model == "tiny-2":
        assert "! reachable   " in result.stdout and "did you mean tiny-1?" in result.stdout


def test_a_server_that_is_not_there_is_a_failure_with_what_to_do(tmp_path: Path) -> None:
    with ModelServer() as server:
        path = config(tmp_path, server)
    result = moot("models", "check", "--config", path, "--json", MY_KEY=KEY)
    assert result.exit_code == 1
    assert f"no connection to {server.url}: " in result.stdout
    assert "start the server, or correct url" in result.stdout


@pytest.mark.parametrize(
    ("script", "check", "state", "said"),
    [
        (
            [completion('{"colour":"red","number":1}', usage=None)],
            "cost",
            "ok",
            "at least $0.000065 for 2 calls; what 1 of 2 calls cost is not known",
        ),
        (
            [MISBEHAVING["another model"], MISBEHAVING["refusal"]],
            "round trip",
            "failure",
            "the model refused",
        ),
        ([too_many("3600")], "typed", "failure", "to wait 3600 s more takes too long"),
        ([refusal(429, "You exceeded your quota", "insufficient_quota")], "key", "failure", "your quota"),
        ([MISBEHAVING["prose around"]] * 4, "typed", "failure", "the reply is not one JSON object"),
        (
            [
                completion('{"colour":"red","number":1}'),
                completion('{"answer":"no","confidence":1,"reasons":[]}', model="other-9"),
            ],
            "round trip",
            "warning",
            "the answer is by 'other-9'",
        ),
        (
            [
                completion('{"colour":"red","number":1}'),
                completion('{"answer":"no","confidence":1,"reasons":[]}', usage=None),
            ],
            "round trip",
            "warning",
            "no usable figures of its usage",
        ),
    ],
)
def test_what_a_provider_does_wrong_is_told_where_it_shows(
    tmp_path: Path, script: list[Any], check: str, state: str, said: str
) -> None:
    with ModelServer(key=KEY) as server:
        server.plays(*script)
        path = config(tmp_path, server)
        result = moot("models", "check", "--config", path, "--json", MY_KEY=KEY)
    found = findings(json.loads(result.stdout))[check]
    assert found["state"] == state
    assert said in found["said"] or said in found["advice"]
    assert (result.exit_code == 1) == (state == "failure")
    assert not result.stderr


def test_what_is_not_known_is_said_to_be_unknown(tmp_path: Path) -> None:
    with ModelServer(context=0, rungs=frozenset()) as server:
        path = write(tmp_path / "s.toml", f'[models.local]\nurl = "{server.url}"\nmodel = "tiny-1"\n')
        found = findings(data("models", "check", "--config", path))
    assert found["reachable"]["said"].endswith("answers, without a list of its models")
    assert found["key"]["said"] == "none is sent, and none is asked for"
    assert found["context"]["said"] == "the endpoint does not say how long"
    assert (found["price"]["state"], found["price"]["said"]) == ("warning", "unknown")
    assert (found["typed"]["state"], found["cost"]["said"]) == (
        "warning",
        "what 2 of 5 calls cost is not known",
    )


def test_a_key_that_is_missing_or_in_a_file_that_others_read_is_told_and_nothing_is_sent(
    tmp_path: Path,
) -> None:
    secret = write(tmp_path / "key", KEY)
    secret.chmod(0o644)
    with ModelServer(key=KEY) as server:
        bare = moot("models", "check", "--config", config(tmp_path, server), MY_KEY=None)
        path = config(tmp_path, server, f'key_file = "{secret}"\n')
        open_to_all = moot("models", "check", "--config", path, MY_KEY=None)
        sent = len(server.sent)
        secret.chmod(0o600)
        done("models", "check", "--config", path, MY_KEY=None)
    assert (bare.exit_code, open_to_all.exit_code, sent) == (1, 1, 0)
    assert (
        "✗ key         the key is missing: set MY_KEY, or name a file in models.local.key_file" in bare.stdout
    )
    assert "is not private, others can read it; run: chmod 600" in open_to_all.stdout
    assert KEY not in bare.output + open_to_all.output


def test_without_models_or_with_another_name_nothing_is_called(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.toml", "")
    assert "no model is configured: write [models.NAME]" in complaint(2, "models", "check", "--config", empty)
    path = write(tmp_path / "s.toml", '[models.local]\nurl = "http://127.0.0.1:9/v1"\nmodel = "x"\n')
    said = complaint(2, "models", "check", "locl", "--config", path)
    assert said == "moot models: there is no [models.locl]: did you mean local?"
    said = complaint(2, "models", "check", "http://127.0.0.1:9/v1", "--config", path)
    assert said == "moot models: model: write URL#NAME, such as http://127.0.0.1:8080/v1#qwen3:8b"
    assert complaint(2, "models", "check", "--key-env", "MY_KEY", "--config", path).endswith(
        "goes with URL#NAME"
    )
    assert "choose local" in complaint(2, "models", "check", "zzz", "--config", path)


def test_the_how_to_page_shows_a_configuration_and_what_its_check_prints(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    toml, printed = re.findall(r"<!-- [^>]+ -->\n```(?:toml)?\n(.*?)```", page, re.DOTALL)
    address = "http://127.0.0.1:8080/v1"
    with ModelServer(key=KEY) as server:
        path = write(tmp_path / "my-society.toml", toml.replace(address, server.url))
        said = done("models", "check", "--config", path, MY_KEY=KEY).replace(server.url, address)
    took = re.compile(r"after [\d,]+ ms")
    assert took.sub("after … ms", said) == took.sub("after … ms", printed)
    for name in ModelSettings.model_fields:
        assert f"| `{name}` |" in page


def test_a_model_that_no_configuration_names_is_checked_by_its_address(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.toml", "")
    with ModelServer(key=KEY) as server:
        given = ("models", "check", f"{server.url}#tiny-1", "--config", empty)
        told = data(*given, "--key-env", "MY_KEY", MY_KEY=KEY)
        assert findings(told)["key"]["said"] == "accepted"
        assert data(*given, MOOT_MODEL_KEY=KEY)["ok"], "the usual variable"
        assert moot(*given, MOOT_MODEL_KEY=None).exit_code == 1, "without a key"


def test_a_model_behind_anthropics_api_is_checked_alike(tmp_path: Path) -> None:
    with MessagesServer(key=KEY, model="tiny-1-20260101") as server:
        path = config(tmp_path, server, model="tiny-1")
        # The name without its date is known there too.
        server.model = "tiny-1"
        listed = server._models
        server._models = lambda: {"data": [{**listed()["data"][0], "id": "tiny-1-20260101"}]}  # type: ignore[method-assign]
        lines = done("models", "check", "--config", path, MY_KEY=KEY).splitlines()
    assert lines[1:6] == [
        f"✓ reachable   {server.url} answers",
        "✓ key         accepted",
        "✓ typed       held to a form by a strict JSON Schema; takes no temperature",
        "✓ context     4,096 tokens",
        "✓ price       $0.25 for a million tokens of input, $2 of output, as configured",
    ]
    assert lines[7] == "✓ cost        $0.000130 for 2 calls"


@pytest.mark.parametrize(
    ("reply", "check", "advice"),
    [
        (messages_refusal(402, "Your credit balance is too low"), "key", "add credit at the provider"),
        (
            messages_refusal(401, f"invalid x-api-key {KEY}"),
            "key",
            "name the variable or file of a valid key",
        ),
        (messages_refusal(404, "model: tiny-1"), "model", "correct model, and url"),
    ],
)
def test_what_anthropic_refuses_is_told_with_what_to_do(
    tmp_path: Path, reply: Turn, check: str, advice: str
) -> None:
    with MessagesServer(key=KEY) as server:
        server.plays(reply)
        result = moot("models", "check", "--config", config(tmp_path, server), "--json", MY_KEY=KEY)
    found = findings(json.loads(result.stdout))[check]
    assert (result.exit_code, found["state"]) == (1, "failure")
    assert advice in found["advice"] and KEY not in result.output


def test_without_its_package_a_model_of_anthropics_api_is_told_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "s.toml", '[models.claude]\napi = "anthropic"\nmodel = "claude-sonnet-5"\n')
    monkeypatch.setattr(exchange, "find_spec", lambda _name: None)
    result = moot("models", "check", "--config", path)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[:2] == [
        "claude  claude-sonnet-5 at https://api.anthropic.com",
        "✗ package     the package anthropic is not installed: pip install 'moot[anthropic]'",
    ]


def test_anthropics_models_on_the_how_to_page_have_a_published_price() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## Anthropic's models")[2].partition("\n## ")[0]
    [text] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    given = ModelSettings.model_validate(tomllib.loads(text)["models"]["claude"])
    assert (given.api, given.url) == ("anthropic", "https://api.anthropic.com")
    assert price_of(given, datetime(2026, 11, 1, tzinfo=UTC)) is not None


def test_a_model_that_embeds_is_asked_for_one_embedding(tmp_path: Path) -> None:
    with ModelServer() as server:
        settings = f'[models.vectors]\napi = "embeddings"\nurl = "{server.url}"\nmodel = "{server.model}"\n'
        (tmp_path / "moot.toml").write_text(settings)
        told = done("models", "check", "--config", tmp_path / "moot.toml")
        assert "16 dimensions" in told and (len(server.embedded), server.calls) == (1, [])
        server.embedding_script.append(refusal(404, "no such model"))
        result = moot("models", "check", "--config", tmp_path / "moot.toml")
        assert result.exit_code == 1 and "no such model" in result.output
