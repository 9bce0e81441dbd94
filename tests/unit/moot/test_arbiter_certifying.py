"""A certifier counts the labels of a run in the order of trial_id, and says when its mode is certain."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from moot.arbiter.certifying import Certifier, NothingToCertify
from moot.arbiter.events import RunEnded
from moot.arbiter.schemas import validator
from moot.protocols.arbiter.certificate import closed_labels
from moot.protocols.arbiter.generated import (
    Certificate,
    ParsedTrial,
    ResolvedConfiguration,
    ResolvedContract,
)
from moot.statistics.shares import share_interval
from tests.doubles.arbiter_configs import resolved, verdict_contract
from tests.doubles.arbiter_runs import Held, prepared


def config(decision: Any) -> ResolvedConfiguration:
    found = resolved()
    found["protocol"]["decision_contract"] = verdict_contract(decision)
    return ResolvedConfiguration.from_json(json.dumps(found))


def certifier(alpha: float = 0.05) -> Certifier:
    return Certifier(config({"enum": ["yes", "no"]}), alpha)


def ended(trial_id: int, outcome: str | None, error_code: str | None = None) -> tuple[Any, ...]:
    """Return what a certifier is told of a trial; an outcome of `prose` broke the contract, None has no text."""
    status = {"prose": "fallback", None: "failed"}.get(outcome, "success")
    told = {} if outcome is None else {"outcome": outcome}
    line = {"trial_id": trial_id, "parse_status": status, "parser_version": "independent-v1", **told}
    return trial_id, error_code, ParsedTrial.from_json(json.dumps(line))


def counted(certifier: Certifier, outcomes: Sequence[str | None], first: int = 0) -> Certifier:
    for number, outcome in enumerate(outcomes, first):
        certifier.add(*ended(number, outcome))
    certifier.close_batch()
    return certifier


def test_labels_and_what_is_none_are_counted_with_bounds_that_share_the_error() -> None:
    found = counted(certifier(0.06), ["yes", "no", "prose", "yes", None, "maybe"]).certificate()
    assert [(one.label, one.count) for one in found.labels] == [("yes", 2), ("no", 1)]
    assert found.no_decision.count == 3
    assert (found.labels[0].low, found.labels[0].high) == share_interval(2, 6, 0.02)
    assert found.mode is None


def test_text_that_broke_the_contract_is_no_decision_even_if_it_is_a_label() -> None:
    run = certifier()
    *trial, parsed = ended(0, "prose")
    run.add(*trial, parsed.model_copy(update={"outcome": "yes"}))
    run.close_batch()
    assert run.certificate().no_decision.count == 1


def test_the_mode_is_certain_from_the_first_batch_that_suffices() -> None:
    run = counted(certifier(), ["yes"] * 8)
    assert run.enough() is None
    counted(run, ["yes"] * 4, first=8)
    assert run.enough() == "certified after 12 trials: the most frequent outcome is yes (alpha 0.05)"
    counted(run, ["no"] * 40, first=12)
    found = run.certificate()
    assert found.mode is not None
    assert (found.mode.label, found.mode.at_trial) == ("yes", 12)
    assert found.trials == 52


def test_no_decision_can_be_the_mode() -> None:
    found = counted(certifier(), ["prose"] * 20).certificate()
    assert found.mode is not None
    assert found.mode.label is None


def test_trials_count_by_trial_id_however_they_end() -> None:
    outcomes = ["yes", "no", "yes", "yes", "prose", "no"] * 5
    order = list(range(30))
    random.Random(4).shuffle(order)
    run = certifier()
    for number in order:
        run.add(*ended(number, outcomes[number]))
    run.close_batch()
    assert run.certificate() == counted(certifier(), outcomes).certificate()


@pytest.mark.parametrize("is_there", [True, False])
def test_trials_after_one_that_was_cut_short_do_not_count(is_there: bool) -> None:
    run = certifier()
    for number in (0, 1, 3, 4):
        run.add(*ended(number, "yes"))
    if is_there:
        run.add(*ended(2, None, "shutdown_abort"))
    run.close_batch()
    found = run.certificate()
    assert (found.trials, found.not_counted) == (2, 3 if is_there else 2)


def test_a_failed_call_is_no_decision() -> None:
    run = certifier()
    run.add(*ended(0, None, "timeout_exhausted"))
    run.close_batch()
    assert run.certificate().no_decision.count == 1


def test_without_trials_everything_is_possible() -> None:
    found = certifier().certificate()
    assert [(one.share, one.low, one.high) for one in found.labels] == [(None, 0.0, 1.0)] * 2
    assert found.mode is None


@pytest.mark.parametrize("outcomes", [[], ["yes"] * 3, ["yes"] * 30, ["prose"] * 30])
def test_a_certificate_holds_against_its_schema(outcomes: list[str]) -> None:
    found = counted(certifier(), outcomes).certificate().as_json()
    assert list(validator("certificate").iter_errors(found)) == []


@pytest.mark.parametrize(
    ("decision", "labels"),
    [
        ({"enum": ["yes", "no"]}, ("yes", "no")),
        ({"enum": ["yes", "", None, 3, "yes"]}, ("yes",)),
        ({"type": "string"}, ()),
        ({"enum": "yes"}, ()),
        (True, ()),
    ],
)
def test_labels_are_the_texts_that_the_contract_lists(decision: Any, labels: tuple[str, ...]) -> None:
    found = ResolvedContract.from_json(json.dumps(verdict_contract(decision)))
    assert closed_labels(found) == labels


def test_a_run_without_closed_labels_is_refused_by_a_line() -> None:
    assert closed_labels(None) == ()
    with pytest.raises(NothingToCertify, match="enum"):
        Certifier(config({"type": "string"}), 0.05)


def answered(label: str) -> str:
    return json.dumps({"decision": label})


def held(
    text: Callable[[int], str | None], stops: dict[float, int] | None = None
) -> tuple[RunEnded, Certificate]:
    """Carry out a run of at most 40 trials, four a batch, that may end when its mode is certain."""
    run = prepared(labels=("yes", "no"), k_max=40, batch_size=4)
    counting = Certifier(run.config, 0.05)
    found = Held(run, text=text).hold(counting, enough=counting.enough, stops=stops)
    return found.ended, counting.certificate()


def test_a_run_ends_at_the_first_batch_after_which_its_mode_is_certain() -> None:
    ended, found = held(lambda trial_id: answered("no" if trial_id == 5 else "yes"))
    assert (ended.stop_reason, ended.incomplete, ended.k_attempted) == ("completed", False, 16)
    assert ended.notes == "certified after 16 trials: the most frequent outcome is yes (alpha 0.05)"
    assert found.trials == 16


def test_a_run_whose_mode_never_is_certain_goes_on_to_its_end() -> None:
    ended, found = held(lambda trial_id: answered("yes" if trial_id % 2 else "no"))
    assert (ended.stop_reason, ended.notes, ended.k_attempted) == ("k_max_reached", None, 40)
    assert found.mode is None


def test_an_interrupt_outranks_what_is_certain() -> None:
    # Two trials at once, each of a second: the third batch ends after 6 seconds.
    ended, found = held(lambda trial_id: answered("yes"), stops={5.5: 1})
    assert found.mode is not None
    assert (ended.stop_reason, ended.incomplete, ended.notes) == ("user_interrupt", True, None)


def test_an_answer_that_breaks_its_contract_is_no_decision() -> None:
    _, found = held(lambda trial_id: answered("perhaps") if trial_id % 3 else None)
    assert found.mode is not None
    assert found.mode.label is None
    assert [one.count for one in found.labels] == [0, 0]
