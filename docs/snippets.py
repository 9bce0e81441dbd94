"""Run the Python of Markdown pages as a reader would, by whatever Python runs this; `generate.py` writes the output.

Usage: python docs/snippets.py PAGE.md ... Each page's blocks run in their order, in one namespace and one fresh
directory. A block before which the page says "Put this into `name.py`" is a file of that name besides, and one before
which it says "Save this as `name.py`" is only that: it runs until somebody stops it. Where a block is followed by a
block of text, it prints just that. Prints a line for each block; the first that fails ends it with exit code 1, and one
that does not end shows where it stands.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

BLOCK: Final = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.S | re.M)
FILE: Final = re.compile(r"(Put this into|Save this as) `([\w/]+\.py)`[^:]*:\s*\Z")
PATIENCE_S: Final = 240


def printed(text: str, name: str) -> Iterator[tuple[re.Match[str], str]]:
    """Run a page's blocks; yield each with what it prints.

    Args:
        text: The page.
        name: What it is called in a traceback.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        sys.path.insert(0, place)
        try:
            for n, block in enumerate(BLOCK.finditer(text), 1):
                if named := FILE.search(text, 0, block.start()):
                    file = Path(named[2])
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(block[1], encoding="utf-8")
                out = io.StringIO()
                code = compile(block[1], f"{name}, block {n}", "exec")
                if named is None or named[1] != "Save this as":
                    with contextlib.redirect_stdout(out):
                        exec(code, names)
                yield block, out.getvalue()
        finally:
            sys.path.remove(place)
            os.chdir(before)


def with_output(text: str, name: str) -> str:
    """Return a page with what its blocks print; a page that shows nothing is returned as it is."""
    if all(block[2] is None for block in BLOCK.finditer(text)):
        return text
    found, end = [], 0
    for block, out in printed(text, name):
        if block[2] is not None:
            found += [text[end : block.start(2)], out]
            end = block.end(2)
    return "".join([*found, text[end:]])


def main(pages: list[str]) -> None:
    """Run every page."""
    faulthandler.dump_traceback_later(PATIENCE_S, exit=True)
    for page in map(Path, pages):
        try:
            for n, (block, out) in enumerate(printed(page.read_text(encoding="utf-8"), page.name), 1):
                if block[2] is not None and block[2] != out:
                    sys.exit(f"{page.name}, block {n} prints\n{out}\nand the page says\n{block[2]}")
                print(f"{page.name}, block {n}", flush=True)
        except Exception:
            sys.exit(f"{page.name}: {traceback.format_exc()}")


if __name__ == "__main__":
    main(sys.argv[1:])
