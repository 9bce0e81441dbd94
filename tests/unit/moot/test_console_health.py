"""The console says when its log is damaged: /healthz, /metrics and the check behind them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from moot.console.model.live import Live
from moot.console.reading.health import LogHealth
from moot.console.serving.metrics import Metrics
from moot.place import LOG_NAME
from tests.doubles.called import a_claim
from tests.doubles.console import watched


def sql(place: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(place / LOG_NAME)) as db, db:
        db.execute(statement, values)


def garbage(place: Path) -> None:
    for name in (f"{LOG_NAME}-wal", f"{LOG_NAME}-shm"):
        (place / name).unlink(missing_ok=True)
    file = place / LOG_NAME
    file.write_bytes(b"nothing of use " * 1_000)


def torn(place: Path) -> None:
    content = (place / LOG_NAME).read_bytes()
    (place / LOG_NAME).write_bytes(content[:4_096] + bytes(len(content) - 4_096))


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a text": (lambda at: sql(at, "UPDATE log SET json = replace(json, 'motion', 'motiom') WHERE seq = 2"),
               "message 2 is damaged"),
    "the first": (lambda at: sql(at, "UPDATE log SET json = json || ' ' WHERE seq = 1"), "message 1 is damaged"),
    "the last": (lambda at: sql(at, "UPDATE log SET json = '{}' WHERE seq = (SELECT max(seq) FROM log)"),
                 "is damaged"),
    "a hash": (lambda at: sql(at, "UPDATE log SET hash = x'00' WHERE seq = 3"), "message 3 is damaged"),
    "no text": (lambda at: sql(at, "UPDATE log SET json = x'ff' WHERE seq = 3"), "message 3 is damaged"),
    "a gap": (lambda at: sql(at, "DELETE FROM log WHERE seq = 4"), "message 4 is missing"),
    "the beginning": (lambda at: sql(at, "DELETE FROM log WHERE seq = 1"), "message 1 is missing"),
    "the end": (lambda at: sql(at, "DELETE FROM log WHERE seq = (SELECT max(seq) FROM log)"), "the log ends at"),
    "all of it": (lambda at: sql(at, "DELETE FROM log"), "the log ends at message 0"),
    "the table": (lambda at: sql(at, "DROP TABLE log"), "the log cannot be read"),
    "the file": (garbage, "not a database"),
    "its pages": (torn, ""),
    "gone": (lambda at: (at / LOG_NAME).unlink(), "is gone"),
}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return a_claim(tmp_path / "d").write()


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_kind_of_damage_is_found_and_its_end_too(damage: str, place: Path) -> None:
    health = LogHealth(place)
    assert health.check() == "" and health.checked > 4
    kept = place.with_name("kept")
    shutil.copytree(place, kept)
    spoil, said = DAMAGES[damage]
    spoil(place)
    problem = health.check()
    assert problem and said in problem and "\n" not in problem and str(place) not in problem
    shutil.rmtree(place)
    shutil.copytree(kept, place)
    assert health.check() == ""


def test_a_log_that_is_not_there_yet_is_no_damage(tmp_path: Path) -> None:
    health = LogHealth(tmp_path)
    assert health.check() == ""
    (tmp_path / LOG_NAME).touch()
    assert health.check() == ""


async def test_the_figures_say_that_the_log_is_damaged(place: Path) -> None:
    async with watched(place) as model:
        assert isinstance(model, Live)
        health = LogHealth(place)
        metrics = Metrics(model, health)
        health.problem = health.check()
        text = (await metrics.text(0)).decode()
        assert "moot_log_damaged 0.0" in text and f"moot_log_checked {health.checked}.0" in text
        sql(place, "UPDATE log SET hash = x'00' WHERE seq = 3")
        health.problem = health.check()
        assert "moot_log_damaged 1.0" in (await metrics.text(0)).decode()
