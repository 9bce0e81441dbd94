"""A study's directory, judged without trusting it: registration, results, scores, logs and figures computed again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moot.compare import registration
from moot.compare.arm_labels import labels_of
from moot.compare.asking import seed_of
from moot.compare.cases.case import Case, Cases, Scorer
from moot.compare.hashes import hashes_of
from moot.compare.known import cases_of, scored, scorer_of
from moot.compare.reading import REPORT, is_published, published, study_in
from moot.compare.report import pages
from moot.compare.results import FILE, Result, read_results
from moot.compare.study import Study
from moot.compare.summary import Summary, has_labels, summarise
from moot.logs import open_log
from moot.logs.errors import LogError
from moot.protocols.kernel.errors import BadInput, MootError
from moot.verify import verify

MOST: Final = 100
"""Findings that are told; a study in which everything is wrong says so in as many."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found.

    Attributes:
        results: That were computed again.
        logs: That were judged.
        findings: What is wrong, a line each.
        is_published: Whether it is kept without its results, so that only its pages can be drawn again.
        pages: That were.
        notes: What differs and is not wrong, a line each.
    """

    results: int
    logs: int
    findings: tuple[str, ...]
    is_published: bool = False
    pages: int = 0
    notes: tuple[str, ...] = ()


def verify_study(directory: Path) -> Verified:
    """Compute everything in a study's directory again.

    Args:
        directory: It needs what the study named: its module of a scorer, say.

    Raises:
        BadInput: It holds no study, or what is needed is not there.
    """
    if is_published(directory):
        return _judge_published(directory)
    judging = _Judging(directory)
    findings = []
    for finding in judging.all():
        findings.append(finding)
        if len(findings) == MOST:
            findings.append("and more")
            break
    return Verified(judging.results, judging.logs, tuple(findings))


def _judge_published(directory: Path) -> Verified:
    """Hold the pages of a published study against the figures that it keeps, and those against the registration."""
    said = registration.read_registration(directory)
    found = published(directory)
    findings = []
    if (found.study, found.planned) != (said["study"], said["planned"]):
        findings.append(f"{REPORT} is not of the study that was registered")
    if found.left or registration.results_said(directory) is None:
        findings.append(f"{REPORT} is not of a study that is over")
    findings += _wrong_labels(said, found)
    cases = [path.name for path in sorted(directory.glob("cases-*.html"))]
    drawn = [(name, text) for name, text in pages(found, said, cases) if (directory / name).exists()]
    unlabelled = dict(pages(found.with_labels({}), said, cases))
    notes = []
    for name, text in drawn:
        kept = (directory / name).read_text(encoding="utf-8")
        if kept == text:
            continue
        if kept == unlabelled[name]:
            notes.append(
                f"{name} was drawn by an older Moot and does not say which arms are simulated: "
                f"moot compare report {directory} --pages {directory} draws it again"
            )
        else:
            findings.append(f"{name} is not what {REPORT} gives")
    notes += _changed_since(said, directory)
    return Verified(0, 0, tuple(findings), is_published=True, pages=len(drawn), notes=tuple(notes))


def _changed_since(said: Mapping[str, Any], directory: Path) -> Iterator[str]:
    """Yield a note of what has changed in Moot since a published study was answered."""
    try:
        now = hashes_of(study_in(dict(said)), directory)
    except (MootError, ValueError):
        return  # what the study was made of is not there: nothing can be held against it
    if changed := [name for name, one in said["hashes"].items() if now.get(name) != one]:
        yield (
            f"answered by an older Moot: {', '.join(changed)} changed since, so answers of the same study "
            "may differ now in words and figures"
        )


def _wrong_labels(said: Mapping[str, Any], found: Summary) -> Iterator[str]:
    """Yield the labels of arms that are not those that the registration gives; an arm of one's own is believed."""
    for arm, label in labels_of(said).items():
        is_shipped = ":" not in str(said["arms"][arm].get("is", ""))
        if is_shipped and found.labels.get(arm, "") != label:
            yield f"{REPORT} labels {arm} {found.labels.get(arm, '')!r}, the registration gives {label!r}"


