"""A study as its file says it: cases, arms with their budgets, how answers are scored, what is compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from moot import bounded_yaml
from moot.cases.texts import a_text
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.faults import line
from moot.protocols.kernel.frozen import MAX_WHOLE

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=40)]
"""Of a study, or of an arm; a part of the paths of its logs."""

Seed = Annotated[int, Field(ge=-MAX_WHOLE, le=MAX_WHOLE)]

MOST_CASES: Final = 1_000_000


class Strict(BaseModel):
    """A mapping in a study's file: it has the keys that it may have and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class CasesFrom(Strict):
    """Where cases come from.

    Attributes:
        source: A generator's name, or the path of a file of JSON Lines, from the study's own folder.
        seed: Of a generator.
        count: How many; of a file, the first so many, by default all.
    """

    source: Annotated[str, Field(alias="from", min_length=1)]
    seed: Seed = 1
    count: Annotated[int, Field(ge=1, le=MOST_CASES)] | None = None


class ArmIs(Strict):
    """One arm.

    Attributes:
        is_: What it is: single, vote, debate and so on, or `package.module:Class`.
        budget: Calls for an answer; the name of another arm gives as many as that one used for the same case.
        minds: What fills a seat: "simulated", "package.module:Class", {model: NAME}.
        model: A language model for its seats: URL#NAME, or what a configuration says of one.
        usd: US dollars for an answer, where a model is paid.
        options: What else its class takes.
    """

    is_: Annotated[str, Field(alias="is", min_length=1)]
    budget: Annotated[int, Field(ge=1, le=1000)] | Name
    minds: dict[str, Any] = Field(default_factory=dict)
    model: str | dict[str, Any] | None = None
    usd: Annotated[float, Field(ge=0)] = 0.0
    options: dict[str, Any] = Field(default_factory=dict)


class Compared(Strict):
    """The comparison that decides the study.

    Attributes:
        arm: Which arm is expected to be better.
        than: Than which.
        score: In what.
        cost: Whether both are claimed to cost the same.
    """

    arm: Name
    than: Name
    score: Annotated[str, Field(min_length=1)]
    cost: Literal["equal", "natural"] = "equal"


class Study(Strict):
    """A study: every arm answers every case, as often as `repetitions` says, and nothing ends it earlier.

    Attributes:
        study: Its name.
        question: What it asks, in a sentence.
        cases: What is answered.
        arms: Who answers, in this order.
        score: `exact`, `number`, a generator's own, or `module:function`; None: as the generator's cases are scored.
        primary: What decides it; all else is exploratory.
        repetitions: Answers of each arm to each case.
        seed: Of all arms.
        logs: Whether each debate, run and panel keeps its log.
    """

    study: Name
    question: str = ""
    cases: CasesFrom
    arms: Annotated[dict[Name, ArmIs], Field(min_length=1, max_length=20)]
    score: str | None = None
    primary: Compared | None = None
    repetitions: Annotated[int, Field(ge=1, le=1000)] = 1
    seed: Seed = 1
    logs: bool = True


_KEYS: Final = sorted(
    {
        info.alias or name
        for model in (Study, CasesFrom, ArmIs, Compared)
        for name, info in model.model_fields.items()
    }
)


def read_study(path: Path) -> Study:
    """Read a study's file.

    Raises:
        BadInput: It is none; the line says where, what is wrong and what to do.
    """
    text = a_text(path)
    raw = bounded_yaml.read(text, path)
    if not isinstance(raw, dict):
        raise BadInput(f"{path}: a study is a mapping with study, cases, arms, score, primary")
    try:
        study = Study.model_validate(raw)
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]["loc"]
        where = f"{path}{_line_of(text, first)}"
        raise BadInput(f"{where}: {line(exc, 'the study', _KEYS)}") from None
    check(study, path, text)
    return study


def without_keys(study: Study) -> Study:
    """Return a study that says nowhere where the keys of its models are, for answers that ask none."""
    keys = {"key_env", "key_file"}
    arms = {
        name: arm.model_copy(
            update={"model": {field: said for field, said in arm.model.items() if field not in keys}}
        )
        if isinstance(arm.model, dict)
        else arm
        for name, arm in study.arms.items()
    }
    return study.model_copy(update={"arms": arms})


def check(study: Study, path: Path, text: str = "") -> None:
    """Find out what cannot be together.

    Raises:
        BadInput: An arm's budget names no arm before it, or arms that are compared are none, or cost unequally.
    """
    names = list(study.arms)

    def wrong(where: tuple[str, ...], why: str) -> BadInput:
        return BadInput(f"{path}{_line_of(text, where)}: {'.'.join(where)}: {why}")

    for place, (name, arm) in enumerate(study.arms.items()):
        if isinstance(arm.budget, str) and (arm.budget not in study.arms or arm.budget == name):
            raise wrong(
                ("arms", name, "budget"),
                f"there is no other arm {arm.budget!r}: name one, or give a number of calls",
            )
        if isinstance(arm.budget, str) and names.index(arm.budget) > place:
            raise wrong(
                ("arms", name, "budget"), f"{arm.budget} must stand before {name}, which asks what it used"
            )
    if (primary := study.primary) is None:
        return
    for field in ("arm", "than"):
        if getattr(primary, field) not in study.arms:
            raise wrong(
                ("primary", field), f"there is no arm {getattr(primary, field)!r}: {', '.join(names)}"
            )
    if primary.arm == primary.than:
        raise wrong(("primary", "than"), f"{primary.than} cannot be compared with itself")
    first, second = study.arms[primary.arm].budget, study.arms[primary.than].budget
    is_matched = second == primary.arm or first == primary.than
    if primary.cost == "equal" and not is_matched and first != second:
        raise wrong(
            ("primary", "cost"),
            f"{primary.arm} may use {first} calls and {primary.than} {second}: "
            f"give both the same budget, or say cost: natural",
        )


def _line_of(text: str, where: tuple[Any, ...]) -> str:
    """Return `:N` for the line that a path leads to, as far as it leads; "" where the text is not there."""
    if not text:
        return ""
    node = yaml.compose(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    found = 1
    for part in where:
        if not isinstance(node, yaml.MappingNode):
            break
        pair = next(((key, value) for key, value in node.value if key.value == str(part)), None)
        if pair is None:
            break
        found, node = pair[0].start_mark.line + 1, pair[1]
    return f":{found}"
