"""Safeguards of the product, each with the words of its code that make it one: what `tests.soak.mutants` looks for."""

from __future__ import annotations
import __future__ as future

import importlib
import inspect
import textwrap
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple

from moot.chaos.faults import CLASSES


class Edit(NamedTuple):
    """Words of one function that are others.

    Attributes:
        at: The function, "module:Class.function".
        was: Words that its source holds once.
        now: What stands there instead.
    """

    at: str
    was: str
    now: str


class Safeguard(NamedTuple):
    """Something that can be switched off.

    Attributes:
        name: Its own.
        rule: Whose it is.
        says: What it is, as the end of "without …".
        edits: What switches it off.
        classes: The faults that are let loose: all, unless those that it needs meet too seldom among all.
        on_files: Whether worlds live on files: there is none of it in memory.
        why: Why chaos cannot find it, where it cannot; "" where it should.
    """

    name: str
    rule: str
    says: str
    edits: tuple[Edit, ...]
    classes: tuple[str, ...] = CLASSES
    on_files: bool = False
    why: str = ""


def switch_off(safeguard: Safeguard) -> None:
    """Switch a safeguard off, in this process and for good.

    Raises:
        ValueError: The code does not hold the words any more.
    """
    for edit in safeguard.edits:
        found = function(edit.at)
        found.__code__ = edited(found, edit)


def function(at: str) -> FunctionType:
    """Return a function by its name, "module:Class.function"."""
    module, _, path = at.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = inspect.getattr_static(found, name)
    assert isinstance(found, FunctionType), at
    return found


def edited(of: FunctionType, edit: Edit) -> CodeType:
    """Return the code of a function with other words in it; whoever holds the function runs those.

    Raises:
        ValueError: It does not hold the words once.
    """
    source = textwrap.dedent(inspect.getsource(of))
    if source.count(edit.was) != 1:
        raise ValueError(f"{edit.at} does not hold {edit.was!r} once: write its switch anew")
    flags = future.annotations.compiler_flag
    whole = compile(source.replace(edit.was, edit.now), edit.at, "exec", flags, dont_inherit=True)
    return next(one for one in whole.co_consts if isinstance(one, CodeType) and one.co_name == of.__name__)


KERNEL: Final = "moot.protocols.kernel."
DOCKET: Final = KERNEL + "docket:Docket."

