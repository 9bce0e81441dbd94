"""`--model`, `--seats`, `--budget`, `--key-env` on every command: what cannot be is one line, and nothing runs."""

from pathlib import Path

import pytest

from tests.doubles.command_line import complaint, write

URL = "http://127.0.0.1:9/v1"
CONFIG = f"""
[models.local]
url = "{URL}"
model = "qwen3:8b"
"""


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[object, ...]]:
    """Every command that seats models, with what else it needs; nobody has a key."""
    monkeypatch.delenv("MOOT_MODEL_KEY", raising=False)
    monkeypatch.setenv("MOOT_CONFIG", str(write(tmp_path / "society.toml", CONFIG)))
    monkeypatch.chdir(tmp_path)
    task = write(
        tmp_path / "task.json", '{"task_id": "t", "initial_prompt": "Plan it.", "session_id": "t-1"}'
    )
    paper = write(tmp_path / "paper.md", "# On widgets\n\nThey hold.\n")
    scene = write(tmp_path / "scene.yaml", "start: 2026-02-23T10:00:00Z\nuntil: 1h\n")
    panel = ("--contract", "full", "--paper", paper, "--title", "T", "--field", "F")
    return {
        "debate": ("debate", "Is it so?"),
        "simulate": ("simulate", "--days", "0.1"),
        "scene": ("scene", scene),
        "up": ("up", "--no-console", "--bus", "memory"),
        "arena": ("arena", "run", "--task", task),
        "panel": ("panel", "run", *panel),
    }


NAMES = ("debate", "simulate", "scene", "up", "arena", "panel")


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_said_of_a_model_is_one_line_on_every_command(
    name: str, commands: dict[str, tuple[object, ...]], tmp_path: Path
) -> None:
    given = commands[name]
    for options, why in (
        (("--model", "locl"), "there is no [models.locl]: did you mean local?"),
        (("--model", URL), "--model: write URL#NAME, such as http://127.0.0.1:8080/v1#qwen3:8b"),
        (("--model", "local", "--seats", "refere"), "--seats: there is no seat 'refere': "),
        (("--model", "local", "--budget", "two"), "--budget: give a number, not 'two'"),
        (
            ("--model", "local", "--budget", "2"),
            "models.local: a budget in US dollars needs its price, which is not known",
        ),
        (("--model", f"{URL}#m", "--key-env", "MY_MISSING_KEY"), "the key is missing: set MY_MISSING_KEY"),
        (("--budget", "2"), "--budget: no seat is filled by a model: name one with --model"),
        (("--seats", "critic"), "--seats: name a model too, with --model"),
    ):
        assert why in complaint(2, *given, *options)
    assert not (tmp_path / "runs").exists() and not (tmp_path / "moot-data" / "log.sqlite").exists()
