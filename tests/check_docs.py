"""Check that every relative link in the repository's Markdown leads somewhere.

Usage: python tests/check_docs.py [ROOT]. Prints a `file:line: reason` for each broken link; exits 1 if any.
A link is whole when its file lies in the repository and, where it names an anchor, a heading there makes it.
Addresses on the network are not opened, and links inside code are text.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

UNWRITTEN = frozenset({"build", "moot-data", "runs", "node_modules"})
FENCE = re.compile(r"^ {0,3}(?:>\s?|[-*+] |\d+[.)] )*\s*(`{3,}|~{3,})")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
INLINE = re.compile(
    r"\]\(\s*(?:<([^>]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
)
REFERENCE = re.compile(r"^ {0,3}\[[^\]^]+\]:\s*(?:<([^>]*)>|(\S+))")
TAG = re.compile(r"<(?:img|source|a)\s(?:[^>\"]|\"[^\"]*\")*?\b(?:src|srcset|href)=\"([^\"]*)\"")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
EXPLICIT = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


class Link(NamedTuple):
    """A link target as written, and the line it stands on."""

    line: int
    target: str


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) for everything outside fenced code."""
    fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        mark = FENCE.match(line)
        if not fence:
            if mark:
                fence = mark[1]
            else:
                yield number, line
        elif mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""


def links(text: str) -> Iterator[Link]:
    """Yield the targets of inline links, images, reference definitions and tags."""
    for number, line in prose(text):
        plain = CODE.sub("", line)
        for found in (*INLINE.finditer(plain), *REFERENCE.finditer(plain)):
            yield Link(number, found[1] or found[2] or "")
        yield from (Link(number, found[1]) for found in TAG.finditer(plain))


@cache
def anchors(path: Path) -> frozenset[str]:
    """Collect a Markdown file's anchors: its headings' slugs, numbered when they repeat, and `<a id>`."""
    found: set[str] = set()
    for _, line in prose(path.read_text(encoding="utf-8")):
        found.update(EXPLICIT.findall(line))
        if heading := HEADING.match(line):
            title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = base = re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")
            repeat = 0
            while slug in found:
                repeat += 1
                slug = f"{base}-{repeat}"
            found.add(slug)
    return frozenset(found)


def fault(root: Path, source: Path, target: str) -> str | None:
    """Say what is wrong with one link, or None."""
    if ELSEWHERE.match(target):
        return None
    name, _, anchor = unquote(target).partition("#")
    if name.startswith("/"):
        return f"{target}: an absolute path; write it relative to this file"
    path = (source.parent / name).resolve() if name else source
    if not path.is_relative_to(root):
        return f"{target}: leads out of the repository"
    if not path.exists():
        return f"{target}: no such file"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"{target}: no heading makes the anchor #{anchor}"
    return None if target else "an empty link"


def pages(root: Path) -> Iterator[Path]:
    """Yield the repository's Markdown files in order, without tools' folders and what Moot itself writes."""
    for path in sorted(root.rglob("*.md")):
        folders = path.relative_to(root).parts[:-1]
        if not any(part in UNWRITTEN or part.startswith(".") for part in folders):
            yield path


def main(root: Path) -> int:
    """Print every broken link below root; returns the exit code."""
    faults = [
        f"{page.relative_to(root)}:{link.line}: {reason}"
        for page in pages(root)
        for link in links(page.read_text(encoding="utf-8"))
        if (reason := fault(root, page, link.target))
    ]
    print("\n".join(faults) or "docs: every relative link leads somewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))
