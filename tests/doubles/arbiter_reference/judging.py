"""Judges the folder of a run by the specification: schemas, files, plan, texts, vectors, figures, clusters, end."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import referencing

from tests.doubles.arbiter_monitor import PlainMonitor
from tests.doubles.arbiter_reference import answers, planning

SCHEMAS = Path(__file__).parents[3] / "protocols" / "arbiter" / "schemas"

NAMES = {
    "config.resolved.json": "config.resolved",
    "manifest.json": "manifest",
    "trial_plan.jsonl": "trial_plan",
    "trials.jsonl": "trials",
    "parsed.jsonl": "parsed",
    "convergence_trace.jsonl": "convergence_trace",
    "embeddings.provenance.json": "embeddings.provenance",
    "aggregates.json": "aggregates",
    "clusters/online.state.json": "online.state",
    "clusters/online.assignments.jsonl": "online.assignments",
    "debug/embeddings.jsonl": "embeddings",
}
ALWAYS = tuple(NAMES)[:8]

Told = Iterator[str]


class Run:
    """A run as its files say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.all: dict[str, Any] = {}
        for name in NAMES:
            if (folder / name).exists():
                text = (folder / name).read_text(encoding="utf-8")
                lines = name.endswith(".jsonl")
                self.all[name] = (
                    [json.loads(one) for one in text.split("\n")[:-1]] if lines else json.loads(text)
                )
                assert not lines or not text or text.endswith("\n"), f"{name} is cut off"
        self.config = self.all["config.resolved.json"]
        self.manifest = self.all["manifest.json"]
        self.plan = self.all["trial_plan.jsonl"]
        self.trials = {one["trial_id"]: one for one in self.all["trials.jsonl"]}
        self.parsed = {one["trial_id"]: one for one in self.all["parsed.jsonl"]}
        self.rows = self.all["convergence_trace.jsonl"]
        self.vectors = arrow(folder / "embeddings.arrow")
        self.is_resolved_only = self.manifest["stopping_mode"] == "resolve_only"

    @property
    def is_clustered(self) -> bool:
        clustering = self.config["measurement"]["clustering"]
        return bool(clustering["enabled"]) and clustering["stop_mode"] != "disabled"


def complaints(folder: Path) -> list[str]:
    """Return what contradicts the specification; nothing when the run is sound."""
    run = Run(folder)
    parts = (schemas, files, plan, trials, texts, embeddings, figures, ending)
    return [f"{part.__name__}: {one}" for part in parts for one in part(run)]


def arrow(path: Path) -> dict[int, list[float]]:
    """Read vectors by trial, in the order of the file."""
    if not path.exists():
        return {}
    with pa.OSFile(str(path)) as opened:
        reader = pa.ipc.open_file(opened)
        assert reader.num_record_batches == 1
        batch = reader.get_batch(0)
        kind = batch.schema.field("vector").type
        assert batch.schema.names == ["trial_id", "vector"]
        assert batch.schema.field("trial_id").type == pa.int32()
        assert pa.types.is_fixed_size_list(kind) and kind.value_type == pa.float32()
        assert not kind.value_field.nullable and not batch.schema.metadata
        ids = batch.column(0).to_pylist()
        assert ids == sorted(set(ids)), "trials are not in order"
        return dict(zip(ids, batch.column(1).to_pylist(), strict=True))


def schemas(run: Run) -> Told:
    known = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in SCHEMAS.iterdir()}
    registry = referencing.Registry().with_contents(known.items())
    for name, value in run.all.items():
        validator = jsonschema.Draft202012Validator(known[f"{NAMES[name]}.schema.json"], registry=registry)
        for number, one in enumerate(value if isinstance(value, list) else [value], 1):
            for fault in validator.iter_errors(one):
                yield f"{name}:{number}: {fault.message[:200]}"


