"""The base of all errors that are told to a user, and the errors of the protocol core.

Tree::

    MootError                   its text is one line: what is wrong, where, what to do
    ├── BadInput                a value, a file or a directory that cannot be used
    └── the bases of all packages: ConfigError, LogError, ChannelError, ToolError, ...

    ProtocolError
    ├── LocalProtocolError      ours: a bug in Moot
    │   └── OfficerFault        an officer's message that the tables do not derive (K5)
    └── Violation               theirs: what a seat or a person sent breaks a rule
        ├── Malformed           bytes that are no message; says which field and why
        ├── Forbidden           a seat, channel or type the permission matrix does not allow
        ├── Consequential       a violation whose consequence is a ruling (K10)
        └── Late                an answer to something already ruled on (K5, R-E4)
"""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = re.compile(r" \[(?:messages|(?:R-)?[A-Z]{0,2}\d[\d.]*)\]$")


class MootError(Exception):
    """Base of what goes wrong for reasons that a user can understand; its text is one line for them."""


class BadInput(MootError):
    """Say that a value, a file or a directory cannot be used, and what can."""


class ProtocolError(MootError):
    """Base of all errors of `protocols`."""


class LocalProtocolError(ProtocolError):
    """Report a bug of ours: the code asked the protocol for something it cannot mean."""


class OfficerFault(LocalProtocolError):
    """Report an officer's message that differs from what the tables derive; the host stops on it (K5).

    Attributes:
        seq: Sequence number of the faulty message, 0 while it is not logged.
        why: One sentence.
    """

    def __init__(self, why: str, *, seq: int = 0) -> None:
        """Keep the sentence and the place."""
        super().__init__(f"seq {seq}: {why}" if seq else why)
        self.seq = seq
        self.why = why


class Violation(ProtocolError):
    """Say that a message breaks a rule; its text is the sentence for people, with the field in front.

    Attributes:
        rule: The rule's number: a spec section ("1.3"), a ruling ("R-D9") or a kernel number ("K14").
        why: One sentence for people.
        field: Dotted path of the offending field, or None when the message as a whole offends.
    """

    def __init__(self, rule: str, why: str, *, field: str | None = None) -> None:
        """Keep rule, sentence and field."""
        super().__init__(f"{field}: {why}" if field else why)
        self.rule = rule
        self.why = why
        self.field = field

    @property
    def numbered(self) -> str:
        """Return the text with the rule's number behind it, as the audit keeps it."""
        return f"{self} [{self.rule}]"


def unnumbered(text: str) -> str:
    """Return what the audit keeps of a refusal as people are told it, without the number of a rule."""
    return _NUMBER.sub("", text)


class Malformed(Violation):
    """Refuse bytes that are no message of ours."""


class Forbidden(Violation):
    """Refuse a message that its author may not post there."""


class Late(Violation):
    """Mark an answer that came after the ruling that voided its obligation; it changes nothing (K5)."""


class Consequential(Violation):
    """Break a rule in a way that the table answers with a RULING; the case waits for it (K10).

    Attributes:
        decision: What the referee must rule: (outcome, reason, rule).
    """

    def __init__(
        self, rule: str, why: str, decision: tuple[str, str, str], *, field: str | None = None
    ) -> None:
        """Keep the decision beside the violation."""
        super().__init__(rule, why, field=field)
        self.decision = decision
