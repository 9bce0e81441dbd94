"""Lines: each is an envelope and says just what the envelope says (K4, K15)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.logs.source import Line
from moot.protocols.codec import decode_envelope
from moot.verify.exactness import written
from moot.verify.reading import read, sent_at_of, seq_of
from tests.doubles import tampering
from tests.doubles.full_life import full_life
from tests.doubles.tampering import judged, rehashed, stripped

LOG = full_life()
LINES = [json.loads(env.line) for env in LOG]
VERDICT = next(n for n, line in enumerate(LINES) if line["body"]["type"] == "VERDICT")


def reasons(text: str, hash_beside: str = "") -> list[str]:
    found = read(Line(7, text, hash_beside))
    return [f"{found.seq} {problem.rule} {problem.why}" for problem in found.problems]


def test_every_envelope_is_written_as_it_was_sealed() -> None:
    assert [written(env) for env in LOG] == [env.json for env in LOG]
    assert [written(decode_envelope(env.line)) for env in LOG] == [env.json for env in LOG]


def test_layout_does_not_matter() -> None:
    for line in stripped(LINES):
        shuffled = {key: line[key] for key in sorted(line, reverse=True)}
        assert reasons(json.dumps(shuffled, indent=1)) == []
        assert reasons(json.dumps(line, ensure_ascii=True)) == []


@pytest.mark.rule("K15")
@pytest.mark.parametrize("how", [{}, {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False}])
def test_k15_a_file_that_was_laid_out_anew_is_refused_in_one_line(how: dict[str, Any]) -> None:
    report = judged("".join(json.dumps(line, **how) + "\n" for line in LINES))
    (finding,) = report.findings
    assert (finding.invariant, finding.line) == ("readable", 1)
    assert "laid this line out anew" in finding.why and not report.is_complete


def test_a_log_in_another_layout_verifies_without_its_hashes() -> None:
    assert judged("".join(json.dumps(line, indent=None) + "\n" for line in stripped(LINES))).ok


def test_numbers_may_be_whole_or_not_and_instants_in_any_zone() -> None:
    line = json.loads(LOG[VERDICT].json)
    line["body"]["debate_quality"] = 1
    line["sent_at"] = line["sent_at"].replace("Z", "+00:00")
    assert reasons(json.dumps(line)) == []


def test_a_figure_that_is_rounded_when_read_is_found() -> None:
    line = json.loads(LOG[VERDICT].json)
    line["body"]["confidence"] = 0.5999999999
    seq = line["seq"]
    assert reasons(json.dumps(line)) == [
        f"{seq} K4 body.confidence: says 0.5999999999, which is read as 0.6",
    ]


def test_a_name_that_stands_twice_is_found() -> None:
    text = LOG[VERDICT].json.replace('"debate_quality"', '"verdict":"REJECT","debate_quality"', 1)
    assert reasons(text) == [f"{LOG[VERDICT].seq} K4 verdict: stands twice in one object"]


def test_a_name_that_stands_twice_is_found_though_its_hash_fits() -> None:
    lines = tampering.write(LINES).splitlines()
    lines[VERDICT] = lines[VERDICT].replace('"attempt":0', '"attempt":0,"attempt":0', 1)
    assert judged("\n".join(lines)).findings[0].seq == VERDICT + 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "line: is not JSON"),
        ('{"seq": 5}', "5 messages v: is needed"),
        ("{} {}", "line: is not JSON: trailing characters"),
        ('{"a": NaN}', "is needed"),
        ('"\\ud800"', "line: "),
        ("[" * 5000, "line: "),
        ('{"v": 1, "body": {"type": 3}}', "messages"),
    ],
)
def test_what_is_no_envelope_says_why(text: str, reason: str) -> None:
    (found,) = reasons(text)
    assert reason in found


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("v",), 3, "K4 v: schema version 3 is newer than 2: update moot to read it"),
        (("v",), 0, "v: choose at least 1, not 0"),
        (("seq",), 0, "seq: choose at least 1, not 0"),
        (("author",), "no body", "author: "),
        (("sent_at",), "yesterday", "sent_at: "),
        (("body", "confidence"), 1.5, "confidence: "),
        (("body", "verdict"), "MAYBE", "verdict: "),
        (("body", "surprise"), 1, "surprise: there is no such field"),
        (("surprise",), 1, "surprise: there is no such field"),
        (("hash",), "abc", "hash: "),
    ],
)
def test_a_bad_field_is_named(path: tuple[str, ...], value: object, reason: str) -> None:
    line = json.loads(LOG[VERDICT].json)
    place = line
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    (found,) = reasons(json.dumps(line))
    assert reason in found
    assert found.startswith(f"{line['seq']} ")


def test_unknown_types_are_told_and_fold_as_nothing() -> None:
    lines = [*LINES[:-1], dict(LINES[-2]), dict(LINES[-1])]
    lines[-2].update(seq=len(LINES), id="future", sent_at=lines[-3]["sent_at"])
    lines[-2]["body"] = {"type": "FROM_THE_FUTURE", "x": [1.00000000001]}
    lines[-1].update(seq=len(LINES) + 1, body={**lines[-1]["body"], "last_seq": len(LINES)})
    lines[-1]["id"] = f"stopped/{len(LINES) + 1}"
    report = judged(rehashed(lines))

    assert report.ok
    (remark,) = (one for one in report.unproven if one.seq == len(LINES))
    assert remark.messages == 1
    assert "FROM_THE_FUTURE is no type that this Moot knows" in remark.why


def test_seq_and_instant_are_guessed_from_any_text() -> None:
    text = LOG[4].line
    assert seq_of(text) == 5
    assert sent_at_of(text) == LOG[4].sent_at
    assert seq_of('{"seq" : 4, "body": {"seq": 3}, "x') == 4
    assert seq_of("nothing") == 0
    assert sent_at_of("nothing") is None
    assert sent_at_of('"sent_at": "soon"') is None