def files(run: Run) -> Told:
    for name in ALWAYS:
        if name not in run.all:
            yield f"{name} is missing"
    if not run.is_resolved_only and not (run.folder / "receipt.txt").exists():
        yield "receipt.txt is missing"
    clusters = {"clusters/online.state.json", "clusters/online.assignments.jsonl"}
    if (clusters <= run.all.keys()) is not (run.is_clustered and not run.is_resolved_only):
        yield "clusters are there and should not be, or the other way round"
    listed = {one["path"]: one.get("record_count") for one in run.manifest["artifacts"]["entries"]}
    for name, count in listed.items():
        if not (run.folder / name).exists():
            yield f"{name} is listed and missing"
        there = len(run.vectors) if name == "embeddings.arrow" else None
        there = len(run.all[name]) if name.endswith(".jsonl") else there
        if count is not None and count != there:
            yield f"{name} has {there} records, not {count}"
    for name in {*run.all, *(["embeddings.arrow"] if run.vectors else [])} - {"debug/embeddings.jsonl"}:
        if name not in listed:
            yield f"{name} is not listed"


def plan(run: Run) -> Told:
    execution, manifest = run.config["execution"], run.manifest
    if run.plan != [planning.planned(run.config, trial) for trial in range(execution["k_max"])]:
        yield "is not what the seed draws"
    hashes = {
        "config_sha256": planning.config_hash(run.config),
        "plan_sha256": planning.sha256_of_data(run.plan),
    }
    for name, value in hashes.items():
        if not manifest[name] == manifest["provenance"][name] == value:
            yield f"{name} is not {value}"
    texts = [
        one
        for kind in ("personas", "protocols", "instruments")
        for one in run.config["sampling"].get(kind, ())
    ]
    for one in (*texts, *run.config["protocol"].get("prompts", {}).values()):
        if planning.sha256(one["text"]) != one["sha256"]:
            yield f"sha256 of {one} is wrong"
    policy = {**execution["stop_policy"], "k_min_eligible": execution["k_min"]}
    expected = {
        "k_planned": execution["k_max"],
        "k_min": execution["k_min"],
        "k_min_count_rule": execution["k_min_count_rule"],
        "stop_policy": policy,
        "run_id": run.config["run"]["run_id"],
        "stopping_mode": "resolve_only" if run.is_resolved_only else execution["stop_mode"],
    }
    yield from differing(expected, manifest)


