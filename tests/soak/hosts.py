"""Three hosts of a society on NATS, a client that posts all the time, and leaders that are killed and cut off.

`python -m tests.soak.hosts` kills 100 leaders and cuts 20 off from the server, measures, looks for what must not be,
and writes `tests/soak/hosts.json`, whose tables stand in docs/design/hosts.md. It takes half an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from moot.protocols.kernel.envelope import GENESIS, link
from tests.doubles.command_line import moot
from tests.doubles.cut_line import CutLine
from tests.doubles.hosts import Client, Hosts, note, rows_of, wait_for
from tests.doubles.nats import running
from tests.soak.lag import Reader

RESULTS: Final = Path(__file__).parent / "hosts.json"
NAMES: Final = ("alpha", "beta", "gamma")
IN_TIME_S: Final = 10.0
LONGEST_CUT_S: Final = 15.0
LAG_MS: Final = 100.0

Tell = Callable[[str], None]


class Way(NamedTuple):
    """What a cut holds up: what the leader sends, what it is sent."""

    there: bool
    back: bool


WAYS: Final = {"both": Way(True, True), "to the server": Way(True, False), "to the host": Way(False, True)}


def rehearse(
    folder: Path,
    posts: int,
    kills: int,
    cuts: int,
    seed: int,
    tell: Tell,
    *,
    names: Sequence[str] = NAMES,
    longest_cut_s: float = LONGEST_CUT_S,
    ahead_s: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """Let the hosts live through it; return what was measured and found.

    Args:
        folder: Where their directories go.
        posts: So many are awaited while it is measured how far a host that follows is behind.
        kills: So many leaders are killed.
        cuts: So many are cut off.
        seed: Of the moments, the lengths and ways of the cuts.
        tell: Told in a line how far it is.
        names: Of the hosts.
        longest_cut_s: How long a cut may be.
        ahead_s: By how many seconds the clock of a host is ahead.
    """
    chance = random.Random(seed)
    with ExitStack() as exits:
        server = exits.enter_context(running(folder / "nats"))
        address = server.address("desk")
        lines = {name: exits.enter_context(CutLine(server.port)) for name in names}
        hosts = exits.enter_context(Hosts(folder, address))

        def start(name: str) -> None:
            line = address._replace(servers=(f"nats://127.0.0.1:{lines[name].port}",))
            hosts.start(name, line, ahead_s=ahead_s.get(name, 0))

        start(names[0])
        hosts.leader()
        for name in names[1:]:
            start(name)
        hosts.together()
        hosts.watch()
        gaps, held = [], []
        with Client(address, note) as client:
            reader = exits.enter_context(Reader(folder / "reader", address))
            caught_up = len(wait_for(reader.lags_ms))
            client.posts(posts)
            lags = wait_for(lambda: reader.lags_ms()[caught_up:])
            for n in range(kills):
                client.posts(chance.randrange(1, 20))
                name = hosts.leader()
                hosts.kill(name)
                killed_at, place = time.monotonic(), len(hosts.came)
                gaps.append(hosts.started_after(place) - killed_at)
                start(name)
                tell(f"kill {n + 1} of {kills}: {gaps[-1]:.1f} s")
            for n in range(cuts):
                client.posts(chance.randrange(1, 20))
                name, way = hosts.leader(), chance.choice([*WAYS])
                length_s = chance.uniform(0.2, longest_cut_s)
                lines[name].cut(**WAYS[way]._asdict())
                time.sleep(length_s)
                lines[name].mend()
                client.posts(2)
                led_on = hosts.leader() == name
                held.append({"way": way, "length_s": round(length_s, 1), "led_on": led_on})
                tell(f"cut {n + 1} of {cuts}: {way}, {length_s:.1f} s{', led on' if led_on else ''}")
            client.posts(10)
        hosts.together()
        reader.close()
        for name in names:
            hosts.stop(name)
        stream = [came.row for came in hosts.came]
        logs = {name: rows_of(hosts.directory(name)) for name in names}
        findings = [*wrong_stream(stream), *wrong_logs(logs, client.acknowledged)]
        last = max(logs, key=lambda name: len(logs[name]))
        verified = moot("verify", hosts.directory(last))
        if verified.exit_code:
            findings.append(f"{last} does not verify: {verified.output.strip().splitlines()[0]}")
        starts = sum('"type":"SOCIETY_STARTED"' in text for _, _, text, _ in logs[last])
    return {
        "cpus": os.cpu_count(),
        "seed": seed,
        "messages": len(logs[last]),
        "leaders": starts,
        "acknowledged": len(client.acknowledged),
        "post_ms": spread([1000 * wait_s for wait_s in client.waits]),
        "lag_ms": spread(lags),
        "kills": kills,
        "gap_s": spread(gaps),
        "gaps_s": [round(gap, 2) for gap in gaps],
        "cuts": held,
        "findings": findings,
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return count, median, 99th percentile and the greatest of some values."""
    if not values:
        return {"count": 0, "p50": 0.0, "p99": 0.0, "max": 0.0}
    ordered = sorted(values)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return {
        "count": len(ordered),
        **{
            name: round(value, 2)
            for name, value in (("p50", median(ordered)), ("p99", p99), ("max", ordered[-1]))
        },
    }


