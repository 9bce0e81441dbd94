"""The rules of one society, assembled: what the docket and the sequencer ask."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from moot.protocols.kernel.catalogue import Matrix
from moot.protocols.kernel.context import Fold, RuleContext
from moot.protocols.kernel.discretion import without_secrets
from moot.protocols.kernel.envelope import Draft, Envelope
from moot.protocols.kernel.errors import Malformed
from moot.protocols.kernel.guests import misplaced
from moot.protocols.kernel.machine import Machine
from moot.protocols.kernel.message import Message, changed
from moot.protocols.kernel.people import Override
from moot.protocols.kernel.seats import OFFICERS, Seat
from moot.protocols.kernel.times import stamp

Check = Callable[[Envelope, RuleContext], None]


class Minted(NamedTuple):
    """Which id of a body the sequencer counts (K20, R-D12).

    Attributes:
        path: Field names down to the id.
        prefix: `hyp`, `prin` …
        by_minute: `hyp_YYYYMMDD_HHMM`, `_2`, `_3` … when true, else `prin_001` counting up.
        also: A field of the body that takes the same id when it is empty.
        each: Whether `path[0]` is a tuple of parts that are each counted.
    """

    path: tuple[str, ...]
    prefix: str
    by_minute: bool
    also: str = ""
    each: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return what its ids look like."""
        number = "[0-9]{8}_[0-9]{4}(_[0-9]{1,6})?" if self.by_minute else "[0-9]{3,9}"
        return re.compile(f"{self.prefix}_{number}")

    def ids(self, body: Message) -> list[str]:
        """Return the ids of a body that it speaks of; "" for one that is not counted yet."""
        return _ids(body, self)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Case types, rights and folds of a society; data and pure functions.

    Attributes:
        types: Case types by kind.
        matrix: The permission matrix.
        caseless: Types that need no open case, each with a check of its own or None.
        asides: Those among them that move no case even when they name an open one.
        added: Names of the protocols that are not Moot's own.
        triggers: Rows of the trigger table, by code: what may escalate.
        brought: Which of those brings a kind of case or a type of message.
        lifecycle: Types that move the context itself.
        unowed: Officers' types that no table asks for (AUDIT of a refusal).
        remarks: Officers' types that stand beside a case and do not move it.
        resembles: Compares a duty with what was posted where the two may rightly differ.
        minted: Which ids the sequencer counts, by type.
        new_folds: Makes the folds of a fresh docket.
        version: Rules version that cases are pinned to (K4).
        openers: The machine that each type opens a case of.
        facts: Those of `unowed` that open a case or move one.
    """

    types: Mapping[str, Machine]
    matrix: Matrix
    caseless: Mapping[str, Check | None]
    lifecycle: frozenset[str]
    unowed: frozenset[str]
    remarks: frozenset[str]
    minted: Mapping[str, Minted]
    new_folds: Callable[[], Sequence[Fold]]
    version: str
    resembles: Callable[[Message, Message, RuleContext], bool]
    asides: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    triggers: Mapping[str, Any] = field(default_factory=dict)
    brought: Mapping[str, str] = field(default_factory=dict)
    openers: Mapping[str, Machine] = field(init=False)
    facts: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Index the openers, and what officers say unasked that moves a case."""
        table = {kind: machine for machine in self.types.values() for kind in machine.openers}
        answers = (
            kind
            for machine in self.types.values()
            for step in machine.steps.values()
            for kind in step.expects
        )
        object.__setattr__(self, "openers", table)
        object.__setattr__(self, "facts", self.unowed.intersection((*table, *answers)))

    def same(self, expected: Message, given: Message, context: RuleContext) -> bool:
        """Compare a duty with what was posted, ids that the sequencer counts and secrets that it redacts aside."""
        if self._same(expected, given, context):
            return True
        # Two texts that hold no secret may make one when an officer joins them.
        clean = without_secrets(expected)
        return clean is not expected and self._same(clean, given, context)

    def _same(self, expected: Message, given: Message, context: RuleContext) -> bool:
        rule = self.minted.get(given.type)
        if rule is None or rule.each:
            return expected == given or self.resembles(expected, given, context)
        return _equal_but(expected, given, rule.path, rule.also) or self.resembles(expected, given, context)


def _equal_but(expected: Any, given: Any, path: tuple[str, ...], also: str = "") -> bool:
    """Compare two bodies or parts, the id at the end of a path and a field that may repeat it aside."""
    if type(expected) is not type(given):
        return False
    head, *rest = path
    others: dict[str, Any] = given.__dict__
    for name, value in expected.__dict__.items():
        if name == head:
            if rest and not _equal_but(value, others[name], tuple(rest)):
                return False
        elif name != also and value is not others[name] and value != others[name]:
            return False
    return True


def _put(part: Any, path: tuple[str, ...], value: str) -> Any:
    if len(path) == 1:
        return changed(part, path[0], value)
    return changed(part, path[0], _put(getattr(part, path[0]), path[1:], value))


