"""A program of its own: run the Python of Markdown pages as a reader would, by whatever Python runs this.

Usage: python run_snippets.py PAGE.md ... Each page's blocks run in their order, in one namespace and one fresh
directory. A block whose first line is `# name.py` is a file of that name besides. Where a block is followed by a block
of text, it prints just that. Prints a line for each block that ran; the first that fails ends it with exit code 1.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
import traceback
from contextlib import redirect_stdout
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.S | re.M)
FILE = re.compile(r"# ([\w/]+\.py)\n")


def run(page: Path) -> int:
    """Run a page's blocks; returns how many."""
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for n, (code, expected) in enumerate(blocks, 1):
        where = f"{page.name}, block {n}"
        if named := FILE.match(code):
            file = Path(named[1])
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(code, encoding="utf-8")
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, where, "exec"), names)
        if expected and printed.getvalue() != expected:
            sys.exit(f"{where} prints\n{printed.getvalue()}\nand the page says\n{expected}")
        print(where, flush=True)
    return len(blocks)


def main(pages: list[str]) -> None:
    """Run every page in a directory of its own, which is on the path as the current one is."""
    sys.path.insert(0, "")
    for page in map(Path, pages):
        with tempfile.TemporaryDirectory() as place:
            os.chdir(place)
            try:
                run(page)
            except Exception:
                sys.exit(f"{page.name}: {traceback.format_exc()}")
            finally:
                os.chdir("/")


if __name__ == "__main__":
    main(sys.argv[1:])
