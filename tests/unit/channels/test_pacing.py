import pytest

from moot.channels.outbox import pacing
from moot.channels.outbox.pacing import DISCORD, SLACK, UNPACED, Budget, is_routine
from moot.protocols.rulebook import rulebook


def test_everything_about_escalations_halts_and_rulings_is_urgent():
    about = [name for name in rulebook().messages if name.startswith(("ESCALATION", "HALT", "RESUME"))]
    assert len(about) == 8
    assert rulebook().urgent.issuperset({*about, "RULING", "STOP", "OVERRIDE"})


def test_only_what_has_a_case_and_is_not_urgent_is_routine():
    assert is_routine("RISK_ASSESSMENT", "hyp_1")
    assert is_routine("NOTE", "hyp_1")
    assert not is_routine("NOTE", None)
    assert not any(is_routine(name, "esc_1") for name in rulebook().urgent)


def test_the_paces_are_those_of_the_platforms():
    assert (SLACK.channel, SLACK.everywhere) == (Budget(1.0, 3), Budget(5.0, 20))
    assert (DISCORD.channel, DISCORD.everywhere) == (None, Budget(40.0, 40))
    for pace in (SLACK, DISCORD):
        assert (pace.backlog, pace.fold_most) == (10, 25)
    assert (UNPACED.channel, UNPACED.everywhere, UNPACED.backlog) == (None, None, 0)


@pytest.mark.parametrize(("per_s", "burst"), [(0.0, 1), (-1.0, 1), (1.0, 0), (float("nan"), 1)])
def test_a_budget_that_lets_nothing_through_is_refused(per_s, burst):
    with pytest.raises(ValueError, match="lets nothing through"):
        pacing.Budget(per_s, burst)