def trials(run: Run) -> Told:
    if len(run.trials) != len(run.all["trials.jsonl"]):
        yield "a trial stands there twice"
    size = run.config["execution"]["batch_size"]
    batches = [one["trial_id"] // size for one in run.all["trials.jsonl"]]
    if batches != sorted(batches):
        yield "a trial ended after one of a later batch"
    may_lack = run.manifest["stop_reason"] in ("error", "user_interrupt") and not is_mock(run)
    if not may_lack and set(run.trials) != set(range(len(run.trials))):
        yield "a trial was left out"
    for trial, one in run.trials.items():
        line = run.plan[trial]
        for name in ("assigned_config", "protocol", "role_assignments"):
            if one.get(name) != line.get(name):
                yield f"{trial}: {name} is not the plan's"
        if one["requested_model_slug"] != line["assigned_config"]["model"]:
            yield f"{trial}: asked another model"
        if line["protocol"] == "debate_v1" and one["status"] == "success":
            said = [(turn["turn"], turn["role"]) for turn in one["transcript"]]
            if said != [(0, "proposer"), (1, "critic"), (2, "proposer")]:
                yield f"{trial}: not proposer, critic, proposer"
            if one["transcript"][2]["content"] != one["raw_assistant_text"]:
                yield f"{trial}: ended with other words"
            if one["actual_model"] != one["calls"][2]["model_actual"]:
                yield f"{trial}: actual_model is not that of the last turn"


def texts(run: Run) -> Told:
    if [one["trial_id"] for one in run.all["parsed.jsonl"]] != [
        one["trial_id"] for one in run.all["trials.jsonl"]
    ]:
        yield "not the trials in their order"
    for trial, found in run.parsed.items():
        plain = found["parser_version"] if found["parser_version"] in ("mock-v0", "live-v0") else "live-v0"
        expected = answers.read(run.config, run.trials[trial], plain)
        told = {name: value for name, value in found.items() if name not in ("parse_error", "trace_summary")}
        if "parse_error" in found:
            told["parse_error"] = found["parse_error"]["code"]
        yield from (f"{trial}: {one}" for one in differing(expected, told))
        yield from (f"{trial}: {name} is too much" for name in told.keys() - expected.keys())


def embeddings(run: Run) -> Told:
    ended = {trial: one["status"] for trial, one in run.trials.items()}
    could = {
        trial
        for trial, one in run.parsed.items()
        if "embed_text" in one and ended[trial] == "success" and not is_excluded(run, one)
    }
    if not set(run.vectors) <= could:
        yield "what has no text was embedded"
    found = run.all["embeddings.provenance.json"]
    if found["status"] == "not_generated":
        if run.vectors or found["reason"] != (
            "resolve_only" if run.is_resolved_only else "no_successful_embeddings"
        ):
            yield "provenance says that there are none, and why"
    elif found["status"] == "arrow_generated":
        counts = {
            "total_trials": len(ended),
            "successful_embeddings": len(run.vectors),
            "failed_embeddings": len(could) - len(run.vectors),
            "skipped_embeddings": len(ended) - len(could),
        }
        yield from differing(counts, found["counts"])
        if found["dimensions"] != len(next(iter(run.vectors.values()), ())):
            yield "dimensions are wrong"
        if found["debug_jsonl_present"] is not ("debug/embeddings.jsonl" in run.all):
            yield "debug_jsonl_present is wrong"
    measurement = run.config["measurement"]
    if found["requested_embedding_model"] != measurement["embedding_model"]:
        yield "another embedding model"
    for line in run.all.get("debug/embeddings.jsonl", ()):
        yield from (f"{line['trial_id']}: {one}" for one in debug_line(run, line, could))
    if is_mock(run):
        for trial, vector in run.vectors.items():
            drawn = planning.draws(run.config["run"]["seed"], "embedding", trial)
            if vector != list(struct.unpack("<4f", struct.pack("<4f", *(next(drawn) for _ in range(4))))):
                yield f"{trial}: not the vector that the seed draws"


def is_excluded(run: Run, parsed: Mapping[str, Any]) -> bool:
    policy = run.manifest["policy"]["contract_failure_policy"]
    return bool(policy == "exclude" and parsed["parse_status"] != "success" and "embed_text" in parsed)


def is_mock(run: Run) -> bool:
    calls = [call for one in run.trials.values() for call in one.get("calls", ())]
    payloads = [one.get("request_payload") for one in (*run.trials.values(), *calls)]
    return all(one in (None, {"mock": True}) for one in payloads)


def debug_line(run: Run, line: Mapping[str, Any], could: set[int]) -> Told:
    trial = line["trial_id"]
    if trial not in could:
        reason = "trial_not_success"
        if run.trials[trial]["status"] == "success":
            reason = "contract_failure" if is_excluded(run, run.parsed[trial]) else "empty_embed_text"
        if line.get("skip_reason") != reason:
            yield f"not skipped because of {reason}"
        return
    text = run.parsed[trial]["embed_text"]
    if line["embed_text_sha256"] != planning.sha256(text):
        yield "sha256 of another text"
    if line["embed_text_final_chars"] != answers.length(text):
        yield "embed_text_final_chars is wrong"
    if line["embed_text_truncated"] is not (
        line["embed_text_original_chars"] > line["embed_text_final_chars"]
    ):
        yield "embed_text_truncated is wrong"
    if (line["embedding_status"] == "success") is not (trial in run.vectors):
        yield "its status is not what the Arrow file says"
    elif trial in run.vectors:
        raw = base64.b64decode(line["vector_b64"])
        if list(struct.unpack(f"<{line['dimensions']}f", raw)) != run.vectors[trial]:
            yield "another vector than in the Arrow file"


def figures(run: Run) -> Told:
    execution = run.config["execution"]
    monitor = PlainMonitor(run.config["measurement"], execution)
    size, placed = execution["batch_size"], []
    batches: dict[int, dict[int, Any]] = {}
    for trial in sorted(run.trials):
        batches.setdefault(trial // size, {})[trial] = run.vectors.get(trial)
    if len(batches) - len(run.rows) not in ((0, 1) if run.manifest["stop_reason"] == "error" else (0,)):
        yield f"{len(batches)} batches, {len(run.rows)} rows"
    for number, (found, batch) in enumerate(zip(run.rows, batches.values(), strict=False)):
        row, assignments = monitor.measure(batch)
        placed += assignments
        expected = {name: value for name, value in row.items() if name in found or run.is_clustered}
        expected["recorded_at"] = found["recorded_at"]
        yield from (f"row {number}: {one}" for one in differing(expected, found))
    if not run.is_clustered or run.is_resolved_only:
        return
    for one, other in zip(placed, run.all["clusters/online.assignments.jsonl"], strict=True):
        yield from (f"trial {one['trial_id']}: {told}" for told in differing(one, other))
    yield from clusters(run, monitor)


def clusters(run: Run, monitor: PlainMonitor) -> Told:
    state = run.all["clusters/online.state.json"]
    setting = run.config["measurement"]["clustering"]
    params = {name: setting[name] for name in ("tau", "centroid_update_rule", "cluster_limit")}
    yield from differing({**params, "ordering_rule": "trial_id_asc"}, state["params"])
    if [one["cluster_id"] for one in state["clusters"]] != list(range(len(monitor.members))):
        yield "not the clusters that the vectors make"
        return
    size = run.config["execution"]["batch_size"]
    for cluster, members in zip(state["clusters"], monitor.members, strict=True):
        exemplar = members[0][0]
        expected = {
            "exemplar_trial_id": exemplar,
            "member_count": len(members),
            "discovered_at_batch": exemplar // size,
        }
        yield from (f"cluster {cluster['cluster_id']}: {one}" for one in differing(expected, cluster))
        raw = base64.b64decode(cluster["centroid_vector_b64"])
        centroid = struct.unpack(f"<{len(raw) // 4}f", raw)
        if not all(
            math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
            for a, b in zip(centroid, monitor.centroid(members), strict=True)
        ):
            yield f"cluster {cluster['cluster_id']}: another centroid"
    totals = {
        "total_assigned": len(monitor.seen),
        "total_excluded": monitor.attempted - len(monitor.seen),
        "forced_assignments": monitor.forced,
    }
    yield from differing(totals, state["totals"])


def ending(run: Run) -> Told:
    manifest, rows = run.manifest, run.rows
    reason, incomplete = manifest["stop_reason"], manifest["incomplete"]
    attempted = len(run.trials)
    yield from differing({"k_attempted": attempted, "k_eligible": len(run.vectors)}, manifest)
    converged = bool(rows) and rows[-1]["stop"]["should_stop"]
    if any(row["stop"]["should_stop"] for row in rows[:-1]):
        yield "went on after it should have stopped"
    possible = {"error": True, "user_interrupt": True}
    if run.is_resolved_only:
        possible = {"completed": False}
    elif converged:
        possible["converged"] = False
    elif (run.folder / "certificate.json").exists() and "notes" in manifest:
        possible |= {"completed": False, "k_max_reached": False}
    elif attempted == manifest["k_planned"]:
        possible["k_max_reached"] = False
    if possible.get(reason) is not incomplete:
        yield f"ended as {reason}, incomplete {incomplete}, of {sorted(possible)}"
    found, last = run.all["aggregates.json"], rows[-1] if rows else {}
    names = ("novelty_rate", "mean_max_sim_to_prior", "cluster_count", "entropy")
    yield from differing({name: last.get(name) for name in names}, found)
    yield from differing({name: last.get(name, 0) for name in ("k_attempted", "k_eligible")}, found)
    if manifest["started_at"] > manifest["completed_at"]:
        yield "ended before it began"
    yield from differing(spent(run), manifest.get("usage", {}))


def spent(run: Run) -> dict[str, Any]:
    """Add up tokens by model, and over all."""
    by_model: dict[str, dict[str, Any]] = {}
    for one in run.trials.values():
        told = [(one["actual_model"] or one["requested_model_slug"], one.get("usage"))]
        told += [
            (call["model_actual"] or call["model_requested"], call.get("usage"))
            for call in one.get("calls", ())
        ]
        for model, usage in told:
            for name, value in (usage or {}).items():
                known = by_model.setdefault(model, {})
                known[name] = known.get(name, 0) + value
    if not by_model:
        return {}
    names = {name for usage in by_model.values() for name in usage}
    totals = {name: sum(usage.get(name, 0) for usage in by_model.values()) for name in names}
    return {"totals": totals, "by_model": by_model}


def differing(expected: Mapping[str, Any], found: Mapping[str, Any]) -> Told:
    """Yield the fields that are not as expected; numbers may differ by rounding."""
    for name, value in expected.items():
        other = found.get(name)
        if isinstance(value, Mapping) and isinstance(other, Mapping):
            yield from (f"{name}.{one}" for one in differing(value, other))
        elif isinstance(value, float) and isinstance(other, float | int):
            if not math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-9):
                yield f"{name} is {other}, not {value}"
        elif value != other:
            yield f"{name} is {other}, not {value}"
