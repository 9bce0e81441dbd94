"""What people may do with motions: have a question debated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.kernel.acts import Act, Blank, Doer, Words
from moot.protocols.motion.messages import Motion

BETWEEN: Final = "|"
"""Stands before each option behind a question: `Where do we meet? | Rome | Oslo`."""


def _read(words: Words) -> Mapping[str, Any]:
    question, *options = (part.strip() for part in words["question"].split(BETWEEN))
    return {"question": question, "options": options}


def _listed(fields: Mapping[str, Any], _doer: Doer) -> Mapping[str, Any]:
    """Take options as a page or a gateway sends them: as a list."""
    options = fields.get("options", ())
    return {**fields, "options": tuple(options) if isinstance(options, list) else options}


ACTS: Final = (
    Act(
        name="debate",
        does="have a question debated in #motions",
        message=Motion,
        asks=(
            Blank("question", "what is asked; options, if any, behind it: Where do we meet? | Rome | Oslo"),
        ),
        read=_read,
        complete=_listed,
    ),
)
