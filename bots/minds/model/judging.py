"""The outputs of a panel as forms, and those written as the panel's grammar has them (spec 4, 5, 8).

What stands in the log is the model's own fields under the headings that the grammar wants. Added is only what follows
from them by the contract and is no judgement: which conditions the scores make true, which decision those lead to, and
beside a score the words of the trigger that the same reviewer had committed itself to. The lints are the panel's own;
what they would find is sent back before it is posted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from moot.bots.minds.mind import View
from moot.bots.models.forms import Form
from moot.protocols.kernel.errors import ProtocolError
from moot.protocols.panel.audit import ACKNOWLEDGED
from moot.protocols.panel.contract import SCORES, Contract, Dimension, contract_from
from moot.protocols.panel.findings import LintFinding
from moot.protocols.panel.grammar import one_line
from moot.protocols.panel.lint_phase1 import PARAPHRASE, PLAN, lint_phase1
from moot.protocols.panel.lint_phase2 import lint_phase2
from moot.protocols.panel.report_text import report_text
from moot.protocols.panel.synthesis import decide, matrix_of, synthesize
from moot.protocols.panel.synthesis_text import SynthesisText

MOST_CHARS: Final = 2_000
"""Characters of one field."""

NOBODY: Final = "none"
"""The dimension of a dissent that is none."""

_PLAN: Final[Mapping[str, str]] = {
    "what_to_look_for": "what in a work shows this",
    "what_triggers_block": "what exactly, once seen, makes you score block",
    "what_triggers_warn": "what exactly, once seen, makes you score warn",
}
_TRIGGERS: Final = {"block": "what_triggers_block", "warn": "what_triggers_warn"}

_TEXT: Final = {"type": "string"}


def panel_form(view: View) -> Form:
    """Return the form of a panel's output; its judge writes the text and holds it against the panel's own lint."""
    contract = contract_from(view.brief["contract"])
    kind = view.obligation.expects[0]
    if kind == "SYNTHESIS":
        return _synthesis(view, contract)
    return _phase1(contract) if kind == "PHASE1" else _phase2(view, contract)


def _form(name: str, properties: Mapping[str, Any], write: Callable[[Mapping[str, Any]], str]) -> Form:
    schema = _object(properties)

    def judge(found: dict[str, Any]) -> str:
        _fits(found, schema, "")
        try:
            return write(found)
        except ProtocolError as exc:
            raise ValueError(str(exc)) from None

    return Form(name=name, schema=schema, judge=judge)


def _phase1(contract: Contract) -> Form:
    dimensions = contract.acceptance_dimensions
    asked = {"paraphrase": _text("what this dimension asks, in your own words"), **_plan_of(contract)}

    def write(found: Mapping[str, Any]) -> str:
        parts = [f"## {PARAPHRASE}"]
        parts += [f"{one.id} {one.name}: {_line(found[one.id]['paraphrase'])}" for one in dimensions]
        parts.append(f"## {PLAN}")
        for one in dimensions:
            lines = [f"### {one.id}: {one.name}", f"dimension_id: {one.id}"]
            lines += [f"{field}: {_line(found[one.id][field])}" for field in asked if field in _PLAN]
            parts.append("\n".join(lines))
        text = "\n\n".join((*parts, ACKNOWLEDGED)) + "\n"
        _clean(lint_phase1(text, contract).findings)
        return text

    return _form("Commitment", {one.id: {**_object(asked), **_about(one)} for one in dimensions}, write)


def _plan_of(contract: Contract) -> dict[str, Any]:
    required = contract.measurement_procedure.scoring_plan_schema.required
    return {field: _text(about) for field, about in _PLAN.items() if field in required}


def _phase2(view: View, contract: Contract) -> Form:
    dimensions = contract.acceptance_dimensions
    plan = lint_phase1(view.brief["phase1_output"], contract).plan
    role = view.brief["role"]
    asked = {
        "finding": _text("what of the work meets or misses your plan, with the place"),
        "score": {"type": "string", "enum": list(SCORES)},
    }
    ids = [one.id for one in dimensions]
    properties: dict[str, Any] = {"summary": _text("what the work claims and how it goes about it")}
    properties |= {one.id: {**_object(asked), **_about(one)} for one in dimensions}
    properties["dissent"] = _object(
        {
            "dimension_id": {"type": "string", "enum": [NOBODY, *ids]},
            "why": _text(f"why the plan of that dimension does not fit this work; empty for {NOBODY}"),
        }
    )

    def write(found: Mapping[str, Any]) -> str:
        scores = {name: found[name]["score"] for name in ids}
        set_aside = found["dissent"]["dimension_id"]
        body = [_said(found["summary"])]
        body += [_finding(one, scores[one.id], found[one.id]["finding"], plan) for one in dimensions]
        dissent = (set_aside, _said(found["dissent"]["why"])) if set_aside != NOBODY else None
        text = report_text(role, contract, scores, body, dissent)
        _clean(lint_phase2(text, contract, plan).findings)
        return text

    return _form("Report", properties, write)


def _finding(one: Dimension, score: str, said: str, plan: Mapping[str, Mapping[str, str]]) -> str:
    trigger = plan.get(one.id, {}).get(_TRIGGERS.get(score, ""), "")
    why = f", by the trigger “{one_line(trigger, MOST_CHARS)}”" if trigger else ""
    return f"On {one.id} {one.name}, {score}{why}: {_line(said)}"


def _synthesis(view: View, contract: Contract) -> Form:
    brief = view.brief
    ids = [one.condition_id for one in contract.failure_conditions]
    found = synthesize(
        contract,
        matrix_of(contract, brief["scores"]),
        majority=brief["majority"],
        on_none_fired=brief["on_none_fired"],
    )
    counted = {one.condition_id: one for one in found.conditions}

    def write(said: Mapping[str, Any]) -> str:
        for name, one in counted.items():
            if said[name]["fired"] != one.fired:
                raise ValueError(f"{name}: {one.arithmetic}: that makes it {str(one.fired).lower()}")
        fired = tuple(name for name in ids if said[name]["fired"])
        parts = [f"- {name}: {_line(said[name]['count'])}" for name in ids]
        return "\n".join([*parts, "", *SynthesisText(fired, decide(contract, fired)).lines()]) + "\n"

    asked = {
        "count": _text("how many reviewers it holds for, of how many, and how many its quantifier asks for"),
        "fired": {"type": "boolean"},
    }
    properties = {
        one.condition_id: {**_object(asked), "description": _line(one.expression)}
        for one in contract.failure_conditions
    }
    return _form("Synthesis", properties, write)


def _clean(findings: Sequence[LintFinding]) -> None:
    """Refuse what the panel's lint would find.

    Raises:
        ValueError: Something; the first is told.
    """
    if findings:
        raise ValueError(findings[0].why)


def _fits(value: Any, schema: Mapping[str, Any], path: str) -> None:
    """Hold a value to one of the schemas above.

    Raises:
        ValueError: It does not fit; the field is named.
    """
    if "properties" in schema:
        if not isinstance(value, dict) or set(value) != set(schema["properties"]):
            raise ValueError(f"{path or 'the object'}: give exactly {', '.join(schema['properties'])}")
        for name, inner in schema["properties"].items():
            _fits(value[name], inner, f"{path}.{name}" if path else name)
    elif "enum" in schema:
        if value not in schema["enum"]:
            raise ValueError(f"{path}: choose {' or '.join(schema['enum'])}")
    elif not isinstance(value, bool if schema["type"] == "boolean" else str):
        raise ValueError(f"{path}: give a {schema['type']}")
    elif isinstance(value, str) and len(value) > MOST_CHARS:
        raise ValueError(f"{path}: has {len(value):,} characters, {MOST_CHARS:,} are the most: shorten it")


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(about: str) -> dict[str, Any]:
    return {**_TEXT, "description": about}


def _about(one: Dimension) -> dict[str, Any]:
    return {"description": f"{one.name}, {one.priority}: {one_line(one.description, MOST_CHARS)}"}


def _line(text: str) -> str:
    """Keep a field to one line behind a word, so that it is no heading and no pinned line, whatever it quotes."""
    line = one_line(text, MOST_CHARS)
    return line if any(char.isalnum() for char in line) else "nothing"


def _said(text: str) -> str:
    return f"I say: {_line(text)}"
