"""Dice: the same draws for the same names, whatever a name holds."""

from __future__ import annotations

from moot.chaos.dice import Dice


def test_equal_names_draw_the_same_and_others_do_not_disturb_them() -> None:
    one, other = Dice("strike", 7), Dice("strike", 7)
    other.of("late").share()
    assert [one.share() for _ in range(3)] == [other.share() for _ in range(3)]
    assert Dice("strike", 7).share() != Dice("strike", 8).share()


def test_a_name_that_is_no_text_for_files_draws_too() -> None:
    assert Dice("late", "\ud800").share() == Dice("late", "\ud800").share()