SAFEGUARDS: Final = (
    Safeguard(
        "ids",
        "K1",
        "the sequencer's look at the ids that it has given",
        (
            Edit(
                "moot.channels.log.sequencer:Sequencer.take",
                "known = self._young.get(envelope_id) or self._old.get(envelope_id)",
                "known = None",
            ),
        ),
    ),
    Safeguard(
        "chain",
        "K3",
        "each message's hash of the one before it",
        (Edit("moot.channels.log.sequencer:Sequencer.take", "previous=self._hash", 'previous=b""'),),
    ),
    Safeguard(
        "time",
        "K3, K7",
        "instants that never go back",
        (
            Edit(
                "moot.channels.log.sequencer:Sequencer.take",
                "sent_at < self.last_sent_at:",
                "False:",
            ),
            Edit(
                "moot.clock.real:RealClock.elapsed_us",
                "self._elapsed_ns + min(read_ns - self._read_ns, _STALL_NS) // 2",
                "elapsed_ns",
            ),
        ),
        classes=("time",),
    ),
    Safeguard(
        "secrets",
        "R-A9",
        "the search of every message for keys and tokens",
        (
            Edit(
                "moot.channels.log.sequencer:Sequencer.take",
                "if may_hold_secret(envelope.json):",
                "if False:",
            ),
        ),
        classes=("people",),
    ),
    Safeguard(
        "permissions",
        "K3",
        "the matrix of who may write what where",
        (
            Edit(
                KERNEL + "rules:Gate.admit",
                "self._rules.matrix.check(draft.author, draft.channel, body.type)",
                "pass",
            ),
        ),
    ),
    Safeguard(
        "tenure",
        "K14",
        "the tenure that a bot's message must be of",
        (Edit(DOCKET + "_seat", "and author not in PEOPLE:", "and False:"),),
        classes=("bots", "people"),
    ),
    Safeguard(
        "impostor",
        "K14",
        "the refusal of a bot in a seat that a person holds",
        (Edit("moot.host:Host.publish", "self._check_holder(draft)", "pass"),),
        classes=("bots", "people"),
    ),
    Safeguard(
        "holder",
        "K14",
        "the question whether who speaks for a seat holds it",
        (
            Edit("moot.door:Door._as_whom", "if holder != actor:", "if False:"),
            Edit("moot.host:Host.publish", "self._check_holder(draft)", "pass"),
        ),
        classes=("people",),
    ),
    Safeguard(
        "guests",
        "K1, K14, K21",
        "the admission of what guests post",
        (Edit("moot.door:Door.publish", "check_guest(draft, self._host.docket)", "pass"),),
    ),
    Safeguard(
        "identity",
        "K1",
        "the refusal of ids that are somebody else's",
        (Edit(KERNEL + "rules:Gate.admit", "check_identity(draft, self._derived)", "pass"),),
        classes=("bots",),
    ),
    Safeguard(
        "replies",
        "K1",
        "the question whether what a guest answers was ever said",
        (Edit("moot.door:Door._check_reply", "if named is not None and", "if False and"),),
    ),
    Safeguard(
        "violations",
        "K10",
        "the VIOLATION beside what changes nothing",
        (Edit(DOCKET + "_violated", "self.demand(found)", "pass"),),
    ),
    Safeguard(
        "hops",
        "K21",
        "the cap on messages that bots cause each other to say",
        (Edit(DOCKET + "_seat", "if env.hops > MAX_HOPS:", "if False:"),),
    ),
    Safeguard(
        "strays",
        "K10",
        "the refusal of what is no move in its case",
        (
            Edit(
                KERNEL + "machine:Machine.step",
                "raise _unfit(state, env, self.rule)",
                "return state",
            ),
        ),
        classes=("bots",),
    ),
    Safeguard(
        "endings",
        "K23",
        "the refusal of what is said in a case that is over",
        (Edit(DOCKET + "_seat", "raise self._no_case(env)", "return"),),
    ),
    Safeguard(
        "expiry",
        "K5",
        "the ruling on what nobody answered",
        (
            Edit(
                KERNEL + "deadlines:Deadlines.void_at",
                "+ obligation.grace",
                ".replace(year=9999)",
            ),
        ),
    ),
    Safeguard(
        "grace",
        "1.4, K5",
        "the time between a reminder and the ruling",
        (
            Edit(KERNEL + "deadlines:Deadlines.void_at", " + obligation.grace", ""),
            Edit(KERNEL + "supervision:_expected_ruling", "< obligation.void_at", "< obligation.due_at"),
        ),
    ),
    Safeguard(
        "outage",
        "K6",
        "the shift of deadlines by the time that the society was down",
        (Edit(DOCKET + "shift", "shifted(state, gap)", "state"),),
        classes=("crash",),
    ),
    Safeguard(
        "stop",
        "K21",
        "the STOP that holds for what opens later",
        (Edit(KERNEL + "stop:Stops._stop", "docket.context.stopped.add(system)", "pass"),),
        classes=("people",),
    ),
    Safeguard(
        "revise",
        "R-D9",
        "the cap of one revision a debate",
        (
            Edit(
                "moot.protocols.research.debate:finally_judged",
                'if given.body.verdict == "REVISE":',
                "if False:",
            ),
        ),
        classes=("bots",),
    ),
    Safeguard(
        "confidence",
        "R-D7",
        "the confidence that an approval needs",
        (Edit("moot.protocols.research.judging:judge", "if not SURE.holds(body):", "if False:"),),
        classes=("bots",),
    ),
    Safeguard(
        "caution",
        "R-B8",
        "the higher confidence that the conservative mode asks for",
        (Edit("moot.protocols.research.judging:judge", "if conservative and", "if False and"),),
        classes=("bots",),
    ),
    Safeguard(
        "reviews",
        "R-B1",
        "the table by which two reviews decide a deployment",
        (
            Edit(
                "moot.protocols.trading.deploy:decision_figures",
                '"decision": Exactly(row.decision),',
                "",
            ),
        ),
        classes=("bots",),
    ),
    Safeguard(
        "consent",
        "5.3, R-E2",
        "the conservative option as the end of an escalation that nobody answers",
        (Edit("moot.protocols.escalation.case:_end_by_time", "state.options[0]", "state.options[-1]"),),
    ),
    Safeguard(
        "halt",
        "R-B5",
        "the refusal of orders that grow a position while the desk is halted",
        (
            Edit("moot.protocols.trading.trade_orders:_check_growth", "if book.halted:", "if False:"),
            Edit("moot.protocols.trading.no_order:facts_of", "is_halted=book.halted > 0", "is_halted=False"),
        ),
        classes=("bots", "people", "market"),
    ),
    Safeguard(
        "money",
        "K11",
        "the fees in the book",
        (
            Edit(
                "moot.protocols.trading.book_entries:Entries._fill",
                "paid = quantity * price + fee",
                "paid = quantity * price",
            ),
        ),
    ),
    Safeguard(
        "budget",
        "K27",
        "the reservation of a call's worst case",
        (Edit("moot.protocols.calls.books:Books.lack", "if (has or 0) + adds > most:", "if False:"),),
        classes=("models",),
    ),
    Safeguard(
        "motions",
        "R-D10, R-D7, R-F9",
        "the bars against a judgment that upholds",
        (Edit("moot.protocols.motion.judging:judged", 'if body.outcome == "UPHELD":', "if False:"),),
        classes=("bots",),
    ),
    Safeguard(
        "sight",
        "K12",
        "what a reviewer may not see of the others",
        (Edit("moot.host:Host.view", "if sight is not EVERYTHING:", "if False:"),),
        classes=("bots",),
    ),
    Safeguard(
        "durability",
        "K17",
        "the acknowledgment that waits for the disk",
        (
            Edit(
                "moot.channels.log.writer:Writer._place",
                "self._queue.append(Pending(entry, receipt, future))",
                "self._queue.append(Pending(entry, receipt, future)); receipt.seq > 1 and future.set_result(receipt)",
            ),
        ),
        classes=("bots", "crash"),
        on_files=True,
    ),
    Safeguard(
        "shield",
        "K17",
        "the wait at the end for what cancelled publishers left on its way",
        (Edit("moot.host:Host.settle", "while self._under_way:", "while False:"),),
        classes=("bots", "crash"),
        on_files=True,
    ),
    Safeguard(
        "fencing",
        "K17",
        "the fencing of a host that another one has replaced",
        (
            Edit(
                "moot.channels.log.write_behind:LogWriter._insert",
                "if epoch != self._epoch:",
                "if False:",
            ),
        ),
        on_files=True,
        why="a world is one process, and nobody replaces it while it lives; tests with two processes hold it",
    ),
)
