import pytest

from moot.channels.chat.seen import KEEP_S, Seen


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_an_id_is_new_once_for_at_least_ten_minutes():
    clock = Clock()
    seen = Seen(clock)
    assert seen.first_time("a")
    clock.now = 600.0
    assert not seen.first_time("a")
    assert seen.first_time("b")
    assert KEEP_S >= 600


def test_what_was_not_heard_for_long_is_new_again_and_takes_no_room():
    clock = Clock()
    seen = Seen(clock, keep_s=10.0)
    for n in range(100):
        seen.first_time(f"old {n}")
    clock.now = 10.1
    assert seen.first_time("old 0")
    assert len(seen) == 1


def test_an_id_that_keeps_coming_stays_known():
    clock = Clock()
    seen = Seen(clock, keep_s=10.0)
    assert seen.first_time("a")
    for clock.now in (8.0, 16.0, 24.0):
        assert not seen.first_time("a")


def test_it_keeps_a_bounded_number_and_drops_the_oldest():
    clock = Clock()
    seen = Seen(clock, most=3)
    for name in "abcd":
        assert seen.first_time(name)
    assert len(seen) == 3
    assert not seen.first_time("d")
    assert seen.first_time("a")


def test_what_is_forgotten_is_new_again():
    seen = Seen(Clock())
    assert seen.first_time("a")
    seen.forget("a")
    seen.forget("never heard")
    assert seen.first_time("a")


@pytest.mark.parametrize("options", [{"keep_s": 0.0}, {"most": 0}])
def test_a_memory_that_keeps_nothing_is_refused(options):
    with pytest.raises(ValueError, match="at least one"):
        Seen(Clock(), **options)