def wrong_stream(stream: Sequence[Any]) -> Iterator[str]:
    """Yield what is wrong with the stream as a watcher saw it: order, chain, and one leader after the other."""
    if [row.row.seq for row in stream] != list(range(1, len(stream) + 1)):
        yield "the stream has gaps"
    before = GENESIS
    for row in stream:
        if link(before, row.row.text) != row.row.hash:
            yield f"seq {row.row.seq}: the chain is broken"
        before = row.row.hash
    for one, other in pairwise(stream):
        if other.epoch < one.epoch:
            yield f"seq {other.row.seq}: epoch {other.epoch} after {one.epoch}: two leaders in one stream"


def wrong_logs(
    logs: dict[str, list[tuple[int, str, str, bytes]]], acknowledged: dict[str, int]
) -> Iterator[str]:
    """Yield how the mirrors differ, what was acknowledged and is not there, and what was said twice."""
    log = max(logs.values(), key=len)
    for name, one in logs.items():
        if one != log[: len(one)]:
            yield f"{name} has another log"
    for key, seq in acknowledged.items():
        if seq > len(log) or log[seq - 1][1] != key:
            yield f"{key} was acknowledged as seq {seq} and is not there"
    envelopes = [json.loads(text) for _, _, text, _ in log]
    for one, other in pairwise(envelopes):
        if other["sent_at"] < one["sent_at"]:
            yield f"seq {other['seq']}: time ran backwards"
    bodies = [envelope["body"] for envelope in envelopes]
    said = Counter(body["text"] for body in bodies if body["type"] == "NOTE")
    yield from (f"{text} was said {times} times" for text, times in said.items() if times > 1)
    epochs = [body["data"]["leader"]["epoch"] for body in bodies if body["type"] == "SOCIETY_STARTED"]
    if epochs != sorted(set(epochs)):
        yield f"epochs of leaders do not grow: {epochs}"


def late(results: dict[str, Any]) -> Iterator[str]:
    """Yield what took longer than it may."""
    if results["gap_s"]["max"] > IN_TIME_S:
        yield f"a killed leader was followed after {results['gap_s']['max']} s only"
    if results["lag_ms"]["p50"] > LAG_MS:
        yield f"a host that follows is {results['lag_ms']['p50']} ms behind"


def tables(results: dict[str, Any]) -> dict[str, list[str]]:
    """Return the tables of docs/design/hosts.md by name."""
    gap, post, lag, cuts = results["gap_s"], results["post_ms"], results["lag_ms"], results["cuts"]
    rows = [
        ("a leader is killed, the next one says its first message", gap, "s", 1),
        ("a client posts, until it has its receipt, failovers included", post, "ms", 0),
        ("a leader stamps a message, until a host that follows has folded it", lag, "ms", 0),
    ]
    found = ["| what | times | median | 99 % | longest |", "|---|---|---|---|---|"]
    for what, one, unit, digits in rows:
        shown = " | ".join(f"{one[name]:,.{digits}f} {unit}" for name in ("p50", "p99", "max"))
        found.append(f"| {what} | {one['count']:,} | {shown} |")
    held = ["| cut | times | longest | led on | another host took over |", "|---|---|---|---|---|"]
    for way in WAYS:
        those = [cut for cut in cuts if cut["way"] == way]
        led = sum(cut["led_on"] for cut in those)
        longest = max((cut["length_s"] for cut in those), default=0.0)
        held.append(f"| {way} | {len(those)} | {longest:.1f} s | {led} | {len(those) - led} |")
    return {"failover": found, "cuts": held}


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; 1 when something was found."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak.hosts",
        description=__doc__,
        epilog="example: python -m tests.soak.hosts --posts 20 --kills 2 --cuts 2 --no-write --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--posts", type=int, default=1_000, help="how many are timed in quiet; default 1000")
    parser.add_argument("--kills", type=int, default=100, help="how many leaders are killed; default 100")
    parser.add_argument("--cuts", type=int, default=20, help="how many are cut off; default 20")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn; default 1")
    parser.add_argument("--no-write", action="store_true", help="leave the committed results as they are")
    parser.add_argument(
        "--json", action="store_true", help="print the results as JSON; progress goes to stderr"
    )
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="moot-hosts-") as folder:
        results = rehearse(
            Path(folder),
            options.posts,
            options.kills,
            options.cuts,
            options.seed,
            lambda line: print(line, file=sys.stderr, flush=True),
        )
    if not options.no_write:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        for lines in tables(results).values():
            print(*lines, "", sep="\n")
    wrong = [*results["findings"], *late(results)]
    if not options.json:
        print(*wrong or ["nothing acknowledged was lost, nothing said twice, one leader at a time"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
