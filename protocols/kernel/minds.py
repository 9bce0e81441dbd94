"""Which mind fills which seat, by the log; and whose word a text is that answers a question anybody may put.

A strategy's figures can be computed again, an opinion on a free question cannot: so whoever reads one is told when no
model wrote it. What a model writes is called that everywhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from moot.protocols.kernel.context import Fold
from moot.protocols.kernel.envelope import Actor, Envelope
from moot.protocols.kernel.errors import OfficerFault
from moot.protocols.kernel.seats import Seat

if TYPE_CHECKING:
    from moot.protocols.kernel.docket import Docket
    from moot.protocols.kernel.effects import Effects

SIMULATED: Final = "simulated"
"""The mind that is shipped, and that a seat has for which nothing else is said."""
SILENT: Final = "silent"
"""The mind that leaves a seat to people."""
SCRIPTED: Final = "scripted"
"""A script says what the seat writes."""
PARTLY_SCRIPTED: Final = "scripted and simulated"
"""A script says some of it, and a simulated mind what that leaves open (`behind_scripts`)."""

MODEL: Final = "the model "
"""How the name of a model's mind begins: `the model local (qwen3:8b)`."""

STAND_IN: Final = Actor("bot", SIMULATED)
"""A simulated mind that answers for the one that fills a seat, where a model cannot be asked or need not be."""

REHEARSAL: Final = "rehearsal"
"""What stands beside everything that is said where things are made to go wrong on purpose."""

LABELS: Final[Mapping[str, str]] = {
    mind: f"{mind}, no model" for mind in (SIMULATED, SCRIPTED, PARTLY_SCRIPTED)
}
"""What stands beside a text by such a mind, behind which there surely is no language model."""


def behind_scripts(minds: Mapping[str, Any], scripted: Iterable[str]) -> dict[str, Any]:
    """Name what fills the seats where a script speaks for some, and their minds say what it leaves open.

    Args:
        minds: What fills the seats besides, by seat; simulated where nothing is said.
        scripted: The seats of the script.
    """
    both = {seat: minds.get(seat, SIMULATED) for seat in sorted(scripted)}
    return {
        **minds,
        **{
            seat: {**mind, SCRIPTED: True} if isinstance(mind, Mapping) else f"{SCRIPTED} and {mind}"
            for seat, mind in both.items()
        },
    }


