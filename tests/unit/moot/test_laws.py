"""Each law finds the logs that break it, and says nothing about those that keep it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.laws import LAWS, Law, Watch
from tests.doubles.handmade import handmade

LOGS = Path(__file__).parent / "laws"
BY_NAME = {law.name: law for law in LAWS}


def _logs(which: str) -> list[Any]:
    return [
        pytest.param(path.stem, lines, id=f"{path.stem}: {says}")
        for path in sorted(LOGS.glob("*.yaml"))
        for says, lines in yaml.safe_load(path.read_text(encoding="utf-8"))[which].items()
    ]


def _broken(laws: tuple[Law, ...], lines: list[str]) -> list[str]:
    watch = Watch(laws)
    found = [one for message in handmade(lines) for one in watch.see(message)]
    return [one.says for one in (*found, *watch.end())]


def test_each_law_has_a_log_that_breaks_it_and_one_that_keeps_it() -> None:
    assert {path.stem for path in LOGS.glob("*.yaml")} == set(BY_NAME)
    assert len(BY_NAME) == len(LAWS)


@pytest.mark.parametrize(("name", "lines"), _logs("broken"))
def test_a_law_finds_the_log_that_breaks_it(name: str, lines: list[str]) -> None:
    found = _broken((BY_NAME[name],), lines)
    assert found
    assert all("seq" in one for one in found)


@pytest.mark.parametrize(("name", "lines"), _logs("kept"))
def test_a_law_says_nothing_about_a_log_that_keeps_it(name: str, lines: list[str]) -> None:
    assert _broken((BY_NAME[name],), lines) == []


def test_one_law_can_watch_alone() -> None:
    observer = BY_NAME["one-revision"].watch()
    lines = ["evolver REVISE_REQUEST hyp_1", "evolver REVISE_REQUEST hyp_1"]
    assert [one for message in handmade(lines) for one in observer.see(message)] == []
    assert list(observer.end()) == ["seq 2 REVISE_REQUEST hyp_1: the second one, after seq 1"]
