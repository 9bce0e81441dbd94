"""`make bench`: measure, print a table, write bench.json (one flat object of medians).

A benchmark that fails is reported with its error, the others still run, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from moot.heap import settle_heap  # noqa: E402  # the path comes first

FIGURES: Final[tuple[tuple[str, str, str, str, float | None], ...]] = (
    ("api", "api_import_s", "bench_api", "api_import_s", 0.3),
    ("api", "api_first_debate_s", "bench_api", "api_first_debate_s", 1.0),
    ("api", "api_debate_ms", "bench_api", "api_debate_ms", 50),
    ("bus", "inmemory_deliveries_per_s", "bench_bus", "bus_inmemory_deliveries_per_s", 150_000),
    ("bus", "sqlite_ratio", "bench_bus", "bus_sqlite_ratio", 0.4),
    ("bus", "sqlite_publishes_per_s", "bench_bus", "bus_sqlite_publishes_per_s", None),
    ("nats", "alone_ratio", "bench_nats", "nats_alone_ratio", None),
    ("nats", "many_ratio", "bench_nats", "nats_64_ratio", None),
    ("nats", "publishes_per_s", "bench_nats", "nats_publishes_per_s", None),
    ("nats", "sealing_us", "bench_nats", "nats_sealing_us", None),
    ("debates", "debates_inmemory_per_s", "bench_debates", "debates_inmemory_per_s", 5_000),
    ("debates", "debates_full_inmemory_per_s", "bench_debates", "debates_full_inmemory_per_s", None),
    ("debates", "debates_sqlite_per_s", "bench_debates", "debates_sqlite_per_s", 2_500),
    (
        "debates",
        "debates_sqlite_sequential_per_s",
        "bench_debates",
        "debates_sqlite_sequential_per_s",
        400,
    ),
    ("docket", "docket_messages_per_s", "bench_docket", "docket_messages_per_s", 150_000),
    ("verify", "verify_messages_per_s", "bench_verify", "verify_messages_per_s", 16_667),
    ("verify", "laws_messages_per_s", "bench_laws", "laws_messages_per_s", 50_000),
    ("clock", "virtual_sleeps_per_s", "bench_clock", "virtual_sleeps_per_s", 90_000),
    ("backtest", "backtests_per_s", "bench_backtest", "backtests_per_s", None),
    ("desk", "trading_day_s", "bench_desk", "trading_day_s", 0.5),
    ("arena", "arena_runs_per_s", "bench_arena", "arena_runs_per_s", 500),
    ("arena", "parser_mb_per_s", "bench_arena", "arena_parser_mb_per_s", 50),
    ("arena", "parser_blank_lines_s", "bench_arena", "arena_parser_blank_10mb_s", 1),
    ("panel", "panel_syntheses_per_s", "bench_panel", "panel_syntheses_per_s", 10_000),
    ("panel", "panel_verify_s", "bench_panel", "panel_verify_s", 0.05),
    ("arena", "redact_mb_per_s", "bench_arena", "redact_plain_mb_per_s", None),
    ("gateway", "act_to_log_ms", "bench_gateway", "gateway_act_to_log_ms", 100),
    ("gateway", "drain_ratio", "bench_gateway", "gateway_drain_ratio", 0.95),
    ("gateway", "drain_gateway_mib", "bench_gateway", "gateway_drain_mib", 128),
    ("gateway", "mirrored_throughput_ratio", "bench_gateway", "gateway_mirrored_throughput_ratio", 0.9),
    ("simulate", "chaos_weeks_per_hour", "bench_chaos", "chaos_weeks_per_hour", None),
    ("simulate", "simulate_7_days_s", "bench_simulate", "simulate_7_days_s", 20),
    ("simulate", "simulate_28_days_s", "bench_simulate", "simulate_28_days_s", 60),
    ("simulate", "simulate_84_days_s", "bench_simulate", "simulate_84_days_s", 180),
    ("simulate", "simulate_days_3_to_7_s", "bench_simulate", "simulate_days_3_to_7_s", None),
    ("simulate", "simulate_days_80_to_84_s", "bench_simulate", "simulate_days_80_to_84_s", None),
    (
        "simulate",
        "simulate_young_over_old_ratio",
        "bench_simulate",
        "simulate_young_over_old_ratio",
        0.6,
    ),
    ("bodies", "bodies_alone_per_s", "bench_bodies", "bodies_alone_per_s", None),
    ("bodies", "bodies_together_per_s", "bench_bodies", "bodies_together_per_s", None),
    ("bodies", "bytes_a_body", "bench_bodies", "bytes_a_body", None),
    ("bodies", "bodies_200000_mib", "bench_bodies", "bodies_200000_mib", 64),
    ("arbiter", "measured_10000_s", "bench_arbiter", "arbiter_measured_10000_s", None),
    ("arbiter", "slowest_batch_ms", "bench_arbiter", "arbiter_slowest_batch_ms", None),
    ("arbiter", "all_different_10000_s", "bench_arbiter", "arbiter_all_different_10000_s", None),
    ("arbiter", "mock_5000_per_s", "bench_arbiter", "arbiter_mock_5000_per_s", 10_800),
    ("arbiter", "mock_1000_per_s", "bench_arbiter", "arbiter_mock_1000_per_s", 7_200),
    ("arbiter", "mock_384_per_s", "bench_arbiter", "arbiter_mock_384_per_s", 5_000),
    ("arbiter", "leaders_10000x384_s", "bench_arbiter", "arbiter_leaders_10000x384_s", 0.15),
    ("arbiter", "mock_100000_mib", "bench_arbiter", "arbiter_mock_100000_mib", 1024),
    ("why", "why_100000_s", "bench_why", "why_100000_s", 1.0),
    ("why", "log_100000_s", "bench_why", "log_100000_s", 1.0),
    ("growth", "open_debates_10000_mib", "bench_growth", "open_debates_10000_mib", 1024),
    ("growth", "open_debates_10000_vs_1000_ratio", "bench_growth", "open_debates_10000_vs_1000_ratio", None),
    ("growth", "society_100000_growth_mib", "bench_growth", "society_100000_growth_mib", 50),
    ("growth", "restart_1000000_s", "bench_growth", "restart_1000000_s", 5),
    ("growth", "verify_1000000_s", "bench_growth", "verify_1000000_s", 60),
    ("growth", "verify_1000000_mib", "bench_growth", "verify_1000000_mib", 1024),
    ("console", "first_window_1000000_s", "bench_console", "console_first_window_1000000_s", 1),
    ("console", "window_1000000_s", "bench_console", "console_window_1000000_s", 0.2),
    ("console", "search_1000000_s", "bench_console", "console_search_1000000_s", 0.5),
    ("console", "loop_lag_1000000_s", "bench_console", "console_loop_lag_1000000_s", 0.5),
    ("console", "catch_up_1000000_s", "bench_console", "console_catch_up_1000000_s", None),
    ("console", "reopen_1000000_s", "bench_console", "console_reopen_1000000_s", 20),
    ("console", "model_1000000_mib", "bench_console", "console_model_1000000_mib", 1024),
    ("pages", "ten_pages_throughput_ratio", "bench_console_pages", "console_ten_pages_throughput_ratio", 0.9),
    (
        "pages",
        "ten_pages_over_idle_console_ratio",
        "bench_console_pages",
        "console_ten_pages_over_idle_ratio",
        0.9,
    ),
    ("pages", "message_on_ten_pages_p95_ms", "bench_console_pages", "console_message_p95_ms", 200),
    ("pages", "first_paint_1000000_s", "bench_console_pages", "console_first_paint_1000000_s", 1),
    ("pages", "stop_beside_half_a_request_s", "bench_console_pages", "console_stop_s", 1),
)
"""(part, function, module, key in bench.json, target). Times and sizes must stay below, rates above."""

SLOW: Final = frozenset({"growth", "console", "pages"})
"""Parts that run only when asked for by name or with --all."""


def is_below(key: str) -> bool:
    """Say whether a figure is better when it is small."""
    return key.endswith(("_s", "_ms", "_mib", "bytes_a_body")) and not key.endswith("_per_s")


def main(argv: list[str] | None = None) -> int:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = sorted({part for part, *_ in FIGURES})
    parser.add_argument("--only", choices=parts, help="measure one part")
    parser.add_argument("--all", action="store_true", help="measure the slow parts too")
    options = parser.parse_args(argv)
    # What guests come and go in a benchmark is no line of its table.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    results: dict[str, float] = {}
    failed: list[str] = []
    print(f"{'figure':<36} {'median':>14}  {'target':>12}  took")
    for part, function, module, key, target in FIGURES:
        if options.only is not None and part != options.only:
            continue
        if options.only is None and part in SLOW and not options.all:
            continue
        settle_heap()  # as the commands do that run a society
        began = time.perf_counter()
        try:
            measure: Callable[[], float] = getattr(
                importlib.import_module(f"tests.benchmarks.{module}"), function
            )
            value = measure()
        except Exception as error:  # the other benchmarks still run
            failed.append(key)
            took = time.perf_counter() - began
            print(
                f"{key:<36} {'failed':>14}  {'':>12}  {took:5.1f} s  {type(error).__name__}: {error}",
                flush=True,
            )
            traceback.print_exc()
            continue
        took = time.perf_counter() - began
        results[key] = round(value, 3)
        sign = "<" if is_below(key) else ">"
        goal = f"{sign} {target:,.6g}" if target is not None else ""
        met = (
            ""
            if target is None or ((value <= target) if is_below(key) else (value >= target))
            else "  short of it"
        )
        print(f"{key:<36} {value:>14,.2f}  {goal:>12}  {took:5.1f} s{met}", flush=True)
    path = ROOT / "bench.json"
    known = json.loads(path.read_text()) if path.exists() and options.only else {}
    # A figure of an earlier run must not stand for a benchmark that failed in this one.
    known = {key: value for key, value in known.items() if key not in failed}
    path.write_text(json.dumps({**known, **results}, indent=1, sort_keys=True) + "\n")
    print(f"written to {path.name}")
    if failed:
        print(f"{len(failed)} failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
