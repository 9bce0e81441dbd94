"""What a study's file names: generators, arms, scorers."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from moot.compare.arms.arm import Arm
from moot.compare.arms.vote import Vote
from moot.compare.cases.case import DOCUMENT, MARKET, QUESTION, Case, Cases, Scorer
from moot.compare.cases.own import read_cases
from moot.compare.study import ArmIs, CasesFrom, Study
from moot.config.protocols import import_named
from moot.minds.choosing import told
from moot.protocols.kernel.errors import BadInput

ARMS: Final[Mapping[str, Mapping[str, str]]] = {
    "single": {
        MARKET: "moot.compare.arms.single:SingleJudge",
        DOCUMENT: "moot.compare.arms.reading:OneReader",
        QUESTION: "moot.compare.arms.motions:SingleAnswer",
    },
    "arena": {QUESTION: "moot.compare.arms.arena:ArenaRun"},
    "panel": {DOCUMENT: "moot.compare.arms.panel:ReviewPanel"},
    "solver": {QUESTION: "moot.compare.arms.solving:OneSolver"},
    "debate": {
        MARKET: "moot.compare.arms.debate_a:ResearchDebate",
        QUESTION: "moot.compare.arms.motions:MotionDebate",
    },
}
"""Classes of arms by their names and the kind of case that they take."""

VOTE: Final = "vote"
"""The arm that asks another one again and again: the one that its option `of` names, or `single`."""

GENERATORS: Final[Mapping[str, str]] = {
    "markets": "moot.compare.cases.markets:Markets",
    "documents": "moot.compare.cases.documents:Documents",
    "questions": "moot.compare.cases.questions:Questions",
}


SCORERS: Final[Mapping[str, str]] = {
    name: f"moot.compare.scoring:{name}" for name in (*GENERATORS, "exact", "number")
}


def cases_of(given: CasesFrom, folder: Path) -> Cases:
    """Return the cases of a study.

    Args:
        given: What the study says.
        folder: Of the study's file.

    Raises:
        BadInput: There is no such generator or file, or a case in it cannot be used.
    """
    if given.source in GENERATORS:
        made: Cases = named(GENERATORS[given.source], "cases.from")(given.seed, given.count or 100)
        return made
    path = file_of(given, folder)
    if not path.exists():
        known = ", ".join(GENERATORS)
        raise BadInput(f"cases.from: there is no {path}: name a file of JSON Lines, or one of {known}")
    return read_cases(path, given.count)


def file_of(given: CasesFrom, folder: Path) -> Path:
    """Return the file of cases that a study names; its directory keeps a copy under the file's own name."""
    path = folder / given.source
    return path if path.exists() else folder / Path(given.source).name


def arms_of(study: Study, kind: str) -> dict[str, Arm]:
    """Make the arms of a study, for a kind of case.

    Raises:
        BadInput: There is no such class, it does not take the cases, or not the budget.
    """
    return {name: _arm(f"arms.{name}", one, kind) for name, one in study.arms.items()}


def _arm(where: str, given: ArmIs, kind: str) -> Arm:
    if given.is_ == VOTE:
        of = str(given.options.get("of", "single"))
        options = {name: value for name, value in given.options.items() if name != "of"}
        arm: Arm = Vote(_made(where, given.model_copy(update={"is_": of, "options": options}), kind))
    else:
        arm = _made(where, given, kind)
    if kind not in arm.kinds:
        raise BadInput(f"{where}: {given.is_} takes no cases of the kind {kind}, but {_listed(arm.kinds)}")
    if isinstance(given.budget, int) and given.budget < arm.least:
        raise BadInput(f"{where}.budget: {given.is_} needs up to {arm.least} calls, not {given.budget}")
    return arm


def _made(where: str, given: ArmIs, kind: str) -> Arm:
    by_kind = ARMS.get(given.is_)
    if by_kind is not None and kind not in by_kind:
        raise BadInput(f"{where}: {given.is_} takes no cases of the kind {kind}, but {_listed(by_kind)}")
    dotted = by_kind[kind] if by_kind is not None else given.is_
    if ":" not in dotted:
        known = ", ".join((*ARMS, VOTE))
        raise BadInput(f"{where}.is: there is no arm {given.is_!r}: {known}, or package.module:Class")
    made = named(dotted, f"{where}.is")
    if not (isinstance(made, type) and issubclass(made, Arm)):
        raise BadInput(f"{where}.is: {dotted} is no Arm")
    takes = inspect.signature(made).parameters
    filling = {name: value for name in ("minds", "model", "usd") if (value := getattr(given, name))}
    options = {**filling, **given.options}
    takes_all = any(one.kind is one.VAR_KEYWORD for one in takes.values())
    if not takes_all and (unknown := [name for name in options if name not in takes]):
        what = f"it takes {', '.join(takes)}" if takes else "leave it out"
        raise BadInput(f"{where}: {given.is_} takes no {unknown[0]!r} for {kind} cases: {what}")
    try:
        arm: Arm = made(**options)
    except BadInput as exc:
        raise BadInput(f"{where}: {exc}") from None
    except (TypeError, ValueError) as exc:
        raise BadInput(f"{where}: {given.is_} cannot be made: {told(exc)}") from None
    return arm


def _listed(kinds: Iterable[str]) -> str:
    return ", ".join(sorted(kinds))


def scorer_of(study: Study) -> Scorer:
    """Return what scores answers.

    Raises:
        BadInput: There is none.
    """
    dotted = dotted_scorer(study)
    found: Scorer = named(dotted, "score")
    if not callable(found):
        raise BadInput(f"score: {dotted} cannot be called")
    return found


def dotted_scorer(study: Study) -> str:
    """Return what scores answers as `module:function`.

    Raises:
        BadInput: The study names none that there is.
    """
    name = study.score or (study.cases.source if study.cases.source in GENERATORS else "exact")
    dotted = SCORERS.get(name, name)
    if ":" not in dotted:
        raise BadInput(f"score: there is no {name!r}: choose {', '.join(SCORERS)}, or module:function")
    return dotted


def named(dotted: str, where: str) -> Any:
    """Import what `package.module:name` names.

    Raises:
        BadInput: There is no such thing.
    """
    module_name, _, attribute = dotted.partition(":")
    try:
        return getattr(import_named(module_name), attribute)
    except ImportError as exc:
        raise BadInput(f"{where}: {module_name} cannot be imported: {' '.join(str(exc).split())}") from None
    except AttributeError:
        raise BadInput(f"{where}: {module_name} has no {attribute}") from None


def scored(scorer: Scorer, case: Case, answer: Any, place: str = "") -> dict[str, tuple[float, float]]:
    """Score an answer.

    Raises:
        BadInput: The scorer raises, or gives what is no score; the line names the case.
    """
    try:
        given = scorer(case, answer)
        return {str(name): (float(part), float(of)) for name, (part, of) in given.items()}
    except Exception as exc:
        name = f"{getattr(scorer, '__module__', '')}:{getattr(scorer, '__name__', 'scorer')}"
        why = " ".join(str(exc).split())[:200]
        where = f"{place}: case {case.id}" if place else f"case {case.id}"
        raise BadInput(f"{where}: {name} raised {type(exc).__name__}: {why}") from None
