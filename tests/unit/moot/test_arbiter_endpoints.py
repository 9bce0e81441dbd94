"""Where the models of a run are, and where its key goes."""

from __future__ import annotations

from typing import Any

import pytest

from moot.arbiter.endpoints import EMBEDS, OPENROUTER, OPENROUTER_KEY, Told, models_of
from moot.arbiter.ledger import Models
from moot.config.budget import BudgetSettings
from tests.doubles.arbiter_runs import configured

HERE = "http://127.0.0.1:8080/v1"
EMBEDDING = EMBEDS + "mock/vectors"


def told(**fields: Any) -> Models:
    return models_of(configured(), Told(**{"configured": {}, **fields}), BudgetSettings())


def test_slugs_are_asked_at_openrouter_where_nobody_says_otherwise() -> None:
    models = told()
    assert {(one.url, one.key_env) for one in models.settings.values()} == {(OPENROUTER, OPENROUTER_KEY)}
    assert models.names == {"a/one": "a-one", "b/two": "b-two", EMBEDDING: "mock-vectors"}
    assert [one.api for one in models.settings.values()] == ["openai", "openai", "embeddings"]
    assert models.settings["a-one"].model == "a/one"


@pytest.mark.parametrize(
    ("embeddings", "key"),
    [
        ("", "A_KEY"),
        ("http://127.0.0.1:8080/other", "A_KEY"),
        ("http://127.0.0.1:8081/v1", ""),
        ("https://127.0.0.1:8080/v1", ""),
        ("http://example.org/v1", ""),
    ],
)
def test_the_key_of_the_endpoint_goes_to_no_other_server(embeddings: str, key: str) -> None:
    models = told(endpoint=HERE, key_env="A_KEY", embeddings=embeddings)
    assert models.settings["a-one"].key_env == "A_KEY"
    assert models.settings[models.names[EMBEDDING]].key_env == key


def test_no_key_of_openrouter_goes_elsewhere_unasked() -> None:
    models = told(endpoint=HERE)
    assert {one.key_env for one in models.settings.values()} == {""}
    models = told(embeddings=HERE)
    assert models.settings[models.names[EMBEDDING]].key_env == ""
    assert models.settings["a-one"].key_env == OPENROUTER_KEY
