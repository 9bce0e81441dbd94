"""One quick question to a text: whether a regex is found in it anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from pydantic_core import SchemaValidator, core_schema

_LOOKING: Final = re.compile(r"\(\?<?!(?:[^()\[\]]|\[[^\]]*\])*\)")
_ANY: Final = re.compile(r"(?<!\\)\.(?=[{?*+])")


def scanner(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Make of patterns one test of ASCII text that is true wherever one of them is found, and seldom elsewhere.

    The engine is the one that pydantic brings: it never goes back, so that any text takes linear time, and many
    patterns cost no more than one. It knows no negative look-around; a pattern is taken without it, which finds more.

    They are compiled when a text is first tested.

    Args:
        patterns: Regexes as `re` reads them; of letters, digits and blanks they mean those of ASCII.

    Returns:
        The test. Characters beyond ASCII stand for none of the pattern; a lone surrogate makes it false.
    """
    plain = (_ANY.sub(r"[\\x00-\\x7f]", _LOOKING.sub("", pattern)) for pattern in patterns)
    union = "|".join(f"(?:{pattern})" for pattern in plain)
    schema = core_schema.str_schema(pattern=f"(?-u){union}", regex_engine="rust-regex", strict=True)
    validator = cache(lambda: SchemaValidator(schema))
    return lambda text: validator().isinstance_python(text)
