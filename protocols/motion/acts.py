"""What people may do with motions: have a question debated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.protocols.kernel.acts import Act, Blank, Doer
from moot.protocols.motion.messages import Motion


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
            Blank("question", "what is asked", is_loose=True),
            Blank(
                "options",
                "two or more answers to choose from, such as Rome | Oslo; none: yes or no",
                sign="|",
            ),
            Blank("context", "a text that all seats are shown", field="context_ref", is_kept=True),
        ),
        complete=_listed,
    ),
)
