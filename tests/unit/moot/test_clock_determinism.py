"""The same program makes the same callbacks at the same instants, in any process (K2)."""

import asyncio
import hashlib
import os
import random
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from moot.clock import VirtualClock, in_thread

ROOT = Path(__file__).parents[3]


def trace(seed: int) -> str:
    """Run a society of everything that has an order, and return the hash of what happened when."""
    chance = random.Random(seed)
    lines: list[str] = []

    async def main(clock: VirtualClock) -> None:
        loop = asyncio.get_running_loop()

        def note(what: object) -> None:
            lines.append(f"{clock.now().isoformat()} {loop.time()!r} {what}")

        async def sleeper(number: int) -> None:
            try:
                for _ in range(5):
                    await asyncio.sleep(chance.choice([0, 0.1, 0.2, 0.30000000000000004, chance.random()]))
                    note(f"sleeper {number}")
                await asyncio.sleep(1000)
            finally:
                note(f"sleeper {number} ends")

        async def fail_after(seconds: float) -> None:
            await asyncio.sleep(seconds)
            raise LookupError

        for _ in range(3):
            # Aborting a group cancels a set of tasks; waiting for the first returns one.
            try:
                async with asyncio.TaskGroup() as group:
                    for number in range(60):
                        group.create_task(sleeper(number), name=f"named {chance.random()}")
                    group.create_task(fail_after(chance.random()))
            except* LookupError:
                note("group aborted")
            tasks = {asyncio.create_task(sleeper(100 + number)) for number in range(60)}
            _, pending = await asyncio.wait(tasks, timeout=3, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            await in_thread(clock, time.sleep, 0.001)
            note("thread")
        _ = [asyncio.create_task(sleeper(200 + number)) for number in range(60)]
        await asyncio.sleep(1)

    VirtualClock(datetime(2026, 1, 5, tzinfo=UTC)).run(main)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return f"{len(lines)} {digest}"


def trace_in_new_process(hash_seed: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    # Blocks of odd sizes move the addresses of everything that follows.
    program = (
        f"import runpy, os; ballast = [bytearray({hash_seed} * 37 + n) for n in range({hash_seed} * 1000)]\n"
        f"print(runpy.run_path({__file__!r})['trace'](7))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_two_processes_with_different_hash_seeds_agree() -> None:
    first, second = trace_in_new_process("1"), trace_in_new_process("2")
    assert first == second == trace(7)
    assert int(first.split()[0]) > 500


def test_another_seed_gives_another_trace() -> None:
    assert trace(7) == trace(7) != trace(8)
