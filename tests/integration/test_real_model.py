"""A real, small language model in the seats: on this machine, without network, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doubles.command_line import data, write
from tests.doubles.real_model import NAME, serving

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as found:
        yield found


@pytest.fixture
def config(tmp_path: Path, url: str) -> Path:
    """Write a configuration that names the model."""
    text = f'[models.local]\nurl = "{url}"\nmodel = "{NAME}"\nsmall = true\ntimeout_s = 280\n'
    return write(tmp_path / "society.toml", text + "price = { input = 0, output = 0 }\n")


def test_the_model_is_held_to_a_form_by_a_strict_schema(config: Path) -> None:
    (found,) = data("models", "check", "--config", config)["models"]
    assert (found["ok"], found["rung"], found["cost_micro_usd"]) == (True, "json_schema", 0)
    said = {one["check"]: one["said"] for one in found["findings"]}
    assert said["context"] == "4,096 tokens"
    assert said["round trip"].startswith(("'yes' with confidence ", "'no' with confidence "))
