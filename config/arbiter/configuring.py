"""Load the file of a run, fill in what it leaves open, and tell all that is wrong with it at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from moot.config.arbiter.bank import Bank
from moot.config.arbiter.moot_protocols import MootFilling
from moot.config.arbiter.reading import Faulty, parsed_file, record
from moot.protocols.arbiter.embed_text import is_blank
from moot.protocols.arbiter.generated import (
    Configuration,
    InstrumentChoice,
    PersonaChoice,
    PromptKind,
    ProtocolChoice,
    Range,
    ResolvedConfiguration,
    ResolvedContract,
    WholeRange,
)
from moot.protocols.arbiter.hashes import sha256_of_text

TIMEOUTS: Final = {
    "per_call_timeout_ms": 90_000,
    "per_call_max_retries": 2,
    "total_trial_timeout_ms": 300_000,
}
STOP_POLICY: Final = {"novelty_epsilon": 0.05, "similarity_threshold": 0.95, "patience": 2}
BACKOFF_MS: Final = 0
EMBEDDING_MAX_CHARS: Final = 8_000

MOST_TRIALS: Final = 100_000
"""More are no run: each of them is a call or three."""

FARTHEST: Final = 2**53
"""Whole numbers beyond it are not exact to everybody who reads the file."""

WHOLE: Final = ("prompts", "decision_contract", "arena", "panel")
"""Parts of `protocol` that a resolved file holds whole."""

CHOSEN: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "decision_contract": lambda part: {"id": part["id"]},
    "arena": dict,
    "panel": lambda part: {name: part[name] for name in ("title", "field")},
}
"""How a file that is not resolved names them."""

ROLES: Final = {
    "proposer_system": "debate_v1_proposer",
    "critic_system": "debate_v1_critic",
    "proposer_final_system": "debate_v1_proposer_final",
}
"""The prompts of a debate's roles in the bank."""


def load_configuration(path: Path) -> Configuration:
    """Read the file of a run.

    A file that `resolve` wrote is one, too.

    Raises:
        Faulty: It cannot be used; each fault is a line.
    """
    return read_configuration(path)[0]


def read_configuration(path: Path) -> tuple[Configuration, Mapping[str, Any]]:
    """Read the file of a run, which may be resolved already (config.resolved.json).

    Returns:
        What it asks for, and of a resolved file the parts of `protocol` that it holds whole, by name.

    Raises:
        Faulty: It cannot be used; each fault is a line.
    """
    value = parsed_file(path)
    whole: dict[str, Any] = {}
    if _is_resolved(value):
        value = record(value, ResolvedConfiguration, str(path)).as_json()
        whole = {name: value["protocol"].pop(name) for name in WHOLE if name in value["protocol"]}
        value["protocol"] |= {name: CHOSEN[name](part) for name, part in whole.items() if name in CHOSEN}
    config = record(value, Configuration, str(path))
    if lines := [f"{path}: {line}" for line in _inconsistencies(config)]:
        raise Faulty(lines)
    return config, whole


def _is_resolved(value: object) -> bool:
    """Return whether a file holds whole what others name; without such a part both kinds of file are the same."""
    match value:
        case {"protocol": {"prompts": _}} | {"protocol": {"decision_contract": {"schema": _}}}:
            return True
        case {"protocol": {"panel": {"contract": dict()}}}:
            return True
    return False


def resolve(
    config: Configuration,
    bank: Bank,
    run_id: str,
    name: str,
    *,
    whole: Mapping[str, Any] = MappingProxyType({}),
) -> ResolvedConfiguration:
    """Fill in every default, every prompt by text and hash, and the contract.

    Args:
        config: What was asked for.
        bank: What may be chosen from.
        run_id: The run's id.
        name: What the file is called in a fault.
        whole: Parts that the file holds whole, as `read_configuration` returns them.

    Raises:
        Faulty: It contradicts itself, a prompt or contract is not known, or its text is not the one that the file says.
    """
    filling = _Filling(bank, whole)
    # Options may have put values in the place of a file's.
    filling.lines += _inconsistencies(config)
    found = config.as_json()
    found["run"]["run_id"] = run_id
    for one in found["sampling"]["models"]:
        one["catalog_status"] = "known" if bank.model(one["model"]) else "unknown_to_catalog"
    sampling = config.sampling
    found["sampling"]["personas"] = [
        filling.prompt(f"sampling.personas[{n}]", one, one.persona, "participant_persona")
        for n, one in enumerate(sampling.personas)
    ]
    found["sampling"]["protocols"] = [
        filling.prompt(f"sampling.protocols[{n}]", one, one.protocol, "participant_protocol_template")
        for n, one in enumerate(sampling.protocols)
    ]
    if sampling.instruments is not None:
        found["sampling"]["instruments"] = [
            filling.prompt(f"sampling.instruments[{n}]", one, one.instrument, "instrument_prompt")
            for n, one in enumerate(sampling.instruments)
        ]
    protocol = found["protocol"]
    protocol["timeouts"] = {**TIMEOUTS, **protocol.get("timeouts", {})}
    chosen, contract = config.protocol.decision_contract, None
    if chosen is not None:
        contract = filling.contract(chosen.id)
        protocol["decision_contract"] = {} if contract is None else contract.as_json()
    of_moot = MootFilling(config, contract, whole.get("panel", {}).get("contract"))
    filling.lines += of_moot.lines
    protocol.update(of_moot.found)
    if config.protocol.type == "debate_v1":
        protocol["prompts"] = {role: filling.role(role, prompt) for role, prompt in ROLES.items()}
    execution = found["execution"]
    execution["retry_policy"] = {"backoff_ms": BACKOFF_MS, **execution["retry_policy"]}
    execution["stop_policy"] = {**STOP_POLICY, **execution.get("stop_policy", {})}
    found["measurement"] = {"embedding_max_chars": EMBEDDING_MAX_CHARS, **found["measurement"]}
    if filling.lines:
        raise Faulty([f"{name}: {line}" for line in filling.lines])
    return record(found, ResolvedConfiguration, name)


