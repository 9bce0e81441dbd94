"""What the simulated society is like: every constant of its behaviour, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Temper:
    """How the seats look, weigh and hesitate. Scores and shares are in [0, 1].

    Attributes:
        delay_median: Median delay of an answer as a share of its limit (R-D19).
        delay_sigma: Standard deviation of the delay's logarithm; 0.63 puts 4 % beyond the limit.
        delay_cap: Longest delay as a multiple of the limit.
        longest_limit: An outage may stretch a limit; delays count at most this much of it.
        retry_share: Median delay of a corrected answer as a share of the limit.
        silence: Share of obligations that are left unanswered.
        spell_chance: Chance, by seat and day, of hours in which the seat answers nothing (R-D19).
        spell_hours: How long such a spell lasts, at least and at most.
        desk_silence: As `silence`, for the seats of the desk.
        desk_spell_chance: As `spell_chance`, for them: nobody is paid to watch a debate, somebody is for money.
        tick_delay_s: Median delay of what the desk does by machine, in seconds.
        tick_silence: Share of that which is left out.
        candidates: Strategies that the Explorer looks at for one hypothesis.
        shortlist: Best-looking ones that get a second look.
        continues: Chance to take up a near miss again, when there is one.
        from_parents: Share of candidates bred from approved strategies, when there are any.
        full_trades: Trades in train below which a Sharpe ratio counts for less.
        near_miss: Most that the risk argument may have exceeded the alpha argument in a near miss.
        near_miss_for: How long a near miss is worth another try.
        tries: Most hypotheses of one lineage.
        remembers: How far back the Explorer reads the records of trials.
        shuns: Confidence of a principle from which on its archetype is left alone in that regime.
        pool: Newest approved strategies against which correlation is measured.
        note_hours: How long a note that names no case is heeded.
        live_for: How long the desk's evidence on a strategy counts.
        recalls: Factor on an archetype's weight for each of its strategies that the desk gave up, up to three.
        sinks: The same for each that loses there.
        thrives: The same for each in production that keeps its promise.
        tolerance: What a strictness of 0 would tolerate.
        strictness_counts: How much of a criterion's strictness is taken off that.
        heed_note: How much a note takes off the tolerance of the score that it names.
        heed_principle: The same for a principle of full confidence.
        worst: Burden is the mean excess of the worst scores by these weights, the worst first.
        relief: Share of an excess that a fully convincing answer takes away.
        unanswered: Factor on an excess that the Explorer passed over.
        flaw: What a fatal flaw adds to the burden.
        owned: What it adds that the book holds a strategy already.
        centre: Burden at which the Critic is of two minds.
        reject_from: Burden from which on the rating is REJECT.
        sureness: Distance of the burden from the centre at which confidence has covered 63 % of its way.
        robust: How much a third round's neighbourhood check moves burden and alpha, for and against.
        alpha_share: Weight of the measured strength in the alpha argument; the rest are the answers.
        alpha_even: Raw alpha at which the alpha argument scores one half.
        alpha_width: Width of the alpha argument's logistic curve.
        risk_even: Burden at which the risk argument scores one half.
        risk_width: Width of the risk argument's logistic curve.
        rating_shift: What a rating of PASS takes off and one of REJECT adds to the risk argument.
        certainty: Margin between the arguments at which verdict confidence has covered 63 % of its way.
        fixable: Most that the risk argument may exceed the alpha argument when a repair is on the table.
        overrule: Margin from which on the Evolver approves against a rating of REJECT.
        hopeless: Mean strength of the answers below which the Explorer gives a lost case up.
        worthless: Strength of the evidence below which it does so.
        repairs: Strategies that the Explorer tries for a repair in a rebuttal.
        worth_changing: Least gain in contested scores for which the Explorer changes a strategy under debate.
        revisions: Strategies that it tries for a revised hypothesis.
        keeps: Share of the train Sharpe that a repair must keep.
    """

    delay_median: float = 1 / 3
    delay_sigma: float = 0.63
    delay_cap: float = 3.0
    longest_limit: timedelta = timedelta(minutes=30)
    retry_share: float = 0.05
    silence: float = 0.005
    spell_chance: float = 0.08
    spell_hours: tuple[float, float] = (5.0, 7.0)
    desk_silence: float = 0.003
    desk_spell_chance: float = 0.01
    tick_delay_s: float = 3.0
    tick_silence: float = 0.0003

    candidates: int = 10
    shortlist: int = 4
    continues: float = 0.35
    from_parents: float = 0.35
    full_trades: int = 90
    near_miss: float = 0.2
    near_miss_for: timedelta = timedelta(hours=48)
    tries: int = 5
    remembers: timedelta = timedelta(days=10)
    shuns: float = 0.4
    pool: int = 24
    note_hours: float = 6.0
    live_for: timedelta = timedelta(days=60)
    recalls: float = 0.35
    sinks: float = 0.7
    thrives: float = 1.3

    tolerance: float = 0.95
    strictness_counts: float = 0.5
    heed_note: float = 0.12
    heed_principle: float = 0.1
    worst: tuple[float, ...] = (0.5, 0.3, 0.2)
    relief: float = 0.6
    unanswered: float = 1.15
    flaw: float = 0.07
    owned: float = 0.1
    centre: float = 0.06
    reject_from: float = 0.13
    sureness: float = 0.14
    robust: float = 0.08

    alpha_share: float = 0.85
    alpha_even: float = 0.73
    alpha_width: float = 0.13
    risk_even: float = -0.03
    risk_width: float = 0.12
    rating_shift: float = 0.03
    certainty: float = 0.18
    fixable: float = 0.25
    overrule: float = 0.2
    hopeless: float = 0.3
    worthless: float = 0.45
    repairs: int = 5
    worth_changing: float = 0.05
    revisions: int = 8
    keeps: float = 0.6


RELIABLE: Final = Temper(silence=0.0, spell_chance=0.0, delay_cap=0.9)
"""Minds without a society around them are never silent, for nobody experiments with one case to wait for a seat, nor
are those of one's own."""

DEFAULT: Final = Temper()
"""Tuned on the sample prices, see `tests/unit/bots/test_simulated_week.py`."""
