"""A recorded run: what of a log has to be given to live it again, and whether what came is the same (K29).

Everything else follows: a run in virtual time with the same start, the same words of people and the same answers of
models is the same log, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from moot.bots.models.in_use import ModelInUse
from moot.bots.models.recorded import RecordedCall
from moot.channels.errors import ChannelError
from moot.channels.log.file import reading
from moot.config.settings import ConfigError, Settings
from moot.memory.bodies import StoredBodies
from moot.memory.bodies_file import CALLS_NAME, StoredBodiesFile
from moot.memory.errors import MemoryStoreError
from moot.minds.choosing import MindSource
from moot.minds.model_choice import key_variable
from moot.place import LOG_NAME, data_dir
from moot.protocols.calls.messages import CallReserved, CallSettled
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput
from moot.protocols.kernel.message import Message
from moot.protocols.kernel.minds import unscripted
from moot.protocols.kernel.officers import SocietyStarted, SocietyStopped
from moot.protocols.kernel.seats import PEOPLE
from moot.stored import stored_envelopes

T = TypeVar("T", bound=Message)


@dataclass(frozen=True, kw_only=True)
class Life:
    """A life of a recorded society: from a SOCIETY_STARTED to its end, or to a kill.

    Attributes:
        recording: What it is part of.
        started: Its SOCIETY_STARTED.
        cut: Its last message, if it was killed behind it; None: it came to its end, or is to go on.
        goes_on: Whether models are called for what the recording does not have.
        key_env: The variable that holds their key then; "": none is sent.
    """

    recording: Recording
    started: SocietyStarted
    cut: int | None
    goes_on: bool = False
    key_env: str = ""

    @cached_property
    def settings(self) -> Settings:
        """Return its settings.

        Raises:
            BadInput: This Moot does not know one of them.
        """
        try:
            found = Settings.of_log(self.started.config)
            models = {
                name: model.model_copy(update={"key_env": self.key_env})
                for name, model in found.models.items()
            }
            return found.model_copy(update={"models": models})
        except ConfigError as exc:
            raise BadInput(f"{self.recording.directory} cannot be replayed: {exc}") from None

    @cached_property
    def models(self) -> dict[str, ModelInUse]:
        """Return how the models that fill its seats were called, by name.

        Raises:
            UnusableModel: The log does not say.
        """
        told = self.started.config.get("models", {})
        named = {
            mind["model"] for mind in self.minds.values() if isinstance(mind, Mapping) and "model" in mind
        }
        return {name: ModelInUse.of_log(name, told.get(name, {})) for name in sorted(named)}

    @property
    def minds(self) -> dict[str, MindSource]:
        """Return what filled its seats, besides a script."""
        return unscripted(self.started.config.get("minds", {}))[0]


class Recording:
    """The log of a run in virtual time, with what its models were asked and answered.

    Attributes:
        directory: Where it is kept.
        start: When it began.
        until: When its last message was said.
        messages: How many it has.
        is_whole: Whether it came to its end.
        lives: Its lives, oldest first: more than one where it was killed and went on.
    """

    def __init__(self, named: Path, *, goes_on: bool = False, key_env: str | None = None) -> None:
        """Open a recorded run.

        Args:
            named: Its directory.
            goes_on: Whether it goes on, with models that are called, where the recording ends; else that is a miss.
            key_env: The variable that holds their key then; None: `KEY_VARIABLE`, where that is set.

        Raises:
            BadInput: There is none, or it is none that can be replayed.
        """
        if not named.exists():
            raise BadInput(f"there is no {named}: name the directory that --out of a run named")
        self.directory = data_dir(named)
        starts: list[SocietyStarted] = []
        cuts: list[int | None] = []
        last: Envelope | None = None
        for env in self.envelopes():
            if isinstance(env.body, SocietyStarted):
                if last is not None:
                    cuts.append(_cut(last))
                else:
                    self.start = env.sent_at
                starts.append(env.body)
            elif last is None:
                break
            last = env
        if last is None:
            raise BadInput(f"{named} cannot be replayed: its log does not begin with a SOCIETY_STARTED")
        self.until, self.messages = last.sent_at, last.seq
        self.is_whole = _cut(last) is None
        cuts.append(None if goes_on else _cut(last))
        for started in starts:
            if started.clock != "virtual":
                raise BadInput(
                    f"{named} cannot be replayed: it ran in {started.clock} time, where answers come when they come;"
                    f" moot verify {named} checks it"
                )
        self.lives = tuple(
            Life(recording=self, started=started, cut=cut, goes_on=goes_on, key_env=key_variable(key_env))
            for started, cut in zip(starts, cuts, strict=True)
        )

    @property
    def first(self) -> Life:
        """Return the life with which it began."""
        return self.lives[0]

    def said(self, kind: type[T]) -> tuple[T, ...]:
        """Return what people said of a type, oldest first."""
        every = self.envelopes()
        return tuple(env.body for env in every if env.author in PEOPLE and isinstance(env.body, kind))

    def opener(self, kind: type[T], command: str) -> T:
        """Return the message with which a case that was held outside a society began.

        Raises:
            BadInput: It is no recording of such a case.
        """
        found = self.said(kind)
        if self.first.started.society_id != f"workshop/{self.first.started.seed}" or not found:
            raise BadInput(f"{self.directory} was not kept by {command}: it cannot replay that")
        return found[0]

    def check_scripts(self, scripted: bool) -> None:
        """Refuse a run for which a script spoke, unless somebody gives it again: it is not in the log.

        Raises:
            BadInput: It is missing.
        """
        _, seats = unscripted(self.first.started.config.get("minds", {}))
        if seats and not scripted:
            raise BadInput(f"{self.directory}: a script spoke for the {seats[0]}: give the same one again")

    def answers(self) -> dict[str, RecordedCall]:
        """Return the calls that were settled, by id."""
        reserved: dict[str, CallReserved] = {}
        found: dict[str, RecordedCall] = {}
        for env in self.envelopes():
            body = env.body
            if isinstance(body, CallReserved):
                reserved[body.call_id] = body
            elif isinstance(body, CallSettled):
                found[body.call_id] = RecordedCall(reserved[body.call_id], body)
        return found

    def bodies(self) -> StoredBodies:
        """Open what its models were asked and answered.

        Raises:
            BadInput: It is not there.
        """
        try:
            return StoredBodiesFile(self.directory / CALLS_NAME)
        except MemoryStoreError as exc:
            raise BadInput(f"{self.directory} cannot be replayed: {exc}") from None

    def difference(self, other: Path) -> int | None:
        """Return the place of the first message in which another log differs; None: both are the same, byte for byte.

        Raises:
            ChannelError: A log cannot be read.
        """
        with reading(self.directory / LOG_NAME) as ours, reading(other / LOG_NAME) as theirs:
            for n, (one, two) in enumerate(zip_longest(ours.walk(1), theirs.walk(1)), 1):
                if one != two:
                    return n
        return None

    def envelopes(self) -> Iterator[Envelope]:
        """Yield its messages, oldest first.

        Raises:
            BadInput: The log cannot be read.
        """
        try:
            yield from stored_envelopes(self.directory)
        except ChannelError as exc:
            raise BadInput(f"{self.directory} cannot be replayed: {exc}") from None


def _cut(last: Envelope) -> int | None:
    return None if isinstance(last.body, SocietyStopped) else last.seq
