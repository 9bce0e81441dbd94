"""The contract that a panel judges by: its models, its hard invariants, its hash (spec 1 to 3).

A contract is frozen all the way down. A whole number is written as one: `5.0` and `true` are none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from moot.protocols.kernel.errors import ProtocolError
from moot.protocols.kernel.message import Part
from moot.protocols.panel.contract_fields import DISTINCT, LEFT_OUT, UNLESS_NONE, DateTime, Minimum, Words

Score = Literal["pass", "warn", "block"]
Priority = Literal["mandatory", "high", "normal"]
Quantifier = Literal["any", "majority", "all"]
Mode = Literal[
    "reviewer_full",
    "reviewer_methodology_focus",
    "reviewer_re_review",
    "reviewer_calibration",
    "reviewer_guided",
    "writer_full",
    "evaluator_full",
]
Action = Literal[
    "editorial_decision=accept",
    "editorial_decision=minor_revision",
    "editorial_decision=major_revision",
    "editorial_decision=reject_or_major_revision",
    "editorial_decision=reject",
]
ScoringField = Literal["dimension_id", "what_to_look_for", "what_triggers_block", "what_triggers_warn"]

REVIEWER: Final = "reviewer_"
"""How the modes of review panels begin."""

QUANTIFIER: Final = "cross_reviewer_quantifier"

SCORES: Final[tuple[Score, ...]] = get_args(Score)
"""From best to worst: pass < warn < block."""
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
ACCEPT: Final[Action] = "editorial_decision=accept"

ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "reviewer_full": ("eic", "methodology", "domain", "perspective", "da"),
    "reviewer_methodology_focus": ("eic", "methodology"),
}
"""Who sits on a panel, by mode (spec 7); a mode without a row has no template and cannot be run (R-P6)."""

REVIEWER_FIELDS: Final = ("panel_size", "measurement_procedure")
"""Fields that contracts of review panels have, and those of writers and evaluators have not."""

RUNTIME: Final = frozenset({"generated_at", "agent_amendments"})
"""What may be set after a template was loaded (spec 3); every other field is a baseline field."""


class ContractError(ProtocolError):
    """Say in one line what is wrong with a contract.

    Attributes:
        problem: What is wrong.
        where: The field (`failure_conditions[1].severity`), a file, or "" for the contract as a whole.
    """

    def __init__(self, problem: str, where: str = "") -> None:
        """Keep problem and place."""
        super().__init__(f"{where}: {problem}" if where else problem)
        self.problem = problem
        self.where = where


class Dimension(Part):
    """One thing that every reviewer scores block, warn or pass."""

    id: Annotated[str, Field(pattern="^D[1-9][0-9]?$")]
    name: Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
    description: Words
    priority: Priority


class ScoringPlanSchema(Part):
    """The lines that Phase 1 holds for each dimension: the four that there are, in any order."""

    required: Annotated[tuple[ScoringField, ...], Field(min_length=4), DISTINCT]


class MeasurementProcedure(Part):
    """What a reviewer commits itself to before it sees the work."""

    reviewer_must_output_before_paper: Annotated[tuple[Words, ...], Field(min_length=2)]
    scoring_plan_schema: ScoringPlanSchema
    paraphrase_minimum_dimensions: Minimum


class FailureCondition(Part):
    """What follows from which scores; `expression` is parsed by `moot.protocols.panel.expression`."""

    condition_id: Annotated[str, Field(pattern="^F(0|[1-9][0-9]?)$")]
    severity: Annotated[int, Field(ge=0, le=100)]
    expression: Words
    action: Action
    cross_reviewer_quantifier: Annotated[Quantifier | None, LEFT_OUT, UNLESS_NONE] = None


class Rung(Part):
    """A step of the override ladder; nothing reads it."""

    round: Annotated[int, Field(ge=1, le=3)]
    trigger: str
    required: tuple[str, ...]


Ladder = Annotated[tuple[Rung, ...], Field(min_length=3, max_length=3)]
"""Rounds 1, 2 and 3, in order."""

Note = Annotated[str, Field(max_length=500)]


class Amendments(Part):
    """What may be noted for one paper when the contract is put before a panel."""

    stage_specific_notes: Annotated[Note | None, LEFT_OUT, UNLESS_NONE] = None
    additional_measurement_hints: Annotated[tuple[Words, ...] | None, LEFT_OUT, UNLESS_NONE] = None


class Contract(Part):
    """A machine-checkable acceptance criterion, written down before the work is seen.

    Conditions stand in the order that breaks ties of severity. Ids and names are unique; there is an F0 that
    accepts; in reviewer modes each condition has a quantifier.
    """

    contract_id: Annotated[str, Field(pattern="^[a-z_]+/[a-z_]+/v[0-9]+$")]
    mode: Mode
    stage: Words
    baseline_version: Annotated[str, Field(pattern=r"^v[0-9]+\.[0-9]+\.[0-9]+$")]
    panel_size: Annotated[int, Field(ge=1)]
    acceptance_dimensions: Annotated[tuple[Dimension, ...], Field(min_length=1)]
    measurement_procedure: MeasurementProcedure
    failure_conditions: Annotated[tuple[FailureCondition, ...], Field(min_length=1)]
    override_ladder: Annotated[Ladder | None, LEFT_OUT, UNLESS_NONE] = None
    agent_amendments: Annotated[Amendments | None, LEFT_OUT, UNLESS_NONE] = None
    generated_at: Annotated[DateTime | None, LEFT_OUT, UNLESS_NONE] = None

    @model_validator(mode="after")
    def _keep_invariants(self) -> Contract:
        for where, problem in _broken(self):
            raise PydanticCustomError("invariant", "{where}: {problem}", {"where": where, "problem": problem})
        return self

    @property
    def is_for_reviewers(self) -> bool:
        """Say whether the mode is one of a review panel."""
        return self.mode.startswith(REVIEWER)


def _broken(contract: Contract) -> Iterator[tuple[str, str]]:
    """Yield each invariant that does not hold: the place and the problem."""
    dimensions, conditions = contract.acceptance_dimensions, contract.failure_conditions
    yield from _repeated("acceptance_dimensions", "id", (one.id for one in dimensions))
    yield from _repeated("acceptance_dimensions", "name", (one.name for one in dimensions))
    yield from _repeated("failure_conditions", "condition_id", (one.condition_id for one in conditions))
    for n, one in enumerate(conditions):
        if contract.is_for_reviewers and one.cross_reviewer_quantifier is None:
            place = f"failure_conditions[{n}].cross_reviewer_quantifier"
            yield place, f"is required in mode {contract.mode}"
    if not any(one.condition_id == "F0" and one.action == ACCEPT for one in conditions):
        yield "failure_conditions", f"needs an entry F0 with action {ACCEPT}"
    for n, rung in enumerate(contract.override_ladder or ()):
        if rung.round != n + 1:
            yield f"override_ladder[{n}].round", f"must be {n + 1}: rounds 1, 2, 3 in order"


def _repeated(where: str, field: str, values: Iterable[str]) -> Iterator[tuple[str, str]]:
    first: dict[str, int] = {}
    for n, value in enumerate(values):
        if value in first:
            yield f"{where}[{n}].{field}", f"{value} is the {field} of entry {first[value]} too"
        first.setdefault(value, n)


def contract_from(value: object) -> Contract:
    """Read a contract from JSON data.

    Args:
        value: What a JSON reader returned: dicts, lists, texts, numbers.

    Raises:
        ContractError: It breaks the schema or an invariant; the first fault is named, and how many more there are.
    """
    try:
        return Contract.model_validate_json(json.dumps(value))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        where, problem = _fault(faults[0])
        raise ContractError(problem + more, where) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise ContractError(f"is not JSON data: {str(error).splitlines()[0]}") from None


def checked(value: object) -> Contract:
    """Read a contract from JSON data as its author is to write it.

    A writer's or evaluator's contract has none of a reviewer's fields; logs may hold older ones that have, so that
    `contract_from` takes those, too. What is returned for one without has the fields of a panel of two, and can
    be neither run nor verified.

    Args:
        value: What a JSON reader returned.

    Raises:
        ContractError: As for `contract_from`; or the mode is no reviewer's, and a reviewer's field stands there.
    """
    mode = value.get("mode") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or mode not in get_args(Mode) or str(mode).startswith(REVIEWER):
        return contract_from(value)
    if found := list(_reviewer_fields(value)):
        more = f" (and {len(found) - 1} more: {', '.join(found[1:4])})" if len(found) > 1 else ""
        raise ContractError(
            f"is a field of review panels, and mode {mode} is none: remove it, or choose a mode that begins with "
            f"{REVIEWER}{more}",
            found[0],
        )
    return contract_from({**value, **_PANEL_OF_TWO})


def _reviewer_fields(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the places of a contract's fields that only a review panel has."""
    yield from (field for field in REVIEWER_FIELDS if field in value)
    conditions = value.get("failure_conditions")
    for n, one in enumerate(conditions if isinstance(conditions, list) else ()):
        if isinstance(one, Mapping) and QUANTIFIER in one:
            yield f"failure_conditions[{n}].{QUANTIFIER}"


