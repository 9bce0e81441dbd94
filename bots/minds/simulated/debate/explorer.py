"""The Explorer's opening: a search on the train split, a note about it, a hypothesis."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Final

from moot.bots.minds.mind import Aside, Reply
from moot.bots.minds.simulated.debate.criteria import CRITERIA, archetypes_in, listed, speaks_against, spoken
from moot.bots.minds.simulated.debate.evidence import is_gone, named
from moot.bots.minds.simulated.debate.lessons import (
    Trial,
    failing,
    is_legal,
    near_miss,
    record_of,
    room_for,
)
from moot.bots.minds.simulated.debate.points import days
from moot.bots.minds.simulated.debate.repair import changes
from moot.bots.minds.simulated.debate.search import Candidate, Plan, candidates
from moot.bots.minds.simulated.debate.specs import part_of, spec_of
from moot.bots.minds.simulated.phrases import Phrases
from moot.bots.minds.simulated.turn import Answers, Turn
from moot.bots.minds.simulated.wording import (
    briefly,
    headline,
    paragraph,
    percent,
    quoted,
    sentence,
    two,
    unplaced,
)
from moot.bots.tools.backtest import backtest
from moot.bots.tools.risk import assess
from moot.bots.tools.splits import splits
from moot.bots.tools.strategies import ARCHETYPES, StrategySpec
from moot.bots.tools.universe import Universe
from moot.bots.tools.wording import describe, triggers
from moot.protocols.research.messages import CycleTrigger, ExpectedTraits, Hypothesis, ResearchNote
from moot.protocols.research.seats import EXPLORER

PHRASES: Final = Phrases("debate/explorer")

RESEARCH = "#a-research"
FOLLOWS, LEAVES = 1.6, 0.25
"""Factors on the weight of an archetype that the standing direction asks for, or warns of."""

FACTOR_WEIGHTS = ("momentum_weight", "reversal_weight", "volatility_weight")

LOOKED_UP = 6
"""So many records at most are named as sources."""


def hypothesis(turn: Turn) -> Reply:
    """Propose the strategy that looks best on train."""
    plan = plan_of(turn)
    found = candidates(plan, turn.universe, turn.pool, turn.rng("search"), turn.temper)
    best = found[0]
    body = _hypothesis(turn, plan, found)
    note = _note(turn, plan, found)
    assert best.spec.archetype == body.strategy.archetype
    return Reply(body, (Aside(RESEARCH, note),))


def plan_of(turn: Turn) -> Plan:
    """Decide where to search: by principles, what the desk saw, direction, notes and earlier trials."""
    direction = _direction(turn)
    shunned = _shunned(turn)
    weights = {
        name: 0.0
        if name in shunned
        else (1.0 - turn.said_against(name)[0]) ** 2
        * turn.live.factor(name, turn.temper)
        * record_of(turn.trials, name)
        * room_for(turn.pool, name)
        for name in ARCHETYPES
    }
    is_broad = "diversify" in direction.casefold()
    if is_broad:
        # With no archetype named, those that failed most today are meant.
        recent = failing(turn.trials, turn.now, timedelta(hours=24))
        left = archetypes_in(direction) or tuple(sorted(recent, key=lambda name: (-recent[name], name))[:2])
        weights.update(dict.fromkeys(left, 0.0))
    elif named := archetypes_in(direction):
        factor = LEAVES if speaks_against(direction) else FOLLOWS
        weights.update({name: weights[name] * factor for name in named})
    symbols = turn.live.allowed(turn.universe.symbols)
    wished = [name for note in turn.notes if not note.is_against for name in note.archetypes]
    if wished:
        weights = {name: float(name in wished) for name in ARCHETYPES}
    for note in turn.notes:
        if note.is_against:
            weights.update(dict.fromkeys(note.archetypes, 0.0))
        if note.symbols:
            others = tuple(one for one in symbols if one not in note.symbols)
            symbols = (others or symbols) if note.is_against else note.symbols
    is_told = any(note.archetypes or note.symbols for note in turn.notes)
    again = None if is_broad or is_told or turn.view.refused else _again(turn)
    asked = tuple(dict.fromkeys(name for note in turn.notes for name in note.criteria))
    return Plan(
        weights=weights,
        symbols=symbols,
        parents={} if is_broad or is_told else _parents(turn),
        again=again,
        known=[one for trial in turn.trials for one in (trial.spec, trial.first) if one is not None]
        + list(turn.pool.specs.values()),
        watched={name: (*_learnt(turn, name), *asked) for name in ARCHETYPES},
        limits={name: turn.limit(name) for name in CRITERIA},
    )


def _direction(turn: Turn) -> str:
    trigger = turn.transcript.last(CycleTrigger)
    return (trigger.context.priority_direction or "") if trigger is not None else ""


def _shunned(turn: Turn) -> tuple[str, ...]:
    """Name the archetypes that principles forbid here, unless they forbid all."""
    bad = tuple(name for name in ARCHETYPES if turn.said_against(name)[0] >= turn.temper.shuns)
    return bad if len(bad) < len(ARCHETYPES) else ()


def _learnt(turn: Turn, archetype: str) -> tuple[str, ...]:
    """Name the scores by which an archetype failed in this market, by the principles."""
    return tuple(code for code in turn.said_against(archetype)[1] if code in CRITERIA)


def _parents(turn: Turn) -> dict[str, StrategySpec]:
    """Gather what to breed from: what is offered and the desk did not give up, what was recalled, what thrives."""
    recalled = turn.view.brief.get("reevaluate", ())
    trigger = turn.transcript.last(CycleTrigger)
    offered = trigger.context.available_parents if trigger is not None else ()
    found = {}
    for parent in dict.fromkeys(
        (*(one for one in offered if not is_gone(turn.view.memory, one)), *recalled, *turn.live.thriving)
    ):
        record = turn.view.memory.strategy(parent)
        if record is not None and record.strategy is not None:
            spec = spec_of(record.strategy)
            if is_legal(spec, turn.universe):
                found[parent] = spec
    return found


def _again(turn: Turn) -> Trial | None:
    if float(turn.rng("continue").random()) >= turn.temper.continues:
        return None
    return near_miss(turn.trials, turn.now, turn.universe, turn.temper)


def _hypothesis(turn: Turn, plan: Plan, found: list[Candidate]) -> Hypothesis:
    best, voice = found[0], turn.voice
    spec = best.spec
    # The strategy beside it names the symbols.
    facts = _facts(best) | {"how": unplaced(spec)}
    again = plan.again
    if again is not None and again.spec is not None:
        record = again.record
        name = record.hypothesis_id or record.record_id
        statement = voice.say(PHRASES["continued"], hypothesis=name, **facts)
        origin = voice.say(
            PHRASES["retry"],
            hypothesis=name,
            code=spoken(record.failure_code) if record.failure_code else "the verdict",
            alpha=two(record.metrics["alpha"]),
            risk=two(record.metrics["risk"]),
            changes=changes(again.spec, spec),
        )
    else:
        statement = voice.say(PHRASES["statements"], **facts)
        origin = ""
        if best.parent:
            changed = changes(plan.parents[best.parent], spec)
            origin = voice.say(PHRASES["child"], parent=best.parent, changes=changed)
    span = splits(turn.universe).train
    shown = voice.say(
        PHRASES["train_evidence"],
        first=span.first.isoformat(),
        last=span.last.isoformat(),
        year=percent(best.train["annual_return"]),
        **facts,
    )
    said = triggers(spec)
    return Hypothesis(
        cycle_id=turn.case_id,
        lineage_id=(again.record.lineage_id or "") if again is not None else "",
        statement=sentence(statement),
        rationale=paragraph(
            _why(turn, best), origin, _second(turn, found), *_about(turn, best), *_noted(turn)
        ),
        strategy=part_of(spec),
        expected_traits=expected(spec, turn.universe),
        signal_sources=tuple(f"daily bars of {symbol}" for symbol in spec.symbols),
        entry_trigger=said.entry,
        exit_trigger=said.exit,
        evidence=(shown, *_sources(turn, plan)),
        parent_strategy_id=best.parent or None,
        regime=turn.regime,
    )


def expected(spec: StrategySpec, universe: Universe) -> ExpectedTraits:
    """Expect what train showed: that is what its author believes."""
    report = backtest(spec, universe, splits(universe).train)
    train, held = report.metrics, report.holding_days
    return ExpectedTraits(
        holding_period_days=(max(int(held / 2), 1), max(int(held * 2) + 1, 2)),
        target_sharpe=train["sharpe"],
        max_drawdown=train["max_drawdown"],
        win_rate=train["win_rate"],
        asset_class="equity",
        archetype=spec.archetype,
    )


def _facts(one: Candidate) -> dict[str, str]:
    train = one.train
    return {
        "how": describe(one.spec),
        "sharpe": two(train["sharpe"]),
        "drawdown": percent(train["max_drawdown"]),
        "trades": str(train["total_trades"]),
        "wins": percent(train["win_rate"], 0),
    }


def _why(turn: Turn, best: Candidate) -> str:
    """Say why it should earn anything, by what its trades in train show."""
    spec, train, p = best.spec, best.train, best.spec.params
    facts = {
        "wins": percent(train["win_rate"], 0),
        "trades": str(train["total_trades"]),
        "factor": f"{train['profit_factor']:.1f}",
        "held": days(backtest(spec, turn.universe, splits(turn.universe).train).holding_days),
        "weights": "/".join(f"{p[name]:g}" for name in FACTOR_WEIGHTS if name in p),
        **{name: f"{p[name]:g}" for name in ("fast", "slow", "entry", "channel") if name in p},
    }
    how = "often" if train["win_rate"] >= 0.5 else "seldom"
    return turn.voice.say(PHRASES[f"why.{spec.archetype}.{how}"], **facts)


def _second(turn: Turn, found: list[Candidate]) -> str:
    """Say which candidate came second, and why it did not come first."""
    if len(found) < 2:
        return turn.voice.say(PHRASES["alone"])
    best, runner = found[:2]
    train = runner.train
    why = "weaker"
    if train["sharpe"] > best.train["sharpe"]:
        is_rare = train["total_trades"] < turn.temper.full_trades
        why = "owned" if runner.is_owned else "rare" if is_rare else "watched"
    return turn.voice.say(
        PHRASES[f"second.{why}"],
        runner=briefly(runner.spec),
        sharpe=two(train["sharpe"]),
        trades=str(train["total_trades"]),
        count=str(len(found)),
        others=str(len(found) - 1),
    )


def _steered(turn: Turn, plan: Plan, found: list[Candidate]) -> list[str]:
    """Say what steered the search: the direction given, principles, what the desk saw."""
    if plan.again is not None:
        return []
    voice, said, best = turn.voice, [], found[0]
    archetype = spoken(best.spec.archetype)
    if direction := _direction(turn):
        asks = best.spec.archetype in archetypes_in(direction) and not speaks_against(direction)
        facts = {
            "quote": quoted(direction.split("; ", 1)[0]),
            "archetype": archetype,
            "sharpe": two(best.train["sharpe"]),
        }
        kind = "met" if asks else "free" if not archetypes_in(direction) else "otherwise"
        said.append(voice.say(PHRASES[f"direction.{kind}"], **facts))
    if shunned := [name for name in _shunned(turn) if plan.weights.get(name) == 0.0]:
        sources = dict.fromkeys(key for name in shunned for key in turn.said_against(name)[2])
        counts = Counter(one.spec.archetype for one in found)
        facts = {
            "archetypes": listed(map(spoken, shunned), "or"),
            "regime": spoken(turn.regime),
            "kinds": listed(f"{n} of {spoken(name)}" for name, n in counts.most_common()),
        }
        said.append(voice.say(PHRASES["shunned"], sources=listed(sources), **facts))
    live = turn.live
    fallen = {**live.setbacks, **live.sinking}
    if names := named(fallen):
        kinds = tuple(dict.fromkeys(fallen[one] for one in names))
        drawn = [one for one in found if one.spec.archetype in kinds]
        facts = {
            "strategies": listed(names),
            "archetypes": listed(map(spoken, kinds), "or"),
            "drawn": str(len(drawn)),
            "count": str(len(found)),
            "most": two(max(one.train["sharpe"] for one in drawn)) if drawn else "",
        }
        said.append(voice.say(PHRASES["desk_against"] if drawn else PHRASES["desk_avoided"], **facts))
    return said


def _about(turn: Turn, best: Candidate) -> list[str]:
    """Say what experience has to do with what is proposed: how its kind failed before, how its parent does."""
    voice, said = turn.voice, []
    archetype = best.spec.archetype
    if codes := _learnt(turn, archetype):
        score = assess(best.spec, turn.universe).scores[codes[0]]
        facts = {"archetype": spoken(archetype), "code": spoken(codes[0]), "score": two(score)}
        said.append(voice.say(PHRASES["learnt"], sources=listed(turn.said_against(archetype)[2]), **facts))
    if best.parent in turn.live.thriving:
        said.append(voice.say(PHRASES["desk_for"], strategy=best.parent))
    return said


def _noted(turn: Turn) -> list[str]:
    """Acknowledge what people said."""
    return [
        turn.voice.say(
            PHRASES["note"] if note.archetypes or note.symbols or note.criteria else PHRASES["note_read"],
            **note.facts,
        )
        for note in turn.notes
    ]


def _sources(turn: Turn, plan: Plan) -> tuple[str, ...]:
    """Name what was read: live results, principles, the near miss, parents, records of failures avoided."""
    live = turn.live
    read = [*named({**live.setbacks, **live.sinking}), *named(live.thriving, 1)] if plan.again is None else []
    read += [key for name in ARCHETYPES for key in turn.said_against(name)[2]]
    if plan.again is not None:
        read.append(plan.again.record.record_id)
    read += list(plan.parents)
    read += [t.record.record_id for t in turn.trials[-3:] if t.record.kind == "failure"]
    return tuple(dict.fromkeys(read))[:LOOKED_UP]


def _note(turn: Turn, plan: Plan, found: list[Candidate]) -> ResearchNote:
    voice, best = turn.voice, found[0]
    return ResearchNote(
        title=headline(
            voice.say(
                PHRASES["titles"],
                count=str(len(found)),
                regime=spoken(turn.regime),
                archetype=spoken(best.spec.archetype),
                sharpe=two(best.train["sharpe"]),
                trades=str(best.train["total_trades"]),
            )
        ),
        findings=tuple(sentence(voice.say(PHRASES["looked"], **_facts(one))) for one in found[:3])
        + tuple(map(sentence, (*_steered(turn, plan, found), *_noted(turn)))),
        sources=_sources(turn, plan),
    )


ANSWERS: Final[Answers] = {
    (EXPLORER, Hypothesis): hypothesis,
}
