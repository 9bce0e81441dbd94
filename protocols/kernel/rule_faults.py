"""Rule faults: code of a protocol raised an exception. Its case ends; the society and all other cases go on (R-G14).

The referee posts an AUDIT, which names the exception's class, the rule and the step, and a RULING `faulted`. Both have
derived ids, and folding accepts that RULING whether or not the rule raises again: what ended stays ended under another
version of Python or of the protocol, and with rules that are not deterministic. What a traceback holds differs between
machines and versions, so it is told to observers only (`on_faulted`), never to the log.

Exceptions that are no `Exception` (KeyboardInterrupt, SystemExit, CancelledError) pass through. RecursionError and
MemoryError are rule faults. A rule that never returns cannot be interrupted: it stops its process.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Final, NamedTuple

from moot.protocols.kernel.case import Decision
from moot.protocols.kernel.envelope import OFFICER, Draft, Envelope
from moot.protocols.kernel.officers import Audit, Ruling
from moot.protocols.kernel.seats import REFEREE

FAULTED: Final = "faulted"
"""Outcome of the RULING that ends a case whose rule raised, and of the case."""

FAULT: Final = Decision(FAULTED, "exception", "R-G14")
"""That RULING."""

RULE_FAULT: Final = "rule_fault"
"""Event of the AUDIT that names the exception, the rule and the step."""

OWN: Final = "a protocol of Moot"
"""How the AUDIT names the owner of a rule of Moot's own protocols."""

ADMIN_CHANNEL: Final = "#admin"
MAX_NAME: Final = 120
"""Maximum length of a name taken from a protocol's code, in characters."""


class RuleFault(NamedTuple):
    """An exception in the code of a protocol.

    Attributes:
        protocol: Name of the protocol; "" for one of Moot's own.
        part: Kind of the case, or the name of the fold or source.
        case_id: The case that ends; "" where the code belongs to none.
        step: Name of the step, "" where the rule belongs to none.
        of_seq: Seq of the message that was folded or, for what time brings, of the last one before it.
        error: The exception.
    """

    protocol: str
    part: str
    case_id: str
    step: str
    of_seq: int
    error: Exception

    @property
    def rule(self) -> str:
        """Return the qualified name of the function that raised, "" where the kernel refused what it returned."""
        return function_of(self.error.__traceback__)

    @property
    def reason(self) -> str:
        """Return the sentence of the AUDIT; all of it is derived from the class of the exception and the tables."""
        where = [f"rule {self.rule}"] if self.rule else []
        where += [f"step {self.step}"] if self.step else []
        owner = f"the protocol {self.protocol}" if self.protocol else OWN
        end = f": {self.case_id} ends as {FAULTED}" if self.case_id else ""
        return f"{name_of(self.error)} in {', '.join((*where, self.part))} of {owner}{end}"

    @property
    def digest(self) -> str:
        """Return the first 16 hex digits of the SHA-256 of the traceback."""
        text = "".join(traceback.format_exception(self.error))
        return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


Observer = Callable[[RuleFault], None]

_observers: list[Observer] = []


def on_faulted(observer: Observer) -> None:
    """Call `observer` for each rule fault of this process from now on."""
    if observer not in _observers:
        _observers.append(observer)


def forget_observer(observer: Observer) -> None:
    """Call `observer` no longer."""
    if observer in _observers:
        _observers.remove(observer)


def notify(fault: RuleFault) -> None:
    """Call every observer with a rule fault."""
    for observer in tuple(_observers):
        observer(fault)


def name_of(error: Exception) -> str:
    """Return the name of an exception's class."""
    return type(error).__name__[:MAX_NAME]


def function_of(trace: TracebackType | None) -> str:
    """Return the qualified name of the first function outside the kernel in a traceback, "" for none."""
    while trace is not None:
        frame = trace.tb_frame
        module = str(frame.f_globals.get("__name__", ""))
        if not module.startswith(("moot.protocols.kernel.", "moot.host", "moot.protocols.escalation.watch")):
            return frame.f_code.co_qualname[:MAX_NAME]
        trace = trace.tb_next
    return ""


def audit_key(subject: str) -> str:
    """Return the id of the AUDIT of a case or of a fold."""
    return f"audit/faulted/{subject}"


def ruling_key(case_id: str) -> str:
    """Return the id of the RULING that ends a case."""
    return f"ruling/faulted/{case_id}"


def audit_of(fault: RuleFault, subject: str = "") -> Draft:
    """Derive the AUDIT of a rule fault.

    Args:
        fault: The rule fault.
        subject: What the id is derived from; "": the case.
    """
    return Draft(
        channel=ADMIN_CHANNEL,
        author=REFEREE,
        actor=OFFICER,
        body=Audit.noting(RULE_FAULT, fault.reason),
        key=audit_key(subject or fault.case_id),
    )


def ruling_of(fault: RuleFault, channel: str, env: Envelope | None) -> Draft:
    """Derive the RULING that ends the case of a rule fault.

    Args:
        fault: The rule fault.
        channel: Where the case is.
        env: The message that was folded; None for what time brings.
    """
    return Draft(
        channel=channel,
        author=REFEREE,
        actor=OFFICER,
        body=Ruling(
            obligation_id=None,
            case_id=fault.case_id,
            outcome=FAULT.outcome,
            reason=FAULT.reason,
            rule=FAULT.rule,
            of_seq=fault.of_seq,
        ),
        case_id=fault.case_id,
        in_reply_to=env.id if env is not None else None,
        key=ruling_key(fault.case_id),
    )


def why_no_ruling(env: Envelope) -> str:
    """Return what is wrong with a RULING `faulted`, "" when nothing is."""
    body = env.body
    assert isinstance(body, Ruling)
    if env.author != REFEREE or body.obligation_id is not None or body.case_id is None:
        return "a RULING faulted is the referee's, on a case"
    if env.case_id != body.case_id or env.id != ruling_key(body.case_id):
        return f"the id of the RULING is {ruling_key(body.case_id)}, in the case that it names"
    if (body.reason, body.rule) != (FAULT.reason, FAULT.rule):
        return f"a RULING faulted says {FAULT.reason} by {FAULT.rule}"
    if body.of_seq is None or body.of_seq >= env.seq:
        return "a RULING faulted names the message before it whose rule raised"
    return ""


def is_own(audit: Audit) -> bool:
    """Return True for the AUDIT of a fault in one of Moot's own protocols: a bug, which tests and chaos report."""
    return audit.event == RULE_FAULT and OWN in audit.reason


def is_of_fault(draft: Draft) -> bool:
    """Return True for the AUDIT or the RULING of a rule fault."""
    return draft.key.startswith(("audit/faulted/", "ruling/faulted/"))