def _get(part: Any, path: tuple[str, ...]) -> str:
    for name in path:
        part = getattr(part, name)
    return str(part)


def _ids(body: Message, rule: Minted) -> list[str]:
    if rule.each:
        return [getattr(part, rule.path[1]) for part in getattr(body, rule.path[0])]
    return [_get(body, rule.path)]


class Counter:
    """Count ids as the sequencer assigns them; a fold over the log keeps it right after a restart (K20)."""

    def __init__(self, minted: Mapping[str, Minted]) -> None:
        """Start with nothing counted."""
        self._minted = minted
        self.last: dict[str, tuple[str, int]] = {}

    def mint(self, body: Message, sent_at: datetime) -> Message:
        """Fill the ids that a body leaves empty."""
        rule = self._minted.get(body.type)
        if rule is None:
            return body
        if rule.each:
            for value in _ids(body, rule):
                if value:
                    self._saw(rule, value, sent_at)
            parts = getattr(body, rule.path[0])
            if all(getattr(part, rule.path[1]) for part in parts):
                return body
            filled = tuple(
                part if getattr(part, rule.path[1]) else _put(part, rule.path[1:], self._next(rule, sent_at))
                for part in parts
            )
            return changed(body, rule.path[0], filled)
        value = _get(body, rule.path)
        if value:
            self._saw(rule, value, sent_at)
            return body
        value = self._next(rule, sent_at)
        minted: Message = _put(body, rule.path, value)
        if rule.also and not getattr(minted, rule.also):
            minted = changed(minted, rule.also, value)
        return minted

    def _next(self, rule: Minted, sent_at: datetime) -> str:
        when = stamp(sent_at) if rule.by_minute else ""
        last, n = self.last.get(rule.prefix, ("", 0))
        n = n + 1 if last == when else 1
        self.last[rule.prefix] = (when, n)
        return self._name(rule, when, n)

    def _name(self, rule: Minted, when: str, n: int) -> str:
        if not rule.by_minute:
            return f"{rule.prefix}_{n:03d}"
        return f"{rule.prefix}_{when}" if n == 1 else f"{rule.prefix}_{when}_{n}"

    def unmint(self, sent: Message, minted: Message) -> None:
        """Take back what `mint` counted for a body, latest first: it was not stored after all (K17)."""
        rule = self._minted.get(sent.type)
        if rule is None or sent == minted:
            return
        given, taken = _ids(sent, rule), _ids(minted, rule)
        for before, value in zip(reversed(given), reversed(taken), strict=True):
            if before:
                continue
            when, n = self.last.get(rule.prefix, ("", 0))
            if value == self._name(rule, when, n):
                self.last[rule.prefix] = (when, n - 1) if n > 1 else ("", 0)

    def apply(self, env: Envelope) -> None:
        """Take in ids that stand in the log."""
        rule = self._minted.get(env.body.type)
        if rule is None:
            return
        for value in _ids(env.body, rule):
            self._saw(rule, value, env.sent_at)

    def check(self, body: Message, sent_at: datetime) -> None:
        """Check that an id which an author chose does not look counted, unless it is the next one.

        Raises:
            Malformed: It does: it is said again, or made up.
        """
        rule = self._minted.get(body.type)
        if rule is None:
            return
        when = stamp(sent_at) if rule.by_minute else ""
        last, n = self.last.get(rule.prefix, ("", 0))
        n = n if last == when else 0
        for value in _ids(body, rule):
            if not value.startswith(f"{rule.prefix}_"):
                n += not value
            elif value == self._name(rule, when, n + 1):
                n += 1
            elif not rule.each or value not in [self._name(rule, when, k) for k in range(1, n + 1)]:
                why = f"{value[:80]}: ids like {rule.prefix}_… are counted when a message is logged: leave it empty"
                raise Malformed("R-D12", why, field=".".join(rule.path))

    def _saw(self, rule: Minted, value: str, sent_at: datetime) -> None:
        """Count an id that a body has; one of another minute is in nobody's way."""
        if not rule.pattern.fullmatch(value):
            return
        parts = value.removeprefix(rule.prefix + "_").split("_")
        when, k = "", int(parts[-1])
        if rule.by_minute:
            when, k = stamp(sent_at), int(parts[2]) if len(parts) > 2 else 1
            if "_".join(parts[:2]) != when:
                return
        last, n = self.last.get(rule.prefix, ("", 0))
        if last != when or k > n:
            self.last[rule.prefix] = (when, k)


def derived_keys(seats: Iterable[Seat]) -> re.Pattern[str]:
    """Return what the keys look like that nobody may choose: officers' duties', counted ids, and those of answers.

    Args:
        seats: All seats that there are.
    """
    return re.compile(
        r"(violation|ruling|ping|reflection|audit|escalation|withdrawn|released|started|stopped|clock|mode"
        r"|returned|anchor|micro|daily|architecture|desk|health|call|lab)/"
        r"|[a-z]+_[0-9]{8}_[0-9]{4}(_[0-9]+)?$"
        rf"|.*/({'|'.join(map(re.escape, seats))})/[0-9]+$",
        re.DOTALL,
    )


