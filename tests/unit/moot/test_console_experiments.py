"""Experiments on the page's side: what the list and one of them show, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moot.console.model.interface import Person, ReadModel
from moot.console.page.case_experiments import MOCK, how_ended, money
from moot.console.page.places import view_of
from moot.protocols.kernel.seats import ADMIN as ADMIN_SEAT
from moot.protocols.lab.messages import Example, LabelCount
from tests.doubles.console import watched
from tests.doubles.data_dir import write_log
from tests.doubles.lab_table import EXPERIMENT, LabTable, batch, ended, started

pytestmark = pytest.mark.anyio

ADMIN = Person("owner", ADMIN_SEAT)
EVIL = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


async def shown(place: Path, table: LabTable, path: str) -> Any:
    write_log(place, table.log)
    async with watched(place) as live:
        model: ReadModel = live.seen_by(ADMIN)
        return await view_of(model, ADMIN, await model.channels(), path)


async def experiment(place: Path, table: LabTable) -> Any:
    view = await shown(place, table, f"/case/{EXPERIMENT}")
    return view["facts"]


async def test_one_that_runs_shows_how_far_it_is_and_how_to_stop_it(tmp_path: Path) -> None:
    table = LabTable()
    table.tell(batch(0))
    table.tell(batch(1))
    facts = await experiment(tmp_path, table)

    assert facts["opens"] == "rests"
    assert facts["label"] == MOCK
    assert [tile[1] for tile in facts["tiles"]] == ["20", "50 %", "2", "2,000", "$0.0001"]
    assert [picture["title"] for picture in facts["pictures"]] == [
        "Decisions",
        "Convergence",
        "Clusters over batches",
    ]
    decisions, curve, sizes = (picture["table"]["rows"] for picture in facts["pictures"])
    assert decisions[0][:3] == ["yes", "17", "89.5 %"]
    assert [row[0] for row in curve] == ["10", "20"]
    assert sizes[-1][1:] == ["17", "3"]
    setting, answers = facts["tables"]
    assert f"/stop {EXPERIMENT}" in setting["note"]
    assert [row[0] for row in answers["rows"]] == ["trial 19", "trial 9"]


async def test_one_that_was_stopped_says_by_whom(tmp_path: Path) -> None:
    table = LabTable()
    table.lived()
    facts = await experiment(tmp_path, table)

    assert ["ended", "interrupted, stopped by ann on test"] in facts["tables"][0]["rows"]
    assert facts["tables"][0]["note"] == ""
    assert facts["outcome"] == "interrupted"


async def test_what_a_model_wrote_is_never_markup(tmp_path: Path) -> None:
    table = LabTable(question=EVIL, labels=())
    example = Example(trial_id=1, label=EVIL, cluster_id=0, text=EVIL)
    table.tell(batch(0, labels=(LabelCount(label=EVIL, count=5),), examples=(example,)))
    facts = await experiment(tmp_path, table)

    drawn = "".join(picture["html"] for picture in facts["pictures"])
    assert "&lt;img" in drawn
    assert "<img" not in drawn
    assert facts["tables"][1]["rows"][0][3] == EVIL, "shown as text"


async def test_one_without_a_batch_or_clusters_shows_what_there_is(tmp_path: Path) -> None:
    table = LabTable(cluster_limit=None, mode="live")
    facts = await experiment(tmp_path / "a", table)
    assert facts["pictures"] == []
    assert facts["label"] == ""
    assert facts["tables"][1]["none"]
    table.tell(batch(0, clusters=None, labels=(), cost=None))
    facts = await experiment(tmp_path / "b", table)
    assert [picture["title"] for picture in facts["pictures"]] == ["Convergence"]
    assert facts["tiles"][-1] == ["money so far", "unknown", ""]


async def test_the_list_names_each_with_its_state_the_newest_first(tmp_path: Path) -> None:
    table = LabTable()
    table.lived()
    other = "20260223T100000Z_ffffff"
    table.tell(started(experiment_id=f"exp_{other}", run_id=other, question="And a three-day week?"))
    page = await shown(tmp_path, table, "/figures/lab")

    (listed,) = page["tables"]
    assert [(row[0]["t"], row[3], row[4]) for row in listed["rows"]] == [
        (f"exp_{other}", "runs (mock)", "0 of 40 trials"),
        (EXPERIMENT, "interrupted, stopped by ann on test (mock)", "20 of 40 trials"),
    ]
    assert [tile[1] for tile in page["tiles"]] == ["2", "1", "2,000"]


async def test_where_none_was_heard_of_the_list_says_how_to_start_one(tmp_path: Path) -> None:
    table = LabTable()
    table.log = table.log[:1]
    page = await shown(tmp_path, table, "/figures/lab")
    assert page["tables"][0]["rows"] == []
    assert "moot arbiter mock-run --data DIR" in page["tables"][0]["none"]


def test_an_unknown_cost_is_not_told_as_none() -> None:
    assert [money(0, 0), money(5, None), money(5, 10)] == ["no tokens", "5 tokens", "5 tokens, $0.00001"]


def test_an_end_is_worded_with_its_notes() -> None:
    assert how_ended(ended(stop_reason="error", notes="the disk is full")) == "failed (the disk is full)"
    spent = ended(stop_reason="out_of_budget", notes="the budget of the run is 9 calls")
    assert how_ended(spent) == "out of budget (the budget of the run is 9 calls)"