class _Filling:
    """Fills in from the bank, and keeps what is not there."""

    def __init__(self, bank: Bank, whole: Mapping[str, Any]) -> None:
        self._bank = bank
        self._whole = whole
        self.lines: list[str] = []

    def prompt(
        self,
        where: str,
        choice: PersonaChoice | ProtocolChoice | InstrumentChoice,
        name: str,
        kind: PromptKind,
    ) -> dict[str, Any]:
        """Return a choice with its words; words of its own are taken for a prompt that the bank does not have."""
        text = choice.text
        known = self._bank.prompts.get(name)
        if known is not None and known.entry.type != kind:
            self.lines.append(f"{where}: {name} is a {known.entry.type}, not a {kind}: choose another")
        elif known is not None:
            if text is not None and text != known.text:
                self.lines.append(
                    f"{where}.text: is not the bank's text of {name}: leave it out, or rename it"
                )
            text = known.text
        elif text is None:
            names = [one.entry.id for one in self._bank.prompts.values() if one.entry.type == kind]
            self.lines.append(f"{where}: there is no {name} in the bank: {_hint(name, names)}")
        found = sha256_of_text(text or "")
        if text is not None and choice.sha256 not in (None, found):
            self.lines.append(f"{where}.sha256: the text of {name} has {found}: correct it, or leave it out")
        return {**choice.as_json(), "sha256": found, "text": text or ""}

    def role(self, role: str, name: str) -> dict[str, Any]:
        """Return the prompt of a role; one by another name is taken as the file holds it whole."""
        known, given = self._bank.prompts[name], self._whole.get("prompts", {}).get(role)
        if given is not None and given["sha256"] != (found := sha256_of_text(given["text"])):
            self.lines.append(
                f"protocol.prompts.{role}.sha256: the text of {given['id']} has {found}: correct it"
            )
        if given is not None and given["id"] != name:
            return dict(given)
        ours = {"id": name, "sha256": known.entry.sha256, "text": known.text}
        self._hold(f"protocol.prompts.{role}", ours, given, name)
        return ours

    def contract(self, name: str) -> ResolvedContract | None:
        """Return a decision contract; one that the bank has not is taken as the file holds it whole."""
        known, given = self._bank.contracts.get(name), self._whole.get("decision_contract")
        if known is not None:
            self._hold("protocol.decision_contract", known.as_json(), given, name)
            return known
        if given is not None and given["id"] == name:
            return ResolvedContract.from_json(json.dumps(given))
        where = "protocol.decision_contract.id"
        self.lines.append(f"{where}: there is no {name} in the bank: {_hint(name, self._bank.contracts)}")
        return None

    def _hold(self, where: str, known: Mapping[str, Any], given: Mapping[str, Any] | None, name: str) -> None:
        """Hold what a resolved file says whole against the bank."""
        if given is None or given["id"] != name or given == known:
            return
        field = next(one for one in {**known, **given} if known.get(one) != given.get(one))
        advice = "name the bank that it was resolved with by --bank, or rename it"
        self.lines.append(f"{where}.{field}: is not the bank's of {name}: {advice}")


def _hint(name: str, known: Any) -> str:
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else f"choose from {', '.join(sorted(known))}"


def _inconsistencies(config: Configuration) -> Iterator[str]:
    """Yield what no schema can say."""
    sampling = config.sampling
    if is_blank(config.question.text):
        yield "question.text: is blank: ask something"
    for kind, weights in (
        ("models", [one.weight for one in sampling.models]),
        ("personas", [one.weight for one in sampling.personas]),
        ("protocols", [one.weight for one in sampling.protocols]),
    ):
        if not 0 < sum(weights) < float("inf"):
            yield f"sampling.{kind}: the weights add up to {sum(weights):g}: give one of them a weight above 0"
    if config.execution.k_max > MOST_TRIALS:
        yield f"execution.k_max: {config.execution.k_max:,} trials, {MOST_TRIALS:,} are the most: lower it"
    if sampling.decode is None:
        return
    for name in type(sampling.decode).model_fields:
        bounds = getattr(sampling.decode, name)
        if not isinstance(bounds, Range | WholeRange):
            continue
        if max(abs(bounds.min), abs(bounds.max)) > FARTHEST:
            yield f"sampling.decode.{name}: min and max lie between -2^53 and 2^53: bring them nearer"
        elif bounds.min > bounds.max:
            yield f"sampling.decode.{name}: min, {bounds.min}, is above max, {bounds.max}: exchange them"
