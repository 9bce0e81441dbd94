"""From where on a measure triggers a simulated reviewer, by topic and role: data, in the order of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

Relation = Literal["no", "below", "above"]
Domain = Literal["reviewer", "strategy", "architecture"]


class Bound(NamedTuple):
    """From where on something triggers: a whole number from `low` to `high` that each reviewer draws.

    Attributes:
        each: If set, the number grows by one with each so many words of the paper, from `low` to `high`.
    """

    low: int
    high: int
    each: int = 0


class Test(NamedTuple):
    """A condition on one measure: there is none of it, or it is below or above a bound."""

    measure: str
    relation: Relation = "no"
    bound: Bound = Bound(0, 0)


Either = tuple[tuple[Test, ...], ...]
"""Alternatives; each holds when all of its tests do."""


class Topic(NamedTuple):
    """What a dimension is about.

    Attributes:
        domain: Of the contracts in which it is likely; the first part of their ids.
        points: Beginnings of words by which a dimension shows that it is about this.
        looks_for: What a reviewer looks at.
        block: What triggers block.
        warn: What triggers warn.
    """

    domain: Domain
    points: str
    looks_for: str
    block: Either
    warn: Either


def _no(measure: str) -> tuple[Test]:
    return (Test(measure),)


def _below(measure: str, low: int, high: int | None = None, each: int = 0) -> tuple[Test]:
    return (Test(measure, "below", Bound(low, low if high is None else high, each)),)


def _above(measure: str, low: int, high: int | None = None) -> tuple[Test]:
    return (Test(measure, "above", Bound(low, low if high is None else high)),)


TOPICS: Final[Mapping[str, Topic]] = {
    "methodology": Topic(
        "reviewer",
        "method rigor rigour design analys statistic experiment validity reliab repeat reproduc",
        "a methods section, how many were observed, what they were compared with, and how sure the figures are",
        (_no("methods"), _no("samples")),
        (
            _below("uncertainty", 1, 2),
            _no("comparison"),
            _no("limitations"),
            (Test("p_values", "above", Bound(0, 1)), Test("intervals")),
            _above("bare_share", 40, 50),
        ),
    ),
    "accuracy": Topic(
        "reviewer",
        "domain accura fact citation literature source knowledge correct truth novel original",
        "earlier work that is cited, whether the list of references agrees with the text, and terms that are explained",
        (_no("citations"),),
        (
            _below("citations", 3, 12, 300),
            _above("unlisted", 0, 1),
            _above("uncited", 1, 3),
            _above("claims", 2, 3),
        ),
    ),
    "coherence": Topic(
        "reviewer",
        "argument coheren logic conclusion consisten reason follow contradict evidence claim support",
        "whether results and a conclusion are there, and whether the end says what was shown before it",
        (
            (Test("results"), Test("conclusion")),
            _above("new_at_the_end", 75, 85),
            _above("claims", 5, 6),
        ),
        (
            _no("results"),
            _no("conclusion"),
            _above("new_at_the_end", 50, 60),
            _above("unfounded", 0, 1),
            _above("claims", 1, 2),
            _above("hedges", 40, 50),
        ),
    ),
    "relevance": Topic(
        "reviewer",
        "cross disciplin relevance neighbour impact scope significan practic broader ethic societ audience",
        "what the result means to others, where it stops, and words that others know",
        ((Test("implications"), Test("limits")),),
        (_no("implications"), _no("limits"), _above("unexplained", 2, 4)),
    ),
    "writing": Topic(
        "reviewer",
        "writing structur clear clarity read style present languag format text organi",
        "sections in order, sentences of a bearable length, and nothing said twice",
        (
            _below("sections", 2),
            _above("sentence_length", 42, 48),
            _below("words", 80, 120),
        ),
        (
            _no("abstract"),
            _above("sentence_length", 27, 30),
            _below("reading_ease", 8, 14),
            _above("duplicates", 0),
            _above("long_sentences", 20, 25),
        ),
    ),
    "evidence": Topic(
        "strategy",
        "evidence integrit trace figure split data known provenance",
        "data that were held out, runs that are named, and prices that were known when they were used",
        (_no("held_out"), _below("numbers", 3, 5)),
        (_no("traced"), _no("no_hindsight")),
    ),
    "returns": Topic(
        "strategy",
        "return profit earn cost slippage fee trade sharpe performance",
        "trades enough to tell, costs with figures, and what is earned after them",
        (_no("costs"), _no("trades"), _below("trades", 30), _below("sharpe", 0)),
        (
            _no("sharpe"),
            _below("trades", 80, 120),
            _no("spread_of_gains"),
            (Test("sharpe", "above", Bound(3, 4)),),
        ),
    ),
    "containment": Topic(
        "strategy",
        "risk drawdown contain loss tail limit position exposure leverage",
        "the drawdown, the worst stretch, limits of positions, and when it is switched off",
        (_no("drawdown"), _above("drawdown", 35, 40), _no("switch_off")),
        (_above("drawdown", 20, 25), _no("tail"), _no("position")),
    ),
    "agreement": Topic(
        "strategy",
        "paper agree backtest fill turnover expect live account",
        "figures of the paper account beside those of the backtest, and why they differ",
        (_no("paper_account"),),
        (_no("fills"), _no("differences")),
    ),
    "fit": Topic(
        "strategy",
        "fit beside other portfolio correl divers capacity room",
        "what the desk trades already, how much this goes along with it, and the room for its size",
        (_no("others"),),
        (_no("correlation"), _no("capacity")),
    ),
    "dossier": Topic(
        "strategy",
        "dossier clarity idea rule parameter weakness",
        "rules with their parameters, weaknesses that are named, and sections in which to find them",
        (_below("sections", 2, 3),),
        (_no("parameters"), _no("limitations"), _above("sentence_length", 28, 32)),
    ),
    "problem": Topic(
        "architecture",
        "problem fault shown record need occur motivat",
        "a problem that records show: how often it occurred and what it cost",
        ((Test("problem"), Test("records")), _below("numbers", 2, 3)),
        (_no("problem"), _no("records"), _no("harm")),
    ),
    "change": Topic(
        "architecture",
        "change contain scope limit right duty loosen boundary",
        "what changes and what stays, and that no safeguard is loosened",
        (_above("loosens", 0),),
        (_no("unchanged"), _no("stays")),
    ),
    "outcome": Topic(
        "architecture",
        "outcome measur threshold date figure metric success tell",
        "a figure with a threshold, and the day on which it is looked at",
        (_no("threshold"),),
        (_no("deadline"),),
    ),
    "way_back": Topic(
        "architecture",
        "way back undo undone rollback revert revers sign cycle",
        "how it is undone, by whom and at which sign",
        (_no("undo"),),
        (_no("undone_by"), _no("undone_when")),
    ),
    "proposal": Topic(
        "architecture",
        "proposal clarity build ask clear",
        "steps for the one who builds it, in sections, in sentences that can be read",
        (_below("sections", 2, 3),),
        (_below("steps", 2, 3), _above("sentence_length", 28, 32)),
    ),
    "general": Topic(
        "reviewer",
        "",
        "passages on it, and figures for what they say",
        ((Test("numbers"), Test("citations")),),
        (_below("numbers", 2, 4), _no("limits")),
    ),
}
"""`general` is for a dimension of which nothing else is known; tests for its own words go before."""


class Emphasis(NamedTuple):
    """What a role looks at more closely.

    Attributes:
        says: What it says of itself.
        warn: What warns it besides, by topic.
    """

    says: str
    warn: Mapping[str, Either]


ROLES: Final[Mapping[str, Emphasis]] = {
    "eic": Emphasis(
        "I answer for the whole, and look at how it is put together",
        {
            "writing": (_below("sections", 3, 4),),
            "coherence": (_above("duplicates", 0),),
            "dossier": (_below("sections", 4, 5),),
            "proposal": (_below("sections", 3, 4),),
        },
    ),
    "methodology": Emphasis(
        "I look at design and figures first",
        {
            "methodology": (_no("repeatable"), _no("intervals")),
            "evidence": (_below("held_out", 2),),
            "outcome": (_below("threshold", 2),),
            "problem": (_below("records", 2),),
        },
    ),
    "domain": Emphasis(
        "I know the field, and look at its sources and terms",
        {
            "accuracy": (_below("references", 3, 4),),
            "returns": (_below("costs", 1, 2),),
            "fit": (_no("capacity"),),
        },
    ),
    "perspective": Emphasis(
        "I come from next door, and ask what others make of it",
        {
            "relevance": (_below("implications", 1, 2),),
            "writing": (_above("unexplained", 2, 4),),
            "dossier": (_above("unexplained", 4, 6),),
        },
    ),
    "da": Emphasis(
        "I argue against it, and look for what is claimed beyond what is shown",
        {
            "coherence": (_above("claims", 0, 1),),
            "methodology": (_below("limits", 1, 2),),
            "returns": (_above("sharpe", 2, 3),),
            "containment": (_below("tail", 1, 2),),
        },
    ),
}
