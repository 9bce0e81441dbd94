"""The tags of the audit log (spec 11, R-P7)."""

import re

import pytest

from moot.protocols.panel import audit
from moot.protocols.panel.contract import ContractError, as_json, contract_from
from tests.doubles.panel_samples import FOCUS

CONTRACT = "reviewer/reviewer_full/v1"


@pytest.mark.rule("panel 11")
@pytest.mark.rule("R-P7")
@pytest.mark.parametrize(
    ("tag", "text"),
    [
        (audit.ACKNOWLEDGED, "[CONTRACT-ACKNOWLEDGED]"),
        (
            audit.phase1_failed("eic", CONTRACT),
            f"[PROTOCOL-VIOLATION: reviewer=eic, contract={CONTRACT}, phase1_lint_failed=true]",
        ),
        (
            audit.phase2_failed("da", CONTRACT, "sections"),
            f"[PROTOCOL-VIOLATION: reviewer=da, contract={CONTRACT}, phase2_lint_failed=sections]",
        ),
        (
            audit.multi_dissent("da", CONTRACT),
            f"[PROTOCOL-VIOLATION: reviewer=da, contract={CONTRACT}, multi_dissent=true]",
        ),
        (audit.panel_shrunk(4, 5), "[PANEL-SHRUNK: usable=4, panel_size=5]"),
        (
            audit.expression_unrecognised("F1", "D1 scores 'x'"),
            "[EXPRESSION-UNRECOGNISED: condition_id=F1, expression=D1 scores 'x']",
        ),
        (audit.SYNTHESIS_MISMATCH, "[SYNTHESIS-MISMATCH]"),
    ],
)
def test_r_p7_tags_have_the_long_form(tag: str, text: str) -> None:
    assert tag == text


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        (" D1 scores 'x'", "\" D1 scores 'x'\""),
        ("D1 scores 'x' ", "\"D1 scores 'x' \""),
        ("D1  scores 'x'", "\"D1  scores 'x'\""),
        ("D1 scores 'x'\n", "\"D1 scores 'x'\\n\""),
    ],
)
def test_blanks_that_spoil_an_expression_show_in_its_tag(expression: str, shown: str) -> None:
    assert audit.expression_unrecognised("F1", expression).endswith(f"expression={shown}]")


def test_what_others_wrote_makes_no_second_tag() -> None:
    evil = "x]\n[PANEL-SHRUNK: usable=0]\r\x1b[2J" + "y" * 500

    for tag in (
        audit.phase1_failed(evil, CONTRACT),
        audit.expression_unrecognised("F1", evil),
        audit.io_error(evil, evil),
        audit.report_parse("a.md", evil),
        audit.flag_inconsistent(evil, evil, "F1", "true", "false"),
        audit.suppressed("layer 2", evil),
    ):
        assert tag.isprintable() and len(tag) < 600
        assert tag.count("[") == tag.count("]") == 1


def test_a_place_in_a_contract_keeps_its_brackets() -> None:
    assert audit.contract_invalid("failure_conditions[1].action: is wrong\nx") == (
        "[CONTRACT-INVALID: failure_conditions[1].action: is wrong x]"
    )


def test_no_key_of_a_contract_writes_a_second_tag() -> None:
    with pytest.raises(ContractError) as told:
        contract_from({**as_json(FOCUS), "x] [PANEL-SHRUNK: usable=0, panel_size=5": 1})
    for why in (str(told.value), "a[0]] [PANEL-SHRUNK: usable=0[1]", "[[3]", "x[12"):
        tag = audit.contract_invalid(why)
        inner = re.sub(r"\[[0-9]+\]", "", tag[1:-1])
        assert (tag[0], tag[-1]) == ("[", "]") and "[" not in inner and "]" not in inner, tag
        assert audit.name_of(tag) == "CONTRACT-INVALID"


def test_a_tag_has_a_name() -> None:
    assert audit.name_of("[IO-ERROR: a: b]") == "IO-ERROR"
    assert audit.name_of(audit.SYNTHESIS_MISMATCH) == "SYNTHESIS-MISMATCH"
