"""Phase 1: what a simulated reviewer commits itself to, from contract, title, field and length alone (spec 4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from moot.bots.minds.simulated.panel.clauses import Clause, Trigger, written
from moot.bots.minds.simulated.panel.measures import MEASURES
from moot.bots.minds.simulated.panel.standards import ROLES, TOPICS, Bound, Either, Emphasis, Test, Topic
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.wording import Voice, quoted
from moot.bots.tools.seeding import generator
from moot.protocols.kernel.figures import NEWEST
from moot.protocols.panel.audit import ACKNOWLEDGED
from moot.protocols.panel.contract import Contract, Dimension
from moot.protocols.panel.grammar import one_line
from moot.protocols.panel.lint_phase1 import PARAPHRASE, PLAN
from moot.protocols.panel.triggers import tokens

PHRASES: Final = Phrases("panel/reviewer")

NAME_COUNTS: Final = 3
"""A word of a dimension's name tells its topic as much as so many of its description."""
AT_HOME: Final = 2
"""So much more likely is a topic of the contract's own domain, if anything points to it."""
LEAST_SIGN: Final = 3
"""With less that points to a topic, a dimension is of the general one."""
MOST_ABOUT: Final = 4
"""A dimension of the general topic is looked for by so many words of its own."""
MOST_DESCRIBED: Final = 400
MOST_QUOTED: Final = 60
MOST_GAPS: Final = 5

_WORD: Final = re.compile(r"[^\W\d_]+")
NOBODY: Final = Emphasis("I was sent to review it", {})


def commitment(
    role: str,
    contract: Contract,
    title: str,
    field: str,
    word_count: int,
    gaps: Sequence[str],
    seed: int,
    version: int = NEWEST,
) -> str:
    """Write Phase 1.

    Args:
        role: Who reviews.
        contract: What it will judge by.
        title: Of the paper; with field and word count all that is known of it.
        field: The paper's field.
        word_count: How long it is; longer texts owe more sources.
        gaps: What the lint said of a first attempt.
        seed: The society's; with role, contract, title and field it chooses words and draws the bounds.
        version: The log's rules version.
    """
    rng = generator("panel", seed, "plan", role, contract.contract_id, title, field)
    voice, emphasis = Voice(rng, version), ROLES.get(role, NOBODY)
    dimensions = contract.acceptance_dimensions
    topics = [topic_of(one, contract) for one in dimensions]
    facts = {"says": emphasis.says, "title": shown(title), "field": shown(field), "words": str(word_count)}
    parts = [f"## {PARAPHRASE}", voice.say(PHRASES["openings"], **facts)]
    if gaps:
        parts.append(PHRASES["again"][0].format(gaps="; ".join(shown(gap) for gap in gaps[:MOST_GAPS])))
    parts += [
        voice.say(
            PHRASES["paraphrases"],
            id=one.id,
            name=one.name,
            priority=one.priority,
            description=_described(one.description),
            looks_for=TOPICS[topic].looks_for,
        )
        for one, topic in zip(dimensions, topics, strict=True)
    ]
    if notes := _notes(contract):
        parts.append(PHRASES["noted"][0].format(notes="; ".join(map(shown, notes))))
    parts.append(f"## {PLAN}")
    for one, topic in zip(dimensions, topics, strict=True):
        block, warn = triggers_for(one, topic, emphasis, word_count, rng)
        parts.append(
            f"### {one.id}: {one.name}\ndimension_id: {one.id}\nwhat_to_look_for: {TOPICS[topic].looks_for}\n"
            f"what_triggers_block: {written(block)}\nwhat_triggers_warn: {written(warn)}"
        )
    return "\n\n".join((*parts, ACKNOWLEDGED)) + "\n"


def shown(text: str) -> str:
    """Quote what others wrote: in one line, without the brackets of tags, so that it stands for itself only."""
    return quoted(one_line(text, 120).translate(str.maketrans("[]“”", "()''")))


def cut(text: str) -> str:
    """Cut a quotation at a blank."""
    if len(text) <= MOST_QUOTED:
        return text
    return (text[:MOST_QUOTED].rpartition(" ")[0] or text[:MOST_QUOTED]) + "…"


def topic_of(dimension: Dimension, contract: Contract) -> str:
    """Return what a dimension is about, by the words of its name and description; `general` when nothing tells."""
    name: list[str] = _WORD.findall(dimension.name)
    description: list[str] = _WORD.findall(dimension.description.casefold())
    home = contract.contract_id.partition("/")[0]

    def sign(topic: Topic) -> int:
        points = tuple(topic.points.split())
        if not points:
            return 0
        found = sum(word.startswith(points) for word in (*name * NAME_COUNTS, *description))
        return found + (AT_HOME if found and topic.domain == home else 0)

    best = max(TOPICS, key=lambda key: sign(TOPICS[key]))
    return best if sign(TOPICS[best]) >= LEAST_SIGN else "general"


def triggers_for(
    dimension: Dimension, topic: str, emphasis: Emphasis, word_count: int, rng: np.random.Generator
) -> tuple[Trigger, Trigger]:
    """Choose what blocks and what warns; every bound is drawn once."""
    block = _drawn(TOPICS[topic].block, word_count, rng)
    warn = _drawn((*TOPICS[topic].warn, *emphasis.warn.get(topic, ())), word_count, rng)
    if topic == "general":
        about = tuple(sorted(_own_words(dimension)))[:MOST_ABOUT]
        if about:
            warn = ((Clause("", "no", 0, about),), *warn)
    return block, tuple(dict.fromkeys(warn))


def _own_words(dimension: Dimension) -> set[str]:
    return tokens(dimension.name.replace("_", " ")) or tokens(dimension.description)


def _drawn(either: Either, word_count: int, rng: np.random.Generator) -> Trigger:
    return tuple(tuple(_clause(test, word_count, rng) for test in tests) for tests in either)


def _clause(test: Test, word_count: int, rng: np.random.Generator) -> Clause:
    bound = _bound(test.bound, word_count, rng)
    if (test.relation, bound) == ("below", 1) and MEASURES[test.measure].many:
        return Clause(test.measure, "no")
    return Clause(test.measure, test.relation, bound)


def _bound(bound: Bound, word_count: int, rng: np.random.Generator) -> int:
    if bound.each:
        return min(bound.high, max(bound.low, word_count // bound.each))
    return int(rng.integers(bound.low, bound.high + 1))


def _described(description: str) -> str:
    text = one_line(description, MOST_DESCRIBED)
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _notes(contract: Contract) -> list[str]:
    amended = contract.agent_amendments
    if amended is None:
        return []
    notes = [amended.stage_specific_notes] if amended.stage_specific_notes else []
    return notes + list(amended.additional_measurement_hints or ())