def unscripted(minds: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return what `behind_scripts` was given: the minds besides, and the seats of the script."""
    found: dict[str, Any] = {}
    scripted = []
    for seat, mind in minds.items():
        if isinstance(mind, Mapping):
            found[seat] = {name: value for name, value in mind.items() if name != SCRIPTED}
            is_scripted = SCRIPTED in mind
        else:
            behind = str(mind).removeprefix(f"{SCRIPTED} and ")
            is_scripted = behind != mind or mind == SCRIPTED
            if mind != SCRIPTED:
                found[seat] = behind
        if is_scripted:
            scripted.append(seat)
    return found, scripted


def author_of(mind: str) -> str:
    """Say who writes where a mind sits: its label, its name, or nobody."""
    if mind == SILENT:
        return "nobody"
    return LABELS.get(mind) or (mind if is_models(mind) else f"the mind {mind}")


def is_models(mind: str) -> bool:
    """Say whether a mind, by its name, is a model's, behind a script or not."""
    return mind.removeprefix(f"{SCRIPTED} and ").startswith(MODEL)


def by_model(mind: str) -> str:
    """Say beside what a model's mind writes that it does: "by the model qwen3:8b"; "" for any other mind."""
    if not is_models(mind):
        return ""
    script, model, name = mind.rpartition(MODEL)
    own = re.fullmatch(r"[^ ]+ \((.+)\)", name)
    return f"{script}by {model}{own[1] if own else name}"


def models_in(config: object) -> dict[str, list[str]]:
    """Return which models fill which seats by a logged configuration: seats by the name of their mind."""
    if not isinstance(config, Mapping):
        return {}
    minds = Minds()
    minds.put(0, config.get("minds"), config.get("models"))
    return minds.models(0)


class Minds(Fold):
    """Which mind fills which seat from which message on, as SOCIETY_STARTED and CONFIG_CHANGED say (K4).

    Attributes:
        is_rehearsal: Whether all that is said is said in a rehearsal; None before the first start.
    """

    name = "minds"
    types = frozenset({"SOCIETY_STARTED", "CONFIG_CHANGED"})

    def __init__(self) -> None:
        """Know of no start: every seat is simulated."""
        self._since: list[int] = []
        self._given: list[dict[str, str]] = []
        self._models: object = None
        self.is_rehearsal: bool | None = None

    def apply(self, env: Envelope, fx: Effects, docket: Docket) -> None:
        """Take in one envelope.

        Raises:
            OfficerFault: A start makes a rehearsal of a log that is none, or the reverse.
        """
        before = self.is_rehearsal
        self.learn(env)
        if before is not None and self.is_rehearsal != before:
            found = "a rehearsal's log goes on as if it were none" if before else "the log is no rehearsal's"
            raise OfficerFault(f"{env.body.type}: {found}", seq=env.seq)

    def learn(self, env: Envelope) -> bool:
        """Take in a message, of a type that this version reads or not; say whether it changes who sits where."""
        if env.body.type not in self.types:
            return False
        body = env.body.model_dump()
        is_start = env.body.type == "SOCIETY_STARTED"
        if is_start:
            self.is_rehearsal = body.get("rehearsal") is not None
        told = body.get("config" if is_start else "changes")
        if not isinstance(told, Mapping) or not (is_start or "minds" in told):
            return False
        if is_start or "models" in told:
            self._models = told.get("models")
        return self.put(env.seq, told.get("minds"), self._models)

    def put(self, seq: int, told: object, models: object = None) -> bool:
        """Note what fills the seats from a message on, by seat; say whether that is news.

        Args:
            seq: The message.
            told: What fills them, by seat, as configuration gives it.
            models: The models that are configured, by name.
        """
        minds = (
            {str(seat): _named(mind, models) for seat, mind in told.items()}
            if isinstance(told, Mapping)
            else {}
        )
        minds = {seat: mind for seat, mind in sorted(minds.items()) if mind != SIMULATED}
        at = bisect_right(self._since, seq)
        if minds == (self._given[at - 1] if at else {}):
            return False
        if at and self._since[at - 1] == seq:
            self._given[at - 1] = minds
        else:
            self._since.insert(at, seq)
            self._given.insert(at, minds)
        return True

    def at(self, seq: int) -> Mapping[str, str]:
        """Return the minds by seat, simulated ones left out, as they were when a message was said."""
        found = bisect_right(self._since, seq)
        return self._given[found - 1] if found else {}

    def of(self, seat: Seat, seq: int) -> str:
        """Name the mind that filled a seat when a message was said, if no person sat there."""
        return self.at(seq).get(seat, SIMULATED)

    def models(self, seq: int) -> dict[str, list[str]]:
        """Return which models filled which seats when a message was said: seats by the name of their mind."""
        found: dict[str, list[str]] = {}
        for seat, mind in self.at(seq).items():
            if is_models(mind):
                found.setdefault(mind, []).append(seat)
        return found

    def author(self, env: Envelope) -> str:
        """Say who wrote a message of a seat: a person, or what filled the seat then."""
        return "a person" if env.actor.kind == "human" else author_of(self.writer(env))

    def writer(self, env: Envelope) -> str:
        """Name the mind that wrote a message of a seat, if no person did."""
        return SIMULATED if env.actor == STAND_IN else self.of(env.author, env.seq)

    def label(self, env: Envelope, *, is_free: bool = True) -> str:
        """Return what stands beside a message of a seat: that no model wrote it, or which one did; "" elsewhere.

        Args:
            env: The message.
            is_free: Whether it is a text on a free question; of others only a model's have a label.
        """
        if env.actor.kind != "bot":
            return ""
        mind = self.writer(env)
        return by_model(mind) or (LABELS.get(mind, "") if is_free else "")


def _named(mind: object, models: object) -> str:
    """Name a mind as configuration gives it: by a word, by the class that makes it, or by its model."""
    if not isinstance(mind, Mapping):
        return str(mind)[:200]
    if "model" in mind:
        named = model_named(str(mind["model"])[:200], models)
        return f"{SCRIPTED} and {named}" if mind.get(SCRIPTED) else named
    name = str(mind.get("module", ""))[:200]
    return name if ":" in name else f"of the module {name or 'without a name'}"


def model_named(name: str, models: object = None) -> str:
    """Name the mind of a model, by its own name beside the configured one unless they say the same.

    Args:
        name: NAME of the `[models.NAME]`.
        models: The models that are configured, by name.
    """
    held = models.get(name) if isinstance(models, Mapping) else None
    own = str(held.get("model", ""))[:200] if isinstance(held, Mapping) else ""
    if not own or in_short(own) == name:
        return f"{MODEL}{own or name}"
    return f"{MODEL}{name} ({own})"


def in_short(model: str) -> str:
    """Return a model's own name as configuration may name it: `qwen3:8b` as `qwen3-8b`."""
    return re.sub(r"[^a-z0-9_]+", "-", model.lower()).strip("-_")[:40].rstrip("-_") or "model"
