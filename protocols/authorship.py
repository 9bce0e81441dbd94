"""Whose word a text on a free question is: the one answer that terminal, cards, pages, reports and records give.

Which texts those are, their messages say (`Message.is_free_text`); who wrote one, the log says
(`moot.protocols.kernel.minds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from moot.protocols.kernel.envelope import Envelope
from moot.protocols.kernel.minds import LABELS, Minds, author_of, by_model
from moot.protocols.kernel.seats import Seat
from moot.protocols.rulebook import rulebook


def label(envelope: Envelope, minds: Minds) -> str:
    """Return what stands beside a message: "simulated, no model", or "by the model qwen3:8b".

    Args:
        envelope: Any message, its body read or not.
        minds: Who filled the seats then.

    Returns:
        The label, "" where a person or a mind of somebody's own speaks, and beside what answers no free question and
        is no model's.
    """
    return minds.label(envelope, is_free=envelope.body.type in rulebook().free_texts)


def written_by(messages: Iterable[Envelope], minds: Minds) -> dict[str, list[str]]:
    """Say by whom each seat wrote its texts on a free question: a label, "a person", or a mind's name.

    Args:
        messages: Of a case, for example.
        minds: Who filled the seats then.

    Returns:
        Seats in the order in which they first wrote, each with everybody who did, the first one first.
    """
    found: dict[str, dict[str, None]] = {}
    for env in messages:
        if env.body.type in rulebook().free_texts:
            found.setdefault(str(env.author), {})[minds.author(env)] = None
    return {seat: list(authors) for seat, authors in found.items()}


def will_write(
    seats: Iterable[Seat], named: Mapping[str, object], models: object = None
) -> dict[str, list[str]]:
    """Say before anything is written by whom it will be, as `written_by` does afterwards.

    Args:
        seats: Who will write.
        named: As SOCIETY_STARTED will say it of the minds that are not simulated.
        models: As it will say it of the models that are configured.
    """
    minds = Minds()
    minds.put(0, named, models)
    return {str(seat): [author_of(minds.of(seat, 0))] for seat in seats}


def labels(written: Mapping[str, Iterable[str]]) -> str:
    """Return the label of a whole that several seats wrote: every label that one of them has, and every model, once.

    Args:
        written: As `written_by` gives it.
    """
    known = LABELS.values()
    found = (one if one in known else by_model(one) for authors in written.values() for one in authors)
    return "; ".join(dict.fromkeys(filter(None, found)))


def is_modelless(written: Mapping[str, Iterable[str]]) -> bool:
    """Say whether whatever several seats write has a label.

    Args:
        written: As `written_by` gives it.
    """
    return all(one in LABELS.values() for authors in written.values() for one in authors)


def summary(written: Mapping[str, Iterable[str]]) -> str:
    """Say in one line who wrote: once what holds for all seats, else seat by seat.

    Args:
        written: As `written_by` gives it.
    """
    told = {seat: " and ".join(authors) for seat, authors in written.items()}
    if len(set(told.values())) <= 1:
        return next(iter(told.values()), "")
    return "; ".join(f"{seat}: {authors}" for seat, authors in told.items())
