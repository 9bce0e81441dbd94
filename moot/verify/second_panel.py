"""A panel judged from its raw messages alone: what it ended with must follow from what its reviewers wrote.

Written apart from `moot.protocols.panel.panel` and its steps on purpose: a mistake there must not bless itself.
It reads the outputs anew by the lints and the pinned grammar, holds every LINT to them, lets
`moot.protocols.panel.verify` judge
the reports and the synthesis as if strangers had made them, and holds decision, matrix and tags to that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.frozen import thaw
from moot.protocols.panel import audit
from moot.protocols.panel.contract import (
    ROLES,
    Contract,
    ContractError,
    baseline_sha256,
    contract_from,
    ineligibility,
)
from moot.protocols.panel.lint_phase1 import lint_phase1
from moot.protocols.panel.lint_phase2 import lint_phase2
from moot.protocols.panel.recompute import RecomputationError, recompute
from moot.protocols.panel.reports import ReportError, parse_report
from moot.protocols.panel.seating import Source
from moot.protocols.panel.verify import PASSED, REVIEWER_FAILED, Verified, verify

NONE_FIRED: Final = "[NO-CONDITION-FIRED]"
STOPPED: Final = "PANEL-STOPPED"
MOST_PHASES1, MOST_PHASES2, MOST_SYNTHESES = 4, 2, 2
"""Of one reviewer two Phase 1 before and after its one restart; the synthesizer is asked twice (spec 4, 5, 8)."""


class Doubt(NamedTuple):
    """Something that does not follow: the rule and one sentence."""

    rule: str
    why: str


@dataclass(slots=True)
class _Seat:
    """How far a reviewer is, by its own outputs and what was said of them.

    Attributes:
        plan: Of its last Phase 1 that passed; None while it may not review.
        reviews: How many Phase 2 it wrote; the last stands in `report`.
        is_usable: Whether the last one passed.
        is_silent: Whether it was ruled on.
        tries: Phase 1 outputs since the start or the restart.
    """

    text1: str = ""
    tries: int = 0
    commitments: int = 0
    plan: Mapping[str, Mapping[str, str]] | None = None
    report: str | None = None
    committed_to: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reviews: int = 0
    is_usable: bool = False
    is_silent: bool = False


class SecondPanel:
    """The messages of a panel that ended, from PANEL_OPENED to its end, without those that broke a rule."""

    def __init__(self, said: Sequence[Envelope]) -> None:
        """Keep the messages."""
        self._said = said
        self._opened: Any = said[0].body
        self._end: Any = said[-1].body
        self._seats: dict[str, _Seat] = {}
        self._syntheses: list[str] = []
        self._tags: list[str] = []
        self._is_stopped = False
        self._is_unsynthesized = False

    def judge(self) -> Iterator[Doubt]:
        """Yield what does not follow; nothing when all does."""
        try:
            contract = contract_from(thaw(self._opened.contract))
        except ContractError:
            yield from self._refused("CONTRACT-INVALID")
            return
        if ineligibility(contract) is not None:
            yield from self._refused("CONTRACT-INELIGIBLE")
            return
        self._seats = {role: _Seat() for role in ROLES[contract.mode]}
        yield from self._walk(contract)
        if self._end.type == "PANEL_DECIDED":
            yield from self._decided(contract)
        else:
            yield from self._aborted(contract)

    def _refused(self, tag: str) -> Iterator[Doubt]:
        if self._ended_by != tag:
            yield Doubt("3", f"its contract deserves [{tag}], and it ended with {self._ended_by}")

    @property
    def _ended_by(self) -> str:
        """Name what it ended with: PANEL_DECIDED, or the tag of its abort."""
        return "PANEL_DECIDED" if self._end.type == "PANEL_DECIDED" else audit.name_of(self._end.tag)

    @property
    def _usable(self) -> int:
        return sum(seat.is_usable for seat in self._seats.values())

    # ------------------------------------------------------------ the outputs, one after the other

    def _walk(self, contract: Contract) -> Iterator[Doubt]:
        for env in self._said[1:-1]:
            body: Any = env.body
            match body.type:
                case "PHASE1":
                    yield from self._commits(env.author, body.text)
                case "PHASE2":
                    yield from self._reviews(env.author, body.text, env.seq)
                case "LINT" if body.phase == 1:
                    yield from self._linted1(contract, body)
                case "LINT":
                    yield from self._linted2(contract, body)
                case "SYNTHESIS":
                    self._syntheses.append(body.text)
                case "RULING":
                    self._ruled(contract, body)

    def _commits(self, role: str, text: str) -> Iterator[Doubt]:
        seat = self._seats[role]
        if seat.is_usable or seat.is_silent:
            yield Doubt("2", f"{role} commits itself again, and nothing more is to come from it")
        seat.text1, seat.plan = text, None
        seat.tries += 1
        seat.commitments += 1
        if seat.commitments > MOST_PHASES1:
            yield Doubt("4", f"{role} has {seat.commitments} outputs of Phase 1")

    def _reviews(self, role: str, text: str, seq: int) -> Iterator[Doubt]:
        seat = self._seats[role]
        if seat.plan is None:
            yield Doubt(
                "2", f"{role} reviews with message {seq}, and no LINT has passed its Phase 1 before that"
            )
        seat.committed_to, seat.plan = seat.plan or {}, None
        seat.report, seat.is_usable = text, False
        seat.tries = 0
        seat.reviews += 1
        if seat.reviews > MOST_PHASES2:
            yield Doubt("5", f"{role} has {seat.reviews} outputs of Phase 2")

    def _linted1(self, contract: Contract, lint: Any) -> Iterator[Doubt]:
        role, seat = lint.role, self._seats[lint.role]
        found = lint_phase1(seat.text1, contract)
        tag = audit.ACKNOWLEDGED
        if not found.is_clean:
            tag = audit.phase1_failed(role, contract.contract_id) if seat.tries == 2 else ""
        yield from self._told(lint, found.is_clean, tag)
        seat.plan = found.plan if lint.is_passed else None

    def _linted2(self, contract: Contract, lint: Any) -> Iterator[Doubt]:
        role, seat = lint.role, self._seats[lint.role]
        found = lint_phase2(seat.report or "", contract, seat.committed_to)
        check = found.check
        if not found.may_restart and found.reading.role not in (None, role):
            check = "role"
        if check is None:
            check = self._layer1(contract, role, seat.report or "")
        tag = "" if check is None else audit.phase2_failed(role, contract.contract_id, check)
        if found.may_restart:
            tag = "" if seat.reviews < MOST_PHASES2 else audit.multi_dissent(role, contract.contract_id)
        yield from self._told(lint, check is None, tag)
        seat.is_usable = bool(lint.is_passed)

    def _layer1(self, contract: Contract, role: str, text: str) -> str | None:
        found = verify(contract, [role], [Source(role, text)], None, layer1_only=True)
        return "layer1" if found.exit_code == REVIEWER_FAILED else None

    def _told(self, lint: Any, is_clean: bool, tag: str) -> Iterator[Doubt]:
        """Hold a LINT to what the lint finds in the text."""
        rule = "4" if lint.phase == 1 else "5"
        if lint.is_passed != is_clean:
            said, is_so = ("passed", "does not pass") if lint.is_passed else ("failed", "passes")
            yield Doubt(
                rule, f"Phase {lint.phase} of {lint.role} is told to have {said}, and its text {is_so}"
            )
        if lint.tag != tag:
            yield Doubt(
                "11",
                f"Phase {lint.phase} of {lint.role} is told with {lint.tag or 'no tag'}, not {tag or 'none'}",
            )
        if lint.tag:
            self._tags.append(lint.tag)

    def _ruled(self, contract: Contract, ruling: Any) -> None:
        if ruling.outcome == "stop":
            self._is_stopped = True
        elif ruling.obligation_id:
            *_, step, role = ruling.obligation_id.split("/")
            if step.startswith("synthesis"):
                self._is_unsynthesized = True
            elif role in self._seats:
                seat = self._seats[role]
                seat.is_silent, seat.is_usable = True, False
                phase = step.partition("-")[0]
                self._tags.append(audit.timed_out(role, contract.contract_id, phase))

    # ------------------------------------------------------------ the end

    def _decided(self, contract: Contract) -> Iterator[Doubt]:
        end = self._end
        if end.baseline_sha256 != baseline_sha256(contract):
            yield Doubt("3", "baseline_sha256 is not that of the contract it was opened with")
        if self._usable < contract.panel_size:
            yield Doubt(
                "6", f"{self._usable} of {contract.panel_size} reviewers are usable, and yet it was decided"
            )
            return
        if not 1 <= len(self._syntheses) <= MOST_SYNTHESES:
            yield Doubt("8", f"it was decided after {len(self._syntheses)} syntheses")
            return
        *before, last = self._syntheses
        found = self._verified(contract, last)
        if found.exit_code or found.synthesis is None:
            yield Doubt("8", f"its reports and its synthesis do not pass: {found.tags[0]}")
            return
        if any(self._verified(contract, text).exit_code == PASSED for text in before):
            yield Doubt("8", "the first synthesis follows from the scores, and another was asked for")
        computed = found.synthesis
        for what, told, is_so in (
            ("decision", end.decision, computed.editorial_decision),
            ("fired_conditions", list(end.fired_conditions), list(computed.fired_conditions)),
            ("matrix", thaw(end.matrix), {one: dict(row) for one, row in computed.matrix.items()}),
            ("arithmetic", list(end.arithmetic), [one.arithmetic for one in computed.conditions]),
        ):
            if told != is_so:
                yield Doubt("8", f"{what}: {told} is told, {is_so} follows from the reports")
        if not computed.fired_conditions and self._opened.on_none_fired == "abort":
            yield Doubt("R-P2", "no condition fired, and yet it was decided")
        yield from self._tagged([*self._tags, *computed.tags])

    def _aborted(self, contract: Contract) -> Iterator[Doubt]:
        tag, name = self._end.tag, self._ended_by
        usable, size = self._usable, contract.panel_size
        tags = [*self._tags]
        why = ""
        if name == STOPPED:
            why = "" if self._is_stopped else "nobody stopped it"
        elif name == "PANEL-SHRUNK":
            if usable >= size or tag != audit.panel_shrunk(usable, size):
                why = f"{usable} of {size} reviewers are usable"
        elif usable < size:
            why = f"{usable} of {size} reviewers are usable: that is [PANEL-SHRUNK]"
        else:
            why = self._why_not(contract, name)
        if why:
            yield Doubt("6" if name == "PANEL-SHRUNK" else "11", f"it ended with {tag}, and {why}")
            return
        if usable == size and name != "NO-CONDITION-FIRED" and self._fired(contract) == frozenset():
            # It was noted when the synthesis began, whatever followed (R-P2).
            tags.append(NONE_FIRED)
        yield from self._tagged([*tags, tag])

    def _why_not(self, contract: Contract, name: str) -> str:
        """Say why a panel whose reviewers are all usable had no reason to end with a tag; "" when it had."""
        fired = self._fired(contract)
        if fired is None:
            return (
                "" if name not in ("SYNTHESIS-MISMATCH", "NO-CONDITION-FIRED") else "it could not synthesize"
            )
        if name == "NO-CONDITION-FIRED":
            if self._opened.on_none_fired != "abort":
                return "it was to accept then"
            return f"{', '.join(sorted(fired))} fired" if fired else ""
        if name != "SYNTHESIS-MISMATCH":
            return "nothing in it deserves that"
        if self._is_unsynthesized:
            return ""
        failed = [text for text in self._syntheses if self._verified(contract, text).exit_code != PASSED]
        if len(failed) == len(self._syntheses) == MOST_SYNTHESES:
            return ""
        return f"{len(failed)} of {len(self._syntheses)} syntheses differ from the scores"

    def _fired(self, contract: Contract) -> frozenset[str] | None:
        """Compute which conditions fire; None when that cannot be."""
        try:
            scores = {
                role: parse_report(seat.report or "", contract).scores for role, seat in self._seats.items()
            }
            return recompute(contract, scores, majority=self._opened.majority).fired
        except (ReportError, RecomputationError):
            return None

    def _verified(self, contract: Contract, synthesis: str) -> Verified:
        """Judge the reports and a synthesis as if strangers had made them."""
        return verify(
            contract,
            list(self._seats),
            [Source(role, seat.report) for role, seat in self._seats.items()],
            Source("synthesis", synthesis),
            majority=self._opened.majority,
        )

    def _tagged(self, tags: Sequence[str]) -> Iterator[Doubt]:
        if list(self._end.tags) != list(tags):
            odd = [tag for tag in (*self._end.tags, *tags) if (tag in self._end.tags) != (tag in tags)]
            yield Doubt("11", f"its tags are not those of its outputs: {odd[0] if odd else 'their order'}")
