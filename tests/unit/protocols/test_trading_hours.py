"""Hours of the exchange: holidays, half-days, clock changes, desk days (R-D18)."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.protocols.trading import hours

YEAR_2026 = st.datetimes(datetime(2026, 1, 5), datetime(2026, 12, 20), timezones=st.just(UTC))


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.rule("R-D18")
def test_r_d18_a_plain_session_opens_at_half_past_nine_and_closes_at_four_in_new_york():
    session = hours.session_on(date(2026, 2, 23))
    assert session == hours.Session(
        date(2026, 2, 23), utc(2026, 2, 23, 14, 30), utc(2026, 2, 23, 21), is_early_close=False
    )
    assert session.begins_at == utc(2026, 2, 23, 14, 15)


@pytest.mark.rule("R-D18")
@pytest.mark.parametrize(
    "day", [date(2026, 6, 19), date(2026, 2, 21), date(2026, 4, 3), date(2026, 11, 26), date(2001, 9, 12)]
)
def test_r_d18_holidays_and_weekends_have_no_session(day):
    assert hours.session_on(day) is None


@pytest.mark.rule("R-D18")
@pytest.mark.parametrize("day", [date(2026, 11, 27), date(2026, 12, 24)])
def test_r_d18_half_days_close_at_one_in_new_york(day):
    session = hours.session_on(day)
    assert session.closes_at == utc(day.year, day.month, day.day, 18)
    assert session.is_early_close


@pytest.mark.rule("R-D18")
@pytest.mark.parametrize(
    ("before", "after", "hour"),
    [(date(2026, 3, 6), date(2026, 3, 9), 13), (date(2026, 10, 30), date(2026, 11, 2), 14)],
)
def test_r_d18_the_open_follows_new_yorks_clocks_when_they_change(before, after, hour):
    assert hours.next_session(before).date == after
    opens, others = hours.session_on(after).opens_at, hours.session_on(before).opens_at
    assert (opens.hour, opens.minute) == (hour, 30)
    assert others.hour == 27 - hour


@pytest.mark.rule("R-D18")
def test_r_d18_a_desk_day_runs_over_nights_weekends_and_holidays():
    thursday = hours.session_on(date(2026, 6, 18))
    monday = hours.session_on(date(2026, 6, 22))
    assert hours.next_session(thursday.date) == monday
    assert hours.desk_day_at(thursday.begins_at) == thursday
    assert hours.desk_day_at(monday.begins_at - timedelta(microseconds=1)) == thursday
    assert hours.desk_day_at(monday.begins_at) == monday
    assert hours.desk_day_at(utc(2026, 1, 1, 12)).date == date(2025, 12, 31)


def test_trading_is_possible_at_once_while_the_exchange_is_open_else_at_the_next_open():
    assert hours.trading_at(utc(2026, 2, 23, 15)) == utc(2026, 2, 23, 15)
    assert hours.trading_at(utc(2026, 2, 23, 12)) == utc(2026, 2, 23, 14, 30)
    assert hours.trading_at(utc(2026, 2, 23, 21)) == utc(2026, 2, 24, 14, 30)
    assert hours.trading_at(utc(2026, 11, 27, 18)) == utc(2026, 11, 30, 14, 30)


@given(YEAR_2026)
@settings(max_examples=200)
def test_every_instant_lies_in_exactly_the_desk_day_that_holds_it(instant):
    session = hours.desk_day_at(instant)
    assert session.begins_at <= instant < hours.next_session(session.date).begins_at


@given(YEAR_2026)
@settings(max_examples=100)
def test_the_next_open_is_open_and_nothing_before_it_is(instant):
    at = hours.trading_at(instant)
    session = hours.session_on(hours.day_in_new_york(at))
    assert instant <= at
    assert session.opens_at <= at < session.closes_at
    assert at in (instant, session.opens_at)


@given(YEAR_2026)
@settings(max_examples=100)
def test_trading_ends_at_the_close_of_the_session_that_is_open_or_comes(instant):
    at, closes = hours.trading_at(instant), hours.trading_ends_at(instant)
    assert at < closes and hours.day_in_new_york(at) == hours.day_in_new_york(closes)
    assert hours.trading_at(closes) > closes


@pytest.mark.parametrize("year", [1999, 2012, 2027, 2040])
def test_every_year_from_1999_to_2040_has_its_sessions(year):
    days = [date(year, 1, 1) + timedelta(days=n) for n in range(365)]
    sessions = [s for day in days if (s := hours.session_on(day)) is not None]
    assert 248 <= len(sessions) <= 254
    for session in sessions:
        assert session.begins_at < session.opens_at < session.closes_at
        assert session.opens_at.tzinfo is UTC
        assert session.date.weekday() < 5


def test_the_slow_library_is_imported_only_when_hours_are_asked():
    code = (
        "import sys, moot.protocols.trading.desk_calendar, moot.protocols.trading.session;"
        "import moot.protocols.trading.hours as h;"
        "assert 'exchange_calendars' not in sys.modules and 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
