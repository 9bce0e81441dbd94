"""Bodies of calls on disk: how many a second, how many bytes each, how much memory for many."""

from __future__ import annotations

import json
import random
import resource
import tempfile
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Final

from moot.memory.bodies_file import CALLS_NAME, BodiesFile
from tests.doubles.model_server import ModelServer
from tests.integration.test_model_cases import motion

ALONE: Final = 500
TOGETHER: Final = 5_000
AT_ONCE: Final = 64
MANY: Final = 200_000


@cache
def prompts() -> tuple[bytes, ...]:
    """Return the requests of a debate whose seats are models, as they went out."""
    with ModelServer() as server:
        server.prefers = {"concede": False, "option": "yes", "for_score": 0.7, "against_score": 0.4}
        motion(server)
        return tuple(json.dumps(one.body, ensure_ascii=False).encode() for one in server.calls)


def bodies_alone_per_s() -> float:
    """Each awaited before the next."""
    return _put(_requests(), ALONE, 1)[0]


def bodies_together_per_s() -> float:
    """So many at once."""
    return _put(_requests(), TOGETHER, AT_ONCE)[0]


def bytes_a_body() -> float:
    """Of the file, for each request of a debate; no two are the same."""
    return _put(_requests(), TOGETHER, AT_ONCE)[1]


def bodies_200000_mib() -> float:
    """Memory that the process takes more at most."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _put((b'{"n":%d}' % n for n in range(MANY)), MANY, 4 * AT_ONCE)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def _requests() -> Iterator[bytes]:
    """Yield requests that differ, as those of another case would."""
    chance, found = random.Random(1), prompts()
    while True:
        for one in found:
            yield one.replace(b"four-day", b"day %d" % chance.getrandbits(60))


def _put(source: Iterator[bytes], count: int, at_once: int) -> tuple[float, float]:
    """Put bodies; return how many a second, and how many bytes each takes."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / CALLS_NAME
        with BodiesFile(path) as bodies:
            waiting: deque[Future[str]] = deque()
            began = perf_counter()
            for n in range(count):
                if len(waiting) == at_once:
                    waiting.popleft().result()
                waiting.append(bodies.put(next(source), call_id=f"case_{n}/claim/advocate/0/1/1"))
            for one in waiting:
                one.result()
            took = perf_counter() - began
        return count / took, path.stat().st_size / count


def main() -> None:
    sizes = [len(one) for one in prompts()]
    print(f"a request of a debate            {sum(sizes) / len(sizes):>10,.0f} bytes")
    print(f"on disk                          {bytes_a_body():>10,.0f} bytes")
    print(f"each awaited                     {bodies_alone_per_s():>10,.0f} bodies/s")
    print(f"64 at once                       {bodies_together_per_s():>10,.0f} bodies/s")
    print(f"200,000 bodies                   {bodies_200000_mib():>10,.1f} MiB more memory")


if __name__ == "__main__":
    main()
