"""The verification of a log: line by line, in one pass, in bounded memory (K4, K5, K15)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from moot.logs import Damaged, LogSource
from moot.protocols.kernel.docket import Docket, Effects
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import Forbidden, OfficerFault
from moot.protocols.kernel.seats import OFFICERS
from moot.protocols.kernel.upcast import Opaque
from moot.protocols.rulebook import rules
from moot.verify.ahead import Ahead
from moot.verify.anchored import Anchored
from moot.verify.audit.calls import Calls
from moot.verify.audit.desk import Desk
from moot.verify.audit.panels import Panels
from moot.verify.audit.runs import Runs
from moot.verify.bodies import NAMING, CallBodies
from moot.verify.chain import Chain
from moot.verify.counting import CountedIds
from moot.verify.deadlines import Deadlines
from moot.verify.envelopes import Envelopes
from moot.verify.evidence import FACTS, RECOMPUTED, Evidence, Nothing, Recompute
from moot.verify.hearsay import Hearsay
from moot.verify.lawful import Lawful
from moot.verify.lifecycle import Lifecycle
from moot.verify.officers import Officers
from moot.verify.order import Order, Place
from moot.verify.prefetch import Prefetch, processors
from moot.verify.principles import LESSONS, Principles
from moot.verify.reading import Read
from moot.verify.report import MAX_FINDINGS, Findings, Report
from moot.verify.secrecy import Secrecy
from moot.verify.tally import Tally

if TYPE_CHECKING:
    from moot.anchor import Anchor

PROGRESS_EVERY: Final = 5000
OBJECTS_BETWEEN_COLLECTIONS: Final = 2_000_000
"""About a million messages leave so many; garbage in cycles is below 200 MiB by then."""


def verify(
    source: LogSource,
    *,
    evidence: bool = True,
    strict: bool = False,
    anchors: Sequence[Anchor] = (),
    max_findings: int = MAX_FINDINGS,
    on_progress: Callable[[int], None] | None = None,
) -> Report:
    """Judge a log that anybody produced, trusting nothing in it.

    Args:
        source: The log; it is read to its end, but not closed.
        evidence: Whether to recompute backtests, fills and prices from the prices that the log names.
        strict: Whether what the log lets anybody compute again, and is not borne out, counts as a failure.
        anchors: Hashes that somebody kept elsewhere; a log that was edited before one does not reach it.
        max_findings: Stop after so many; later ones may follow from the first.
        on_progress: Called now and then with the number of lines judged.

    Returns:
        What was found; `ok` when every invariant holds.
    """
    with _rare_collections(), Prefetch() as prefetch:
        helper = prefetch if processors() > 1 else None
        verifier = Verifier(
            source, evidence=evidence, anchors=anchors, max_findings=max_findings, prefetch=helper
        )
        report = verifier.run(on_progress)
    return replace(report, ok=report.ok and not report.unproven) if strict else report


class Verifier:
    """One verification; the checks are apart, this feeds them in turn."""

    def __init__(
        self,
        source: LogSource,
        *,
        evidence: bool,
        max_findings: int,
        anchors: Sequence[Anchor] = (),
        prefetch: Prefetch | None = None,
    ) -> None:
        """Prepare the checks; `prefetch` as for `read_all`."""
        self._source = source
        self._lines = Ahead(source.lines(), prefetch)
        findings = self._findings = Findings(max_findings)
        self._docket = Docket(rules())
        self._order = Order(findings)
        self._chain = Chain(findings, source.head)
        self._anchored = Anchored(findings, anchors)
        self._secrecy = Secrecy(findings)
        self._lifecycle = Lifecycle(findings)
        self._envelopes = Envelopes(findings, self._order.ids)
        self._officers = Officers(findings)
        self._counted = CountedIds(findings, self._docket.rules.minted)
        self._deadlines = Deadlines(findings)
        self._principles = Principles(findings)
        self._lawful = Lawful(findings)
        self._desk = Desk(findings)
        self._runs = Runs(findings)
        self._panels = Panels(findings)
        self._calls = Calls(findings)
        self._bodies = CallBodies(findings, source.directory, is_trusting=not evidence)
        self._recompute: Recompute = Evidence(findings) if evidence else Nothing(findings)
        self._hearsay = Hearsay()
        self._tally = Tally()
        self._messages = 0

    def run(self, on_progress: Callable[[int], None] | None) -> Report:
        """Read the log to its end, or until there are too many findings."""
        with closing(self._bodies):
            return self._run(on_progress)

    def _run(self, on_progress: Callable[[int], None] | None) -> Report:
        findings = self._findings
        try:
            for found in self._lines:
                findings.line = found.line.number
                self._messages += 1
                if on_progress is not None and not self._messages % PROGRESS_EVERY:
                    on_progress(self._messages)
                self._take(found)
                if findings.is_full:
                    return self._report(is_complete=False)
        except Damaged as exc:
            findings.add(self._order.next, "readable", "K15", exc.problem, line=exc.line)
            return self._report(is_complete=False)
        self._end()
        return self._report(is_complete=True)

    def _take(self, found: Read) -> None:
        order = self._order
        env = found.envelope
        for problem in found.problems:
            self._findings.add(found.seq or order.next, "valid_body", problem.rule, problem.why)
        if env is None:
            self._skip(found)
            return
        seq = env.seq
        if seq != order.next:
            place = order.place(seq, env.id, self._lines.peek_seq)
            if place is Place.NOWHERE:
                return
            if place is Place.EARLY:
                self._lines.put_back(found)
                return
            if place is Place.AFTER_GAP:
                self._chain.lost()
                order.next = seq
            seq = order.next
        elif self._source.kind == "directory" and found.line.number != seq:
            self._findings.add(seq, "dense_seq", "K3", f"it is stored as row {found.line.number}")
        self._chain.take(found, seq)
        self._anchored.take(found, env, seq)
        order.take(env, seq, self._lines.peek_sent_at)
        self._secrecy.take(found, env, seq)
        if type(env.body) is Opaque or self._docket.is_foreign(env):
            self._pass_over(env, seq)
        else:
            self._judge(env, seq)

    def _skip(self, found: Read) -> None:
        """Pass over a line that cannot be read, as if it had been the next message."""
        if found.seq in (0, self._order.next):
            self._order.next += 1
        self._chain.lost()

    def _pass_over(self, env: Envelope, seq: int) -> None:
        """Take a message of an unknown type for one that says nothing (K4)."""
        lacking = ", ".join(sorted(self._docket.lacking))
        of = (
            f"the protocol {lacking}, which is not installed here"
            " (install its package, or name its module by --protocol)"
            if lacking
            else "no type that this Moot knows"
        )
        why = f"{env.body.type} is {'of ' if lacking else ''}{of}; it was passed over"
        self._findings.skip("opaque", seq, why)
        self._docket.seq, self._docket.at = seq, env.sent_at

    def _judge(self, env: Envelope, seq: int) -> None:
        docket, lifecycle = self._docket, self._lifecycle
        kind = env.body.type
        is_recomputed = kind in RECOMPUTED
        lifecycle.before(env, docket)
        if not lifecycle.matrix.may_write(env.author, env.channel, kind):
            self._refuse(env)
        self._deadlines.before(env, docket, lifecycle.settled_at, lifecycle.slack)
        if env.author in OFFICERS:
            self._officers.before(env, docket)
        else:
            self._envelopes.before(env, docket)
        if kind in docket.rules.minted:
            self._counted.take(env)
        if kind in LESSONS:
            self._principles.before(env, docket)
        if is_recomputed:
            self._recompute.before(env, docket)
        fx = self._fold(env, seq)
        self._runs.take(env, fx)
        self._panels.take(env, fx)
        if env.author not in OFFICERS and kind not in FACTS:
            self._hearsay.hear(env, docket.context.fold_named("minds"))
        if fx is None:
            return
        if kind in docket.rules.lifecycle:
            lifecycle.after(env, docket)
        self._envelopes.after(env, fx)
        if fx.closed or fx.ended or fx.superseded or kind == "CLOCK_SET":
            self._officers.after(env, fx, lifecycle.slack, docket)
        self._deadlines.after(env, fx, docket)
        if kind in LESSONS:
            self._principles.after(env, fx)
        if kind in NAMING:
            self._bodies.take(env, docket.context.version)
        self._calls.take(env, fx, docket)
        self._desk.take(env, docket.context, is_void=fx.superseded, slack=lifecycle.slack)
        self._lawful.take(env)
        if is_recomputed:
            self._recompute.after(env, fx)
        self._tally.take(env, fx)

    def _refuse(self, env: Envelope) -> None:
        """Say why the permission matrix does not allow a message."""
        try:
            self._lifecycle.matrix.check(env.author, env.channel, env.body.type)
        except Forbidden as exc:
            self._findings.add(self._order.next - 1, "permission", exc.rule, f"{exc.field}: {exc.why}")

    def _fold(self, env: Envelope, seq: int) -> Effects | None:
        """Fold a message; None, with a finding, when it cannot be folded."""
        docket = self._docket
        docket.seq = env.seq - 1
        try:
            fx = docket.fold(env)
        except OfficerFault as fault:
            self._findings.add(seq, "officer", "K5", fault.why)
        except Exception as exc:
            # Whatever the folds fail on, the log holds it: it must not end the verification.
            self._findings.add(seq, "valid_body", "K5", f"it cannot be folded: {type(exc).__name__}: {exc}")
        else:
            if fx.fault is not None and isinstance(fx.fault.error, OfficerFault):
                self._findings.add(seq, "officer", "K5", fx.fault.error.why)
            if fx.is_unproven:
                why = f"{env.case_id} ended because a rule raised; the rule does not raise here"
                self._findings.warn("rule_fault", seq, why)
            if fx.violation is not None:
                # Its traceback holds the frame that holds it, for the collector to find.
                fx.violation.__traceback__ = None
            return fx
        finally:
            docket.seq = seq
        return None

    def _end(self) -> None:
        findings = self._findings
        findings.line = 0
        last = self._order.next - 1
        if not self._messages:
            findings.add(1, "lifecycle", "K4", "the log is empty; it begins with SOCIETY_STARTED")
        before = self._lifecycle.settled_before(self._docket.at)
        if before is not None:
            self._deadlines.end(self._docket, before)
        self._desk.end(self._lifecycle.slack)
        self._lawful.end(before)
        self._chain.end(last)
        self._anchored.end(last)
        if self._source.kind == "directory" and self._source.head is None and self._messages:
            findings.skip("head", last, "the file head is missing: whether this is the end cannot be told")

    def _report(self, *, is_complete: bool) -> Report:
        findings = self._findings.sorted()
        figures: dict[str, Any] = {
            **self._tally.figures(),
            "hashes": self._chain.hashed,
            "anchors": self._anchored.fits,
            "anchored_to": self._anchored.held,
            "recomputed": self._recompute.recomputed,
        }
        return Report(
            ok=not findings,
            messages=self._messages,
            findings=findings,
            unproven=self._findings.unproven(),
            heard=self._hearsay.figures(),
            people=self._hearsay.people(),
            warnings=self._findings.warnings(),
            is_complete=is_complete,
            figures=figures,
        )


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let the collector of cycles run rarely: a fold makes many objects that live long, and few cycles."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 50, 100)
    try:
        yield
    finally:
        # There and back: all objects count as old, so that the next few allocations do not set a search off.
        gc.freeze()
        gc.unfreeze()
        gc.set_threshold(*before)
