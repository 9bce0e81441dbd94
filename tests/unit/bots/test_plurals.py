"""One of a thing is written in the singular, from rules version 4 on; older logs go on in their own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Formatter
from types import SimpleNamespace

import numpy as np
import pytest

from moot.bots.minds.simulated.phrases import HERE, Phrases, PhrasesError, checked
from moot.bots.minds.simulated.wording import CHOICE, Voice, worded
from moot.protocols.research.messages import MetaReflection
from moot.protocols.research.triggers import ApproveRate

FILES = sorted(
    str(path.relative_to(HERE).with_suffix(""))
    for path in HERE.glob("*/*.toml")
    if path.stem not in ("measures", "standards", "catalogue")
)

COUNTS = frozenset(
    [
        "trades",
        "approved",
        "cycles",
        "failed",
        "count",
        "total",
        "tried",
        "passed",
        "channel",
        "wins",
        "entry",
        "positive",
        "evidence",
        "trials",
        "minutes",
        "ahead",
        "words",
        "raised",
        "standing",
        "drawn",
        "relatives",
    ]
)
"""Facts that are numbers of things; averages of one day, and figures with decimals, are not among them."""

VERBS = frozenset({"was", "is", "has", "stays", "stands", "asks", "argues", "speaks", "shows", "does"})


def _sentences() -> Iterator[tuple[str, str]]:
    for name in FILES:
        for key, variants in Phrases(name).items():
            for one in variants:
                yield f"{name}, {key}", one


def _facts(template: str, value: str) -> dict[str, str]:
    named = {field for _, field, _, _ in Formatter().parse(template) if field}
    return {name: value if name in COUNTS else "x" for name in named}


SENTENCES = list(_sentences())


@pytest.mark.parametrize(("where", "template"), SENTENCES)
def test_no_sentence_of_a_simulated_seat_has_a_plural_of_one(where: str, template: str) -> None:
    said = worded(template, _facts(template, "1"))
    plurals = [word for word in re.findall(r"(?<![\d.,])\b1 ([a-z]+s)\b(?! \d)", said) if word not in VERBS]
    assert plurals == [], (where, said)
    assert not re.search(r"\b1 [a-z]+ (?:are|were|have|do)\b", said), (where, said)
    assert "[" not in said and "]" not in said


@pytest.mark.parametrize(("where", "template"), SENTENCES)
def test_several_have_plurals_and_old_logs_have_them_always(where: str, template: str) -> None:
    plain = CHOICE.sub(lambda found: found["plural"], template)
    for value in ("0", "2", "11", "21", "101", "no"):
        facts = _facts(template, value)
        assert worded(template, facts) == plain.format(**facts)
    facts = _facts(template, "1")
    assert worded(template, facts, has_singulars=False) == plain.format(**facts)


@pytest.mark.parametrize(
    ("key", "facts", "now", "before"),
    [
        (
            "recommend.fine",
            {"approved": "1", "total": "5"},
            "go on as it is: 1 approval in 5 debates",
            "go on as it is: 1 approvals in 5 debates",
        ),
        (
            "recommend.fine",
            {"approved": "1", "total": "1"},
            "go on as it is: 1 approval in 1 debate",
            "go on as it is: 1 approvals in 1 debates",
        ),
        (
            "recommend.fine",
            {"approved": "0", "total": "5"},
            "go on as it is: 0 approvals in 5 debates",
            "go on as it is: 0 approvals in 5 debates",
        ),
        (
            "recommend.failed",
            {"failed": "1", "approved": "2"},
            "approvals failed their backtest 1 time in 2; more weight on validation",
            "approvals failed their backtest 1 times in 2; more weight on validation",
        ),
        (
            "watch.low_sharpe",
            {"count": "1", "failed": "3"},
            "1 of 3 failures was approved and lost its edge on unseen data",
            "1 of 3 failures were approved and lost their edge on unseen data",
        ),
        (
            "failed_by.few_trades",
            {"how": "it", "trades": "1", "test": "0.40"},
            "it made 1 trade on unseen data, too few for its Sharpe of 0.40 to count",
            "it made 1 trades on unseen data, too few for its Sharpe of 0.40 to count",
        ),
        (
            "recommend.silences",
            {"count": "1"},
            "1 deadline was missed; answer shorter rather than late",
            "1 deadlines were missed; answer shorter rather than late",
        ),
    ],
)
@pytest.mark.rule("R-G17")
def test_a_voice_speaks_by_the_rules_of_its_log(
    key: str, facts: dict[str, str], now: str, before: str
) -> None:
    said = Phrases("debate/evolver")[key]
    for version in (2, 3):
        assert Voice(np.random.default_rng(1), version).say(said, **facts) == before
    assert Voice(np.random.default_rng(1), 4).say(said, **facts) == now
    assert Voice(np.random.default_rng(1)).say(said, **facts) == now


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = ['trade[s] of {count}']", "goes by no fact"),
        ("a = ['{count} trade[s|x|other]']", "goes by no fact"),
        ("a = ['{count} trade[s']", "a choice is written as"),
        ("a = ['{count} trade[S]']", "a choice is written as"),
    ],
)
def test_a_choice_that_goes_by_nothing_is_refused(text: str, why: str) -> None:
    with pytest.raises(PhrasesError, match=why):
        checked("it", text)


@pytest.mark.rule("R-G17")
@pytest.mark.parametrize(("version", "noun"), [("3", "debates"), ("4", "debate")])
def test_an_escalation_over_one_debate_is_worded_by_the_rules_of_its_log(version: str, noun: str) -> None:
    body = MetaReflection.model_construct(
        total_debates=1, explorer_win_rate=0.0, period="2026-W09", type="META_REFLECTION"
    )
    context = SimpleNamespace(version=int(version))
    found = ApproveRate().changes(
        SimpleNamespace(body=body, seq=7),  # type: ignore[arg-type]
        SimpleNamespace(violation=None),  # type: ignore[arg-type]
        SimpleNamespace(context=context),  # type: ignore[arg-type]
    )
    assert [one.context for one in found] == [f"0 of 1 {noun} of 2026-W09 ended in approval"]
