"""Secrets in a log are told by where they stand, never by what they are (R-A9)."""

from __future__ import annotations

import json

import pytest

from tests.doubles.data_dir import a_debate
from tests.doubles.tampering import Lines, judged, rehashed, stripped, write

SECRET = "xox" + "b-123456789012-abcdefABCDEF"  # in pieces, so that no scanner takes this file for a leak
LINES: Lines = [json.loads(env.line) for env in a_debate().log]
REASONED = [n for n, line in enumerate(LINES) if "reasoning" in line["body"]]


def leaking(text: str) -> tuple[int, Lines]:
    lines: Lines = json.loads(json.dumps(LINES))
    lines[REASONED[0]]["body"]["reasoning"] = text
    return REASONED[0] + 1, lines


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("text", [f"see {SECRET}", "password: hunter2", "Bearer " + "hunter2" * 4])
def test_r_a9_a_secret_in_a_message_is_a_finding_that_does_not_repeat_it(text: str) -> None:
    seq, lines = leaking(text)
    for log in (stripped(lines), rehashed(lines)):
        (finding,) = judged(log).findings
        assert (finding.seq, finding.invariant, finding.rule) == (seq, "secret", "R-A9")
        assert "body.reasoning" in finding.why
        assert SECRET not in str(finding) and "hunter2" not in str(finding)


@pytest.mark.rule("R-A9")
def test_r_a9_letters_written_by_number_hide_no_secret() -> None:
    seq, lines = leaking("password: hunter2")
    text = write(stripped(lines)).replace("password: hunter2", "p\\u0061ssword: hunter2")
    assert [(f.seq, f.invariant) for f in judged(text).findings] == [(seq, "secret")]


@pytest.mark.rule("R-A9")
def test_r_a9_a_secret_in_the_configuration_or_in_an_id_is_a_finding() -> None:
    lines: Lines = json.loads(json.dumps(LINES))
    first = next(line for line in lines if line["body"]["type"] == "SOCIETY_STARTED")
    first["body"]["config"]["platform"] = {"token": "abc", "token_env": "SLACK_TOKEN"}
    (finding,) = [f for f in judged(stripped(lines)).findings if f.invariant == "secret"]
    assert "body.config.platform.token:" in finding.why
    lines = json.loads(json.dumps(LINES))
    lines[-1]["actor"]["user_id"] = SECRET
    assert any(f.invariant == "secret" and "actor.user_id" in f.why for f in judged(stripped(lines)).findings)


def test_what_was_redacted_is_no_finding() -> None:
    _, lines = leaking("password: [redacted:password], see [redacted:slack_token] and budget_tokens: 4096")
    assert judged(stripped(lines)).ok
