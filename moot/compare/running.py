"""A study run to its end, by as many processes as wanted: results in the study's order, each written as it is due.

What is on the disk is never asked again: a run that was killed goes on behind its last whole line.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moot.channels.log.lease import Lease
from moot.compare import registration
from moot.compare.asking import Asking, Task
from moot.compare.known import GENERATORS, file_of
from moot.compare.purse import Purse
from moot.compare.results import FILE, Result, read_results
from moot.compare.study import Study
from moot.log_setup import quiet_logging
from moot.protocols.kernel.errors import BadInput

AHEAD: Final = 4
"""Tasks for each process that are handed out: so many cases at most are asked again after a kill."""

Progress = Callable[[int, int, Result], None]
"""Told how many answers there are, of how many, and the last of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A study that is to be run.

    Attributes:
        study: The study.
        folder: Of its file.
        directory: Takes registration, results and logs.
        at_once: Processes.
        like: What it must be registered as, where it is answered again; None: as it is.
        past: Where it was answered, then.
        budget: US dollars for all of it; None: as many as it takes.
    """

    study: Study
    folder: Path
    directory: Path
    at_once: int = 1
    like: Mapping[str, Any] | None = None
    past: Path | None = None
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What a run did.

    Attributes:
        answers: All there are.
        new: Those that this run asked for.
        unpaid: Why it ended before its end; "" where it did not.
    """

    answers: int
    new: int
    unpaid: str = ""


def run(given: Run, told: Progress | None = None) -> Done:
    """Register a study, and run what of it is left, or what of that can be paid.

    Raises:
        BadInput: Something of it cannot be used, it differs from what was registered, or a scorer raised.
        LeaseHeld: It runs already.
        MootError: An arm cannot go on.
    """
    quiet_logging()
    purse = Purse(given.study, given.budget)
    asking = Asking(given.study, given.folder, given.directory, given.past)
    total = len(asking.cases) * given.study.repetitions * len(asking.arms)
    now = registration.registered(given.study, given.folder, total)
    if given.like is not None:
        registration.refuse_difference(given.like, now, "the study that is answered again")
    registration.register(now, given.directory)
    _keep_cases(given)
    with Lease.acquire(given.directory):
        done, part, purse.spent = _known(asking, given)
        tasks = _tasks(asking, done, part)
        new = 0
        with (given.directory / FILE).open("a", encoding="utf-8") as file, _answers(given, asking) as ask:
            while done + new < total and purse.has_enough:
                for results in ask(purse.paid(tasks)):
                    for one in results:
                        file.write(f"{one.line()}\n")
                        file.flush()
                        new += 1
                        if told is not None:
                            told(done + new, total, one)
                    purse.settle(sum(one.usd for one in results))
    if done + new < total:
        return Done(done + new, new, purse.told())
    registration.finish(given.directory)
    return Done(done + new, new)


def _keep_cases(given: Run) -> None:
    """Keep a file of cases beside what is answered, so that all of it can be computed again."""
    if given.study.cases.source not in GENERATORS:
        path = file_of(given.study.cases, given.folder)
        if not (given.directory / path.name).exists():
            shutil.copyfile(path, given.directory / path.name)


def _known(asking: Asking, given: Run) -> tuple[int, dict[str, int], float]:
    """Count the results that are there, and return what arms used of a case that is not whole, and US dollars paid.

    Raises:
        BadInput: They are not the beginning of this study's.
    """
    arms = list(asking.arms)
    count, usd = 0, 0.0
    used: dict[str, int] = {}
    path = given.directory / FILE
    for count, one in enumerate(read_results(path, cut=True), 1):
        at = (count - 1) % len(arms)
        usd += one.usd
        used = {**(used if at else {}), one.arm: one.calls}
        if one.arm != arms[at] or one.repetition != _task(asking, count - 1)[1]:
            raise BadInput(f"{path}: line {count} is not the answer that is due there")
    return count, used if count % len(arms) else {}, usd


def _task(asking: Asking, answer: int) -> tuple[int, int]:
    """Return the case's place and the repetition of an answer by its place in the results."""
    task = answer // len(asking.arms)
    return task // asking.study.repetitions, task % asking.study.repetitions + 1


def _tasks(asking: Asking, done: int, part: dict[str, int]) -> Iterator[Task]:
    arms, repetitions = len(asking.arms), asking.study.repetitions
    for n in range(done // arms, len(asking.cases) * repetitions):
        yield Task(n // repetitions, n % repetitions + 1, part)
        part = {}


@contextmanager
def _answers(given: Run, asking: Asking) -> Iterator[Callable[[Iterator[Task]], Iterator[Sequence[Result]]]]:
    """Give what turns tasks into results, in their order; processes end with the context."""
    if given.at_once == 1:
        yield lambda tasks: map(asking.results, tasks)
        return
    pool = ProcessPoolExecutor(
        given.at_once,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(given.study, given.folder, given.directory, given.past),
    )
    try:
        yield lambda tasks: _in_order(pool, tasks, given.at_once * AHEAD)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, tasks: Iterator[Task], most: int) -> Iterator[Sequence[Result]]:
    waiting: deque[Future[Sequence[Result]]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(_work, task))
            if len(waiting) >= most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise BadInput("a process of the study was ended from outside: the same command goes on") from None


_asking: Asking | None = None
"""What this process asks with, where it is a worker."""


def _begin(study: Study, folder: Path, directory: Path, past: Path | None) -> None:
    """Begin a worker: Ctrl-C is the parent's, and who has lost the parent ends."""
    global _asking  # noqa: PLW0603  # a worker is handed its study once
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    quiet_logging()
    _asking = Asking(study, folder, directory, past)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(task: Task) -> Sequence[Result]:
    assert _asking is not None
    return _asking.results(task)
