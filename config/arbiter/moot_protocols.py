"""What a file must say for its trials to be protocols of Moot's own, and what is filled in for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from moot.config.arbiter.judging import judge_of
from moot.config.contracts import load_contract
from moot.protocols.arbiter.certificate import closed_labels
from moot.protocols.arbiter.generated import Configuration, PanelChoice, ResolvedContract
from moot.protocols.arbiter.parsing import parse_contract
from moot.protocols.arena.contracts import MAX_ROUNDS
from moot.protocols.arena.messages import ArenaTask
from moot.protocols.arena.opening import refusal
from moot.protocols.kernel.faults import line
from moot.protocols.motion.messages import Motion
from moot.protocols.panel.contract import (
    ACCEPT,
    ROLES,
    Contract,
    ContractError,
    as_json,
    contract_from,
    ineligibility,
)
from moot.protocols.panel.messages import PanelOpened
from moot.protocols.panel.verify import expression_tags

DEBATE: Final = "moot:debate"
ARENA: Final = "moot:arena"
PANEL: Final = "moot:panel"

UNDECIDED: Final = "undecided"
"""What a debate decides whose judgment names no answer; nobody can claim it, and a contract may list it."""

APPROVED: Final = "approved"
UNRESOLVED: Final = "unresolved"
"""What a run of the Arena decides: its Reviewer approved the draft, or the rounds were used up."""

TASK: Final = "the task"
"""What a run of the Arena calls its task."""

SPRINT_CONTRACT: Final = "full"
"""By what a panel judges where the file does not say."""

TITLE: Final = "a text"
FIELD: Final = "not said"
"""What a panel's reviewers know of the work where the file does not say."""

LONG: Final = 8_000
"""Characters of a rationale that any contract should take."""


class Kind(NamedTuple):
    """A protocol of Moot's as a trial.

    Attributes:
        fields: What its decision gives of a contract's form.
        contract: A contract that fits.
        what: What is held.
    """

    fields: tuple[str, ...]
    contract: str
    what: str


KINDS: Final[Mapping[str, Kind]] = {
    DEBATE: Kind(("decision", "rationale", "confidence"), "binary_decision_v1", "a debate"),
    ARENA: Kind(("decision", "rationale"), "arena_outcome_v1", "a run of the Arena"),
    PANEL: Kind(("decision", "rationale"), "editorial_decision_v1", "a panel"),
}


def options_of(contract: ResolvedContract) -> tuple[str, ...]:
    """Return the answers that can be claimed in a debate: those that the contract lists, but `UNDECIDED`."""
    return tuple(one for one in closed_labels(contract) if one != UNDECIDED)


def decision_of(action: str) -> str:
    """Return what a panel decides, by an action of its sprint contract."""
    return action.partition("=")[2]


def arena_task(question: str, max_rounds: int) -> ArenaTask:
    """Return what opens the run of the Arena of a trial: the same for each, and without a notebook."""
    return ArenaTask(
        config={"max_rounds": max_rounds, "notebook_enabled": False},
        task={"task_id": TASK, "initial_prompt": question, "session_id": TASK},
    )