def check_identity(draft: Draft, derived: re.Pattern[str]) -> None:
    """Check that a draft of a seat or a person takes no id that is somebody else's (K1).

    An id that was taken would silence whoever it belongs to: their message would count as a duplicate.

    Args:
        draft: It.
        derived: What `derived_keys` says.

    Raises:
        Malformed: It has no key, a derived one, or one of another seat's obligation.
    """
    if not draft.key and draft.obligation_id is None:
        raise Malformed("K1", "settles no obligation and has no key: choose one", field="key")
    if draft.key and (derived.match(draft.key) or derived.match(draft.actor.own(draft.key))):
        raise Malformed("K1", f"{draft.key!r} has the form of a derived id: choose another", field="key")
    if draft.obligation_id is not None and not draft.obligation_id.endswith(f"/{draft.author}"):
        raise Malformed("K1", f"is no obligation of {draft.author}", field="obligation_id")


def _check_chosen(minted: Minted, chosen: str, field: str) -> None:
    """Check an id that a draft gives, where the sequencer would count one.

    Raises:
        Malformed: It is none of that kind.
    """
    if chosen and not minted.pattern.fullmatch(chosen):
        why = f"{chosen!r} is no {minted.prefix}_ id: leave it to the sequencer"
        raise Malformed("R-D12", why, field=field)


def _opening(draft: Draft, minted: Minted, named: str) -> Draft:
    """Check an opener whose case id the sequencer counts: the draft's case, if any, is where it was owed.

    Raises:
        Malformed: It chose an id that is none of that kind.
    """
    _check_chosen(minted, named, draft.body.case_field)
    return replace(draft, case_id=named or None) if draft.case_id != (named or None) else draft


def _placed(draft: Draft) -> Draft:
    """Check that a body without an id of its own names the case of its envelope, where it names one (K9).

    Raises:
        Malformed: It names another, or belongs to none.
    """
    if draft.case_id is None and type(draft.body) is Override:
        draft = replace(draft, case_id=draft.body.case_id)
    if draft.author not in OFFICERS and (why := misplaced(draft.body, draft.case_id)):
        raise Malformed("K9", why, field="case_id")
    return draft


class Gate:
    """The sequencer's admission: completes a draft, checks it against the matrix, counts its ids."""

    def __init__(self, rules: Rules) -> None:
        """Start with nothing counted."""
        self._rules = rules
        self._counter = Counter(rules.minted)
        self._derived = derived_keys(rules.matrix.seats)

    def admit(self, draft: Draft) -> Draft:
        """Check a draft before it is sequenced.

        Raises:
            Forbidden: The matrix does not allow it.
            Malformed: Its body names another case than its envelope, or its id is somebody else's.
        """
        body = draft.body
        self._rules.matrix.check(draft.author, draft.channel, body.type)
        if draft.author not in OFFICERS:
            check_identity(draft, self._derived)
        minted = self._rules.minted.get(body.type)
        if not body.case_field:
            if minted is not None and len(minted.path) == 1 and not minted.each:
                _check_chosen(minted, getattr(body, minted.path[0]), minted.path[0])
            return _placed(draft)
        named = getattr(body, body.case_field)
        if minted is not None and minted.path == (body.case_field,):
            return _opening(draft, minted, named)
        if draft.case_id is None:
            if not named:
                raise Malformed("K9", "is empty: name the case", field=body.case_field)
        elif not named:
            return replace(draft, body=changed(body, body.case_field, draft.case_id))
        elif named != draft.case_id:
            raise Malformed("K9", f"names case {named}, the envelope {draft.case_id}", field=body.case_field)
        return draft

    def mint(self, draft: Draft, sent_at: datetime) -> Message:
        """Return the body with its counted ids.

        Raises:
            Malformed: A bot or a person gives it one that looks counted and is not the next.
        """
        if draft.author not in OFFICERS:
            self._counter.check(draft.body, sent_at)
        return self._counter.mint(draft.body, sent_at)

    def unmint(self, draft: Draft, body: Message) -> None:
        """Take back the ids of a body that was not stored after all."""
        self._counter.unmint(draft.body, body)

    def apply(self, env: Envelope) -> None:
        """Take in an envelope that stands in the log (at a restart)."""
        self._counter.apply(env)

    @property
    def counted(self) -> dict[str, tuple[str, int]]:
        """Return how far each kind of id was counted: the minute, "" for ids without one, and the number."""
        return self._counter.last

    def take_over(self, counted: Mapping[str, tuple[str, int]]) -> None:
        """Go on counting where another gate stood (a snapshot's)."""
        self._counter.last = dict(counted)