_PANEL_OF_TWO: Final[Mapping[str, Any]] = {
    "panel_size": 2,
    "measurement_procedure": {
        "reviewer_must_output_before_paper": ["contract_paraphrase", "scoring_plan"],
        "scoring_plan_schema": {"required": list(get_args(ScoringField))},
        "paraphrase_minimum_dimensions": "all",
    },
}


def _fault(fault: ErrorDetails) -> tuple[str, str]:
    if fault["type"] == "invariant":
        return fault["ctx"]["where"], fault["ctx"]["problem"]
    if fault["type"] == "json_invalid":  # after json.dumps, half of a surrogate pair is the only reason
        return "", "a text in it is not valid Unicode"
    where = ""
    for part in fault["loc"]:
        if isinstance(part, int):
            where += f"[{part}]"
        elif part.isidentifier() and len(part) <= 60:
            where += f".{part}" if where else part
        else:
            where += f"[{part[:60]!a}]"
    problem = fault["msg"].removeprefix("Value error, ").replace("Tuple", "Array")
    return where, " ".join(problem.split())


def as_json(contract: Contract) -> dict[str, Any]:
    """Return a contract as new JSON data, without what it leaves out."""
    return contract.model_dump(mode="json")


def prepared(contract: Contract, generated_at: datetime, amendments: Amendments | None = None) -> Contract:
    """Return the contract as it is put before a panel: a copy with the runtime fields, and no other change (spec 3).

    Args:
        contract: As loaded.
        generated_at: When it is put before the panel.
        amendments: What is noted for this work; None: what the contract itself carries.

    Raises:
        ValueError: The instant has no time zone.
    """
    baseline = {name: value for name, value in contract if name not in RUNTIME}
    amended = contract.agent_amendments if amendments is None else amendments
    fields = {**baseline, "generated_at": generated_at, "agent_amendments": amended}
    return Contract(**{name: value for name, value in fields.items() if value is not None})


def baseline_sha256(contract: Contract) -> str:
    """Return the hex SHA-256 of the baseline fields, for the audit log (spec 3).

    It is taken of their UTF-8 JSON with sorted keys, no blanks and non-ASCII kept, as K15 hashes envelopes.
    """
    baseline = {name: value for name, value in as_json(contract).items() if name not in RUNTIME}
    text = json.dumps(baseline, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def ineligibility(contract: Contract) -> str | None:
    """Say why a contract cannot be run or verified; None when it can (R-P6)."""
    roles = ROLES.get(contract.mode)
    if roles is None:
        return f"mode {contract.mode} has no template: the modes that have one are {' and '.join(ROLES)}"
    if contract.panel_size != len(roles):
        return f"panel_size is {contract.panel_size}: mode {contract.mode} needs {len(roles)}"
    return None


def eligible(contract: Contract) -> bool:
    """Say whether a contract can be run or verified: a mode with a template, and its exact panel size."""
    return ineligibility(contract) is None