class MootFilling:
    """Fills in what a protocol of Moot's needs.

    Attributes:
        found: What is added to the resolved `protocol`.
        lines: What is wrong, a line each.
    """

    def __init__(
        self,
        config: Configuration,
        contract: ResolvedContract | None,
        sprint: Mapping[str, Any] | None = None,
    ) -> None:
        """Fill in.

        Args:
            config: What was asked for.
            contract: Its contract, whole; None where it names none that is known.
            sprint: The sprint contract of a panel, where the file holds it whole.
        """
        self._config = config
        self._sprint = sprint
        self._kind = KINDS.get(config.protocol.type)
        self.found: dict[str, Any] = {}
        self.lines = [*self._misplaced()]
        if self._kind is not None:
            self.lines += self._faults(self._kind, contract)

    def _misplaced(self) -> Iterator[str]:
        protocol = self._config.protocol
        for name, kind, given in (("arena", ARENA, protocol.arena), ("panel", PANEL, protocol.panel)):
            if given is not None and protocol.type != kind:
                yield f"protocol.{name}: is for {kind}, and type is {protocol.type}: leave it out"

    def _faults(self, kind: Kind, contract: ResolvedContract | None) -> Iterator[str]:
        protocol, question = self._config.protocol, self._config.question.text
        if self._config.sampling.instruments:
            yield f"sampling.instruments: {protocol.type} takes none: leave them out"
        sprint: Contract | None = None
        if protocol.type == ARENA:
            rounds = protocol.arena.max_rounds if protocol.arena is not None else None
            yield from self._of_arena(question, MAX_ROUNDS if rounds is None else rounds)
        elif protocol.type == PANEL:
            sprint, why = _sprint_contract(protocol.panel or PanelChoice(), self._sprint)
            yield from why
            if sprint is not None:
                yield from self._of_panel(sprint, protocol.panel or PanelChoice())
        where = "protocol.decision_contract"
        if contract is None:
            if protocol.decision_contract is None:
                needs = f"{protocol.type} needs the contract that lists what {kind.what} can decide"
                yield f"{where}: {needs}: name {kind.contract}"
            return
        if protocol.type == DEBATE:
            yield from self._of_debate(question, contract)
        listed = closed_labels(contract)
        needed = _decisions(protocol.type, sprint)
        if missing := [one for one in needed if one not in listed]:
            yield (
                f"{where}.id: {contract.id} does not list what {kind.what} can decide, {', '.join(missing)}:"
                f" take {kind.contract}"
            )
        elif listed:
            yield from _unfit(kind, contract, listed[0])

    def _of_debate(self, question: str, contract: ResolvedContract) -> Iterator[str]:
        where, options = "protocol.decision_contract.id", options_of(contract)
        if not options:
            yield f"{where}: {contract.id} lists no answers in an enum of decision: {DEBATE} needs two or more"
            return
        try:
            Motion(question=question, options=options)
        except ValidationError as error:
            yield f"question.text or {where}: cannot be debated: {line(error, 'motion')}"

    def _of_arena(self, question: str, rounds: int) -> Iterator[str]:
        self.found["arena"] = {"max_rounds": rounds}
        try:
            why = refusal(arena_task(question, rounds))
        except ValidationError as error:
            why = line(error, "task")
        if why:
            yield f"question.text: cannot be a task of the Arena: {why}"

    def _of_panel(self, sprint: Contract, chosen: PanelChoice) -> Iterator[str]:
        title = TITLE if chosen.title is None else chosen.title
        field = FIELD if chosen.field is None else chosen.field
        reviewers = list(ROLES[sprint.mode])
        contract = as_json(sprint)
        self.found["panel"] = {"contract": contract, "reviewers": reviewers, "title": title, "field": field}
        try:
            PanelOpened(contract=contract, title=title, field=field, word_count=0, content_ref="x")
        except ValidationError as error:
            yield f"protocol.panel.{line(error, 'panel')}"


def _sprint_contract(
    chosen: PanelChoice, whole: Mapping[str, Any] | None
) -> tuple[Contract | None, list[str]]:
    """Load what a panel judges by; say what is wrong with it."""
    where = "protocol.panel.contract"
    try:
        named = SPRINT_CONTRACT if chosen.contract is None else chosen.contract
        found = load_contract(named) if whole is None else contract_from(whole)
    except ContractError as error:
        return None, [f"{where}: {error}"]
    why = ineligibility(found) or next(iter(expression_tags(found)), None)
    return (None, [f"{where}: {why}"]) if why else (found, [])


def _decisions(kind: str, sprint: Contract | None) -> tuple[str, ...]:
    """Return what a trial may decide whatever its question is."""
    if kind == ARENA:
        return (APPROVED, UNRESOLVED)
    if sprint is None:
        return ()
    actions = (ACCEPT, *(one.action for one in sprint.failure_conditions))
    return tuple(dict.fromkeys(decision_of(one) for one in actions))


def _unfit(kind: Kind, contract: ResolvedContract, decision: str) -> Iterator[str]:
    """Say why a decision of a protocol cannot be read by a contract."""
    for rationale in ("It is so.", "It is so. " * (LONG // 10)):
        text = verdict(kind, contract, decision, rationale, 0.5)
        judge = judge_of(contract)
        assert judge is not None
        error = parse_contract(0, text, contract, judge, "debate-v1", max_chars=LONG).line.parse_error
        if error is None:
            continue
        is_too_long = len(rationale) == LONG
        why = "rationale may be a long text: give rationale_max_chars" if is_too_long else error.message
        yield (
            f"protocol.decision_contract.id: {contract.id} cannot hold what {kind.what} decides,"
            f" {', '.join(kind.fields)}: {why}"
        )
        return


def verdict(
    kind: Kind, contract: ResolvedContract, decision: str, rationale: str, confidence: float | None = None
) -> str:
    """Write what a protocol of Moot's decided in the contract's form: a JSON object."""
    known = contract.schema_["properties"]
    given = {"decision": decision, "rationale": rationale, "confidence": confidence}
    return json.dumps({name: given[name] for name in kind.fields if name in known}, ensure_ascii=False)
