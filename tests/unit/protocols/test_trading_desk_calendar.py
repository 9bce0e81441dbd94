"""The desk's calendar: the Timekeeper opens each desk day, system-b.md "Time" (R-D18, K16)."""

from datetime import date

import pytest

from moot.protocols.kernel.envelope import OFFICER, Draft
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.officers import ConfigChanged
from moot.protocols.kernel.people import Stop
from moot.protocols.kernel.seats import ADMIN, TIMEKEEPER
from moot.protocols.kernel.times import rfc3339
from moot.protocols.trading import hours
from moot.protocols.trading.desk_calendar import trading_day
from tests.doubles.desk_table import DeskTable, at

TUESDAY, WEDNESDAY, FRIDAY = date(2026, 2, 24), date(2026, 2, 25), date(2026, 2, 27)
NEXT_MONDAY = date(2026, 3, 2)


def days(table):
    return [e.body.date for e in table.log if e.body.type == "TRADING_DAY"]


def change(table, enabled):
    body = ConfigChanged(changes={"desk": {"enabled": enabled}}, reason="a test")
    table.post(TIMEKEEPER, body, channel="#admin", key=f"config/{len(table.log)}")
    table.officers()


def stop(table):
    table.tell(ADMIN, Stop(scope="B", why="enough"), channel="#admin")


@pytest.mark.rule("R-D18")
def test_r_d18_a_day_is_opened_at_a_quarter_past_nine_with_the_exchanges_hours():
    table = DeskTable(at(9, 14))
    assert days(table) == ["2026-02-20"]
    table.until(at(9, 15))
    opened = table.last("TRADING_DAY")
    assert opened.sent_at == at(9, 15)
    assert opened.id == "desk/2026-02-23T14:15:00.000000Z"
    assert opened.channel == "#b-ops"
    body = opened.body
    assert (body.session_id, body.date) == ("session_20260223", "2026-02-23")
    assert (body.nominal_at, body.opens_at) == (at(9, 15), at(9, 30))
    assert (body.closes_at, body.ends_at) == (at(16), at(9, 15, TUESDAY))
    assert not body.is_early_close


@pytest.mark.rule("R-D18")
def test_r_d18_a_society_that_starts_within_a_desk_day_gets_it_at_once():
    table = DeskTable(at(13))
    assert days(table) == ["2026-02-23"]
    assert table.last("TRADING_DAY").sent_at == at(13)
    table.until(at(9, 14, TUESDAY))
    assert days(table) == ["2026-02-23"]


@pytest.mark.rule("R-D18")
def test_r_d18_weekends_belong_to_the_friday_before():
    table = DeskTable(at(9, 15, FRIDAY))
    table.until(at(9, 14, NEXT_MONDAY))
    assert days(table) == ["2026-02-27"]
    table.until(at(9, 15, NEXT_MONDAY))
    assert days(table) == ["2026-02-27", "2026-03-02"]


@pytest.mark.parametrize("desk", [None, {"enabled": False}, {"capital": 5}])
def test_without_a_desk_in_the_logged_configuration_no_day_is_opened(desk):
    table = DeskTable(enabled=False)
    table.desk = desk
    table.down(minutes=1)
    table.until(at(9, 30, TUESDAY))
    assert days(table) == []


def test_a_desk_that_is_switched_on_has_its_present_day_and_one_switched_off_no_other():
    table = DeskTable(enabled=False)
    table.until(at(12))
    change(table, True)
    assert days(table) == ["2026-02-23"]
    change(table, False)
    change(table, True)
    assert days(table) == ["2026-02-23"]
    change(table, False)
    table.until(at(12, 0, TUESDAY))
    assert days(table) == ["2026-02-23"]
    change(table, True)
    assert days(table) == ["2026-02-23", "2026-02-24"]


def test_a_day_that_was_opened_is_not_opened_again_after_a_restart():
    table = DeskTable()
    table.down(hours=2)
    assert days(table) == ["2026-02-23"]


@pytest.mark.rule("R-D18")
def test_r_d18_after_an_outage_only_the_present_day_is_opened():
    table = DeskTable()
    table.until(at(12))
    table.down(days=3, crash=True)
    assert days(table) == ["2026-02-23", "2026-02-26"]


@pytest.mark.rule("K21")
def test_k21_a_human_stop_holds_the_next_day_until_the_society_starts_again():
    table = DeskTable()
    stop(table)
    assert table.docket.ended["session_20260223"].outcome == "stopped"
    table.until(at(12, 0, TUESDAY))
    assert days(table) == ["2026-02-23"]
    table.down(minutes=1)
    assert days(table) == ["2026-02-23", "2026-02-24"]


def officer_says(table, body, nominal):
    key = f"desk/{rfc3339(nominal)}"
    return table.publish(Draft(channel="#b-ops", author=TIMEKEEPER, actor=OFFICER, body=body, key=key))


@pytest.mark.rule("K5")
def test_k5_a_day_that_a_stop_overtook_is_superseded_and_opens_nothing():
    table = DeskTable()
    stop(table)
    table.now = at(9, 15, TUESDAY)
    said = officer_says(table, trading_day(hours.session_on(TUESDAY)), at(9, 15, TUESDAY))
    assert table.effects[said.seq - 1].superseded
    assert not table.docket.context.running["session"]
    table.down(hours=1)
    assert days(table) == ["2026-02-23", "2026-02-24"]
    table.until(at(9, 15, WEDNESDAY))
    assert days(table)[-1] == "2026-02-25"
    assert table.docket.context.running["session"] == 1


@pytest.mark.rule("K5")
def test_k5_a_day_that_nothing_asks_for_is_a_fault():
    table = DeskTable()
    with pytest.raises(OfficerFault):
        officer_says(table, trading_day(hours.session_on(TUESDAY)), at(9, 15, TUESDAY))


@pytest.mark.rule("K5")
def test_k5_a_day_with_other_hours_is_a_fault():
    table = DeskTable()
    table.now = at(9, 15, TUESDAY)
    wrong = trading_day(hours.session_on(TUESDAY)).model_copy(update={"closes_at": at(13, 0, TUESDAY)})
    with pytest.raises(OfficerFault):
        officer_says(table, wrong, at(9, 15, TUESDAY))


@pytest.mark.rule("K5")
def test_k5_a_day_with_other_hours_is_a_fault_even_when_a_stop_overtook_it():
    table = DeskTable()
    stop(table)
    table.now = at(9, 15, TUESDAY)
    wrong = trading_day(hours.session_on(TUESDAY)).model_copy(update={"closes_at": at(13, 0, TUESDAY)})
    with pytest.raises(OfficerFault):
        officer_says(table, wrong, at(9, 15, TUESDAY))
