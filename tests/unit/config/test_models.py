"""[models.NAME]: wrong values are one line, keys are never quoted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moot.config.models import ModelSettings
from moot.config.settings import ConfigError, load_settings
from moot.protocols.calls.price import cost
from moot.protocols.calls.usage import Usage

GOOD = 'url = "http://127.0.0.1:8080/v1/"\nmodel = "qwen3:8b"\n'


def file(directory: Path, text: str) -> Path:
    path = directory / "society.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_model_has_an_address_a_name_and_what_it_costs(tmp_path: Path) -> None:
    path = file(tmp_path, f"[models.local]\n{GOOD}price = {{ input = 0.25, output = 2 }}\n")
    model = load_settings(path).models["local"]
    assert (model.url, model.model, str(model.price.input if model.price else "")) == (
        "http://127.0.0.1:8080/v1",
        "qwen3:8b",
        "0.25",
    )
    assert load_settings().models == {}


def test_the_log_says_which_models_there_are_but_not_where_their_keys_are(tmp_path: Path) -> None:
    path = file(tmp_path, f'[models.local]\n{GOOD}key_env = "MY_KEY"\nkey_file = "/home/ann/key"\n')
    logged = load_settings(path).as_log()
    assert logged["models"]["local"]["model"] == "qwen3:8b"
    assert "MY_KEY" not in repr(logged) and "/home/ann" not in repr(logged)
    assert "models" not in load_settings().as_log()


@pytest.mark.parametrize(
    ("name", "text", "where", "why"),
    [
        ("local", 'model = "x"\n', "models.local.url", "is needed"),
        ("local", 'url = "http://a/v1"\n', "models.local.model", "is needed"),
        ("local", 'url = "127.0.0.1:8080"\nmodel = "x"\n', "models.local.url", "is an address such as"),
        ("local", 'url = "http://[x/v1"\nmodel = "x"\n', "models.local.url", "is an address such as"),
        ("local", 'url = "http://u:sk-pw1@a/v1"\nmodel = "x"\n', "models.local.url", "a key belongs into key_env"),
        ("local", 'url = "http://a/v1?key=sk-pw1"\nmodel = "x"\n', "models.local.url", "a key belongs into key_env"),
        ("local", GOOD + 'key_env = "sk-pw1"\n', "models.local.key_env", "is the name of an environment variable"),
        ("local", GOOD + 'key_env = "gsk_pw1"\n', "models.local.key_env", "is the name of an environment variable"),
        ("local", GOOD + 'key = "sk-pw1"\n', "models.local.key", "there is no such field"),
        ("local", GOOD + "timeout_s = 0\n", "models.local.timeout_s", "choose more than 0"),
        ("local", GOOD + "at_once = 0\n", "models.local.at_once", "choose at least 1"),
        ("local", GOOD + "price = { input = -1, output = 0 }\n", "models.local.price.input", "choose at least 0"),
        ("local", GOOD + "price = { input = nan, output = 0 }\n", "models.local.price.input", "finite"),
        ("local", GOOD + "price = { input = 1 }\n", "models.local.price.output", "is needed"),
        ("Up", GOOD, "models", "a model is named with 1 to 40 of a-z, 0-9, - and _, not 'Up'"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_one_line_without_the_key(
    tmp_path: Path, name: str, text: str, where: str, why: str
) -> None:
    path = file(tmp_path, f"[models.{name}]\n{text}")
    with pytest.raises(ConfigError) as refused:
        load_settings(path)
    said = str(refused.value)
    assert said.startswith(f"{path}: {where}: ") and why in said
    assert "\n" not in said and "pw1" not in said


@pytest.mark.parametrize(
    ("given", "api", "url"),
    [
        ({"api": "anthropic"}, "anthropic", "https://api.anthropic.com"),
        ({"api": "anthropic", "url": "http://127.0.0.1:8080"}, "anthropic", "http://127.0.0.1:8080"),
        ({"url": "https://api.anthropic.com/v1"}, "anthropic", "https://api.anthropic.com/v1"),
        ({"api": "openai", "url": "https://api.anthropic.com/v1"}, "openai", "https://api.anthropic.com/v1"),
        ({"url": "https://api.anthropic.com.example/v1"}, "openai", "https://api.anthropic.com.example/v1"),
    ],
)
def test_anthropics_address_and_its_api_stand_for_each_other(
    given: dict[str, str], api: str, url: str
) -> None:
    found = ModelSettings.model_validate({"model": "m", **given})
    assert (found.api, found.url) == (api, url)


def test_dearer_rates_for_long_prompts_are_written_as_the_how_to_page_shows(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "use-a-model.md").read_text(encoding="utf-8")
    [long] = re.findall(r"`(long = .*?)`", page)
    path = file(tmp_path, f"[models.local]\n{GOOD}price = {{ input = 3, output = 15, {long} }}\n")
    price = load_settings(path).models["local"].price
    assert price is not None
    assert [cost(price, Usage(input=tokens, output=0)) for tokens in (200_000, 300_000)] == [
        600_000,
        1_800_000,
    ]
