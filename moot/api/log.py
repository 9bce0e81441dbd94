"""A log as Python reads it: messages, cases, strategies and the verification, of a directory, a file or from memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.api.case import Case, Strategy
from moot.api.showing import html_table
from moot.channels.showing.namebook import TELLING, NameBook
from moot.channels.showing.rendering import Speakers, sentence
from moot.config.protocols import speaking
from moot.logs import LogSource, asking
from moot.logs import open_log as open_source
from moot.logs.inmemory import Kept
from moot.place import data_dir
from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.errors import BadInput, MootError
from moot.protocols.kernel.protocol import Protocol
from moot.protocols.kernel.seats import Seat
from moot.protocols.kernel.times import rfc3339

if TYPE_CHECKING:
    import pandas as pd

    from moot.api.case import Folded
    from moot.call_history.listing import Call
    from moot.explaining.explanation import Explanation
    from moot.verify import Report

Several = str | Iterable[str] | None
"""One word, several of which any will do, or None for all."""

SHOWN = 20
"""Messages of a log that a notebook shows."""


class Log:
    """A log, open for reading; whoever writes it is not disturbed, and nothing in it is changed.

    Attributes:
        name: Where it is, "memory" for one that nothing keeps.
        protocols: The protocols that it speaks and a program brought as objects.
    """

    def __init__(
        self, name: str, source: Callable[[], LogSource], protocols: Sequence[Protocol] = ()
    ) -> None:
        """Keep the function that opens the log for each read, and its protocols besides the installed ones."""
        self.name = name
        self._source = source
        self.protocols = tuple(protocols)

    def messages(
        self,
        *,
        type: Several = None,
        channel: Several = None,
        seat: Several = None,
        case: Several = None,
    ) -> Iterator[Envelope]:
        """Yield messages in their order, one at a time; what is left out is not asked for.

        Args:
            type: `"VERDICT"`, or several types.
            channel: `"#a-verdict"`; `#` may be left out.
            seat: Who wrote: `"critic"`.
            case: The id of a case.

        Raises:
            BadInput: There is no such channel, seat or type.
            LogError: The log cannot be read.
        """
        with speaking(self.protocols):
            wanted = {
                name: found
                for name, found in (
                    ("type", self._types(type)),
                    ("channel", _each(channel, asking.channel)),
                    ("author", _each(seat, asking.seat)),
                    ("case_id", _each(case, str)),
                )
                if found is not None
            }
        with self._source() as source:
            yield from source.envelopes(wanted)

    def __iter__(self) -> Iterator[Envelope]:
        """Yield every message."""
        return self.messages()

    def __len__(self) -> int:
        """Return how many messages there are."""
        with self._source() as source:
            return source.count()

    @property
    def cases(self) -> Mapping[str, Case]:
        """The cases by id, as they were opened: debates, runs, panels, deployments and so on.

        Raises:
            LogError: The log cannot be read.
            MootError: It breaks the rules, so that it cannot be folded; `verify` says more.
        """
        return self._folded.cases

    @property
    def strategies(self) -> Mapping[str, Strategy]:
        """The strategies by id, as memory has them; raises as `cases` does."""
        return self._folded.strategies

    def calls(self) -> tuple[Call, ...]:
        """Return the calls of models, as they were asked for, with what each came to; raises as `cases` does."""
        return self._folded.calls

    def why(self, id: str | int) -> Explanation:
        """Explain what an id stands for, as `moot why` does: who decided what, on which figures, and what followed.

        Args:
            id: Of a case, a strategy, an obligation, or of anything else that messages name; or a message's number.

        Raises:
            BadInput: Nothing is called so.
            LogError: The log cannot be read.
        """
        from moot.explaining.explain import explain

        with speaking(self.protocols):
            return explain(self._source, str(id))

    def view(self, seat: str, *, case: str | None = None, owed: str | None = None) -> Iterator[Envelope]:
        """Yield the messages that a seat may see, as `moot view` does: those of the channels that it reads.

        Args:
            seat: `"critic"`.
            case: Only those of this case.
            owed: Id of an obligation that the seat has or had: what it was shown for that, which may be less.

        Raises:
            BadInput: There is no such seat, or it never owed that.
            LogError: The log cannot be read.
            MootError: It breaks the rules, so that it cannot be folded.
        """
        from moot.api.case import followed
        from moot.seeing import Onlooker

        with speaking(self.protocols):
            onlooker = Onlooker(Seat(asking.seat(seat)), owed)
            with self._source() as source:
                onlooker.end(followed(source.envelopes(), self.name, onlooker.take))
            with self._source() as source:
                seen = [*onlooker.sees(source.envelopes(), case)]
        yield from seen

    def verify(self, *, evidence: bool = True, strict: bool = False) -> Report:
        """Judge the log as `moot verify` does, trusting nothing in it.

        Args:
            evidence: Whether to compute backtests, fills and prices again.
            strict: Whether what is not borne out counts as a failure.

        Returns:
            The report: `ok`, `messages`, `findings`, `unproven`, `warnings`, `figures`.
        """
        from moot.verify import verify

        with speaking(self.protocols), self._source() as source:
            return verify(source, evidence=evidence, strict=strict)

    def write(self, path: Path | str) -> Path:
        """Write the log as JSON Lines, as `moot export` does; `moot verify` and `moot.open_log` read it.

        Raises:
            BadInput: The file cannot be written.
        """
        place = Path(path)
        try:
            with place.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{env.line}\n" for env in self)
        except OSError as error:
            raise BadInput(f"{place}: {error.strerror or error}") from None
        return place

    def to_dict(self) -> dict[str, Any]:
        """Return the name and every message, as JSON has them."""
        return {"name": self.name, "messages": [json.loads(env.line) for env in self]}

    def to_pandas(self) -> pd.DataFrame:
        """Return a table, a message a row: seq, sent_at, channel, author, type, case_id, text, and the body as a dict.

        Raises:
            MootError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise MootError(
                "to_pandas needs pandas, which is not installed here: pip install pandas"
            ) from None
        rows = [
            (
                e.seq,
                e.sent_at,
                e.channel,
                e.author,
                e.body.type,
                e.case_id,
                sentence(e, self.who),
                json.loads(e.json)["body"],
            )
            for e in self
        ]
        names = ["seq", "sent_at", "channel", "author", "type", "case_id", "text", "body"]
        return pandas.DataFrame(rows, columns=names).set_index("seq")

    def __repr__(self) -> str:
        """Name it, with its length."""
        return f"<moot.Log {self.name}: {len(self):,} messages>"

    def _repr_html_(self) -> str:
        """Show the first messages in a notebook."""
        first = [*islice(self, SHOWN)]
        rows = [(env.seq, rfc3339(env.sent_at), env.channel, sentence(env, self.who)) for env in first]
        count = len(self)
        title = f"Log {self.name}: {count:,} messages" + (f", the first {SHOWN}" if count > SHOWN else "")
        return html_table(title, ("seq", "sent at", "channel", "message"), rows)

    @cached_property
    def who(self) -> Speakers:
        """Who speaks: people by name, seats by the minds that filled them."""
        with speaking(self.protocols), self._source() as source:
            book = NameBook()
            for env in source.envelopes({"type": frozenset(TELLING)}):
                book.note(env)
        return book.who

    @cached_property
    def _folded(self) -> Folded:
        from moot.api.case import folded

        with speaking(self.protocols), self._source() as source:
            return folded(source.envelopes(), self)

    def _types(self, given: Several) -> frozenset[str] | None:
        try:
            return _each(given, asking.message_type)
        except BadInput:
            # A log may hold types that these rules do not know.
            held = _each(given, str.upper) or frozenset()
            with self._source() as source:
                if held <= {env.body.type for env in source.envelopes({"type": held})}:
                    return held
            raise


def open_log(path: Path | str, protocols: Sequence[Protocol] = ()) -> Log:
    """Open a log.

    Args:
        path: A data directory, the directory of a run, or a file of JSON Lines, plain or gzip.
        protocols: Protocols of your own that it speaks, where they are not installed.

    Raises:
        BadInput: The directory holds no log.
        LogError: The file is no log.
    """
    place = Path(path)
    if place.is_dir() or not place.exists():
        place = data_dir(place)
    open_source(place).close()
    return Log(str(path), lambda: open_source(place), protocols)


def log_of(messages: Sequence[Envelope], protocols: Sequence[Protocol] = ()) -> Log:
    """Return what a society in memory logged, and the protocols that it was given as objects."""
    return Log("memory", lambda: Kept("memory", messages), protocols)


def _each(given: Several, read: Callable[[str], str]) -> frozenset[str] | None:
    if given is None:
        return None
    return frozenset(map(read, [given] if isinstance(given, str) else given))
