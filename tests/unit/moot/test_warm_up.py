"""The first minute: whenever one starts, something waits for a person, and no more days were lived than were asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from moot import warm_up
from moot.config.settings import Settings, load_settings
from moot.protocols.kernel.docket import Docket
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.research.debate_table import BUDGETED
from moot.protocols.rulebook import rules
from moot.stored import last_sent_at, stored_envelopes
from tests.doubles.checking import findings

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)
WEEK = [MONDAY + timedelta(hours=24 * n + 12 * (n % 2)) for n in range(7)]
DAYS = timedelta(days=3)


def warmed(place: Path, at: datetime, days: timedelta = DAYS, settings: Settings | None = None) -> list[str]:
    said: list[str] = []
    place.mkdir(exist_ok=True)
    until = warm_up.live(place, settings or load_settings(), {}, 1, days, at, said.append)
    assert until == last_sent_at(place) <= at
    return said


def logged(place: Path) -> list[Envelope]:
    return list(stored_envelopes(place))


@pytest.mark.parametrize("at", WEEK, ids=lambda at: f"{at:%a-%H}")
def test_on_any_weekday_and_hour_a_debate_runs_and_an_escalation_waits(tmp_path: Path, at: datetime) -> None:
    warmed(tmp_path, at)
    log = logged(tmp_path)
    docket = Docket(rules())
    for envelope in log:
        docket.fold(envelope)
    waiting = [case for case in docket.cases.values() if case.kind == "escalation"]
    # A decision is waited for for four hours at least: whoever opens the page half a minute later still finds it.
    assert any(log[-1].sent_at - case.anchor_at <= timedelta(hours=2) for case in waiting)
    assert any(case.kind == "debate" and case.phase in BUDGETED for case in docket.cases.values())
    assert DAYS / 2 <= log[-1].sent_at - log[0].sent_at <= DAYS


def test_it_ends_while_an_escalation_still_waits_for_long_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "LEFT", timedelta(hours=3))
    # From this start on, the first escalation beside a debate is more than an hour old.
    warmed(tmp_path, MONDAY + timedelta(days=1))
    log = logged(tmp_path)
    docket = Docket(rules())
    for envelope in log:
        docket.fold(envelope)
    waited = [log[-1].sent_at - case.anchor_at for case in docket.cases.values() if case.kind == "escalation"]
    assert min(waited) <= timedelta(hours=1)


def test_a_life_in_which_nothing_came_up_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "kept").write_text("what lay there before")
    monkeypatch.setattr(warm_up, "LIVES", 2)
    silent = load_settings(schedules={}, desk={"enabled": False})
    said = warmed(tmp_path, MONDAY, timedelta(hours=12), silent)
    assert said == [
        "warming up in simulated time, 12 hours at most, until an escalation waits ...",
        "nothing came up that waits for you: once more, from another hour ...",
        "lived 12 hours, until Mon 16 Nov 02:00 UTC, and no escalation came up",
    ]
    log = logged(tmp_path)
    assert log[0].sent_at == MONDAY - timedelta(hours=12) - warm_up.EARLIER, "the second life, alone"
    assert findings(log) == []
    assert (tmp_path / "evidence" / "kept").exists()
    assert not (tmp_path / warm_up.NAME).exists()
    assert {"log.sqlite", "moot.memory.sqlite"} <= {path.name for path in tmp_path.iterdir()}


def test_what_a_killed_warm_up_left_is_not_gone_on_with(tmp_path: Path) -> None:
    left = tmp_path / warm_up.NAME
    left.mkdir()
    (left / "log.sqlite").write_bytes(b"half a life")
    said = warmed(tmp_path, WEEK[0], timedelta(days=1.5))
    assert "no escalation" not in said[-1]
    assert logged(tmp_path)[0].seq == 1
    assert not left.exists()
