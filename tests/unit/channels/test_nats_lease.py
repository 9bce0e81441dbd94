"""When a candidate may take the lease of a society over: the pure rule, by the candidate's own clock alone."""

from __future__ import annotations

from moot.channels.nats.lease import Candidacy, Leader, deposed, leader_of


def test_a_lease_that_nobody_ever_had_or_that_was_given_back_is_taken_at_once() -> None:
    assert Candidacy(5.0).may_take(0, is_free=True, now_s=0.0)
    assert Candidacy(5.0).may_take(17, is_free=True, now_s=0.0)


def test_a_lease_is_taken_when_its_key_has_not_changed_for_the_whole_lapse() -> None:
    candidacy = Candidacy(5.0)
    assert not candidacy.may_take(7, is_free=False, now_s=100.0)
    for half_s in range(1, 10):
        assert not candidacy.may_take(7, is_free=False, now_s=100.0 + half_s / 2)
    assert not candidacy.may_take(7, is_free=False, now_s=104.9)
    assert candidacy.may_take(7, is_free=False, now_s=105.0)


def test_every_renewal_begins_the_wait_anew() -> None:
    candidacy = Candidacy(5.0)
    for n in range(20):
        assert not candidacy.may_take(n + 1, is_free=False, now_s=4.9 * n)


def test_while_nobody_answers_no_leader_falls_silent() -> None:
    candidacy = Candidacy(5.0)
    assert not candidacy.may_take(7, is_free=False, now_s=100.0)
    assert not candidacy.may_take(7, is_free=False, now_s=130.0), "the server was away, for the leader too"
    for half_s in range(1, 10):
        assert not candidacy.may_take(7, is_free=False, now_s=130.0 + half_s / 2)
    assert candidacy.may_take(7, is_free=False, now_s=135.0)


def test_a_value_that_says_nothing_names_no_leader() -> None:
    assert leader_of(b"") is None
    assert leader_of(b"no json") is None
    assert leader_of(b"[1]") is None
    assert leader_of(b'{"holder":""}') is None
    assert leader_of(b'{"holder":"one","epoch":4,"since":"now"}') == Leader("one", 4, "now")


def test_who_was_deposed_is_told_by_whom() -> None:
    assert str(deposed("desk", Leader("two", 9, ""))) == "this host no longer leads desk: two leads it now"
    assert str(deposed("desk", None)) == "this host no longer leads desk: another host took it over"