class _Judging:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._said = registration.read_registration(directory)
        self._study: Study = study_in(self._said)
        self._cases: Cases = cases_of(self._study.cases, directory)
        self._scorer: Scorer = scorer_of(self._study)
        self.results = 0
        self.logs = 0

    def all(self) -> Iterator[str]:
        """Yield what is wrong."""
        now = registration.registered(self._study, self._directory, self._said["planned"])
        if (
            found := registration.first_difference(self._said["hashes"], now["hashes"], "hashes")
        ) is not None:
            yield f"{found[0]} is not what was registered: this Moot, or a file of the study, is another one"
        told = registration.results_said(self._directory)
        if told is not None and told != registration.sha256_of_results(self._directory):
            yield f"{FILE} is not what the log says that the study came to"
        arms = list(self._study.arms)
        case: Case | None = None
        for number, one in enumerate(read_results(self._directory / FILE), 1):
            self.results = number
            task, at = divmod(number - 1, len(arms))
            place, repetition = divmod(task, self._study.repetitions)
            if at == 0 and repetition == 0:
                case = self._cases[place]
            assert case is not None
            for why in self._wrong(one, case, repetition + 1, arms[at]):
                yield f"{FILE}:{number}: {why}"
        if told is not None and self.results != self._said["planned"]:
            yield f"{FILE} has {self.results:,} results, and the study has {self._said['planned']:,}"
        yield from self._report()

    def _wrong(self, one: Result, case: Case, repetition: int, arm: str) -> Iterator[str]:
        """Say what is wrong with a result; what cannot be compared any more is not."""
        if (one.case, one.repetition, one.arm) != (case.id, repetition, arm):
            yield f"is of {one.case}, {one.arm}: {case.id}, {arm}, answer {repetition} is due there"
            return
        if one.case_sha256 != case.sha256:
            yield f"{case.id} is another case than was answered"
            return
        if one.seed != seed_of(self._study.seed, arm, case.id, repetition):
            yield f"{arm} was seeded with {one.seed}, which does not follow from the study's seed"
        try:
            scores = scored(self._scorer, case, one.answer)
        except BadInput as exc:
            yield str(exc)
            return
        if scores != dict(one.scores):
            name = next(name for name in {**scores, **one.scores} if scores.get(name) != one.scores.get(name))
            yield f"{arm} scored {one.scores.get(name)} in {name}, the answer is worth {scores.get(name)}"
        if one.log:
            yield from self._log(one)

    def _log(self, one: Result) -> Iterator[str]:
        path = self._directory / one.log
        if not path.exists():
            path = path.with_suffix("")
        try:
            with open_log(path) as source:
                head = ""
                for line in source.lines():
                    head = line.hash or json.loads(line.text).get("hash", "")
            with open_log(path) as source:
                report = verify(source, evidence=False)
        except (LogError, ValueError, OSError) as exc:
            yield f"{one.log}: {' '.join(str(exc).split())}"
            return
        self.logs += 1
        if head != one.head:
            yield f"{one.log} is not the log that {one.arm} left"
        if report.findings:
            yield f"{one.log}: {report.findings[0]}"

    def _report(self) -> Iterator[str]:
        path = self._directory / REPORT
        if not path.exists():
            return
        try:
            said: Any = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as exc:
            yield f"{REPORT}: {' '.join(str(exc).split())[:200]}"
            return
        results = read_results(self._directory / FILE)
        found = summarise(self._said, results)
        if not has_labels(said):
            found = found.with_labels({})  # an older Moot kept it, and labelled nothing
        now = found.as_json()
        if (differing := registration.first_difference(said, json.loads(json.dumps(now)))) is not None:
            yield f"{REPORT}: {differing[0]} is {differing[1]}, the results give {differing[2]}"
