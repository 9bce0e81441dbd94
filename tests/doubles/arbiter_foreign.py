"""Small runs of Arbiter as another program writes them, which keeps the specification and shares no code with Moot.

It leaves out fields that need not be told or writes null for them, hashes run_id with the configuration, cuts texts by
UTF-16 code units, trims raw texts, tells errors in its own words, and calls things by names of its own.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema
import pyarrow as pa

from tests.doubles.arbiter_configs import config as plain_config
from tests.doubles.arbiter_configs import resolved, sha256
from tests.doubles.arbiter_monitor import PlainMonitor
from tests.doubles.arbiter_reference import answers, planning

RUN_ID: Final = "20260101T000000Z_0a1b2c"
START: Final = "2026-01-01T00:00:00.000Z"
END: Final = "2026-01-01T00:00:09.000Z"
ATTEMPT: Final = {
    "started_at": "2026-01-01T00:00:01.000Z",
    "completed_at": "2026-01-01T00:00:02.500Z",
    "latency_ms": 700,
    "retry_count": 1,
}
"""The latency is that of the last try; the first one failed."""

CONTRACT: Final = {
    "id": "binary_v9",
    "sha256": "5" * 64,
    "schema": {
        "type": "object",
        "required": ["decision", "rationale"],
        "properties": {
            "decision": {"enum": ["yes", "no"]},
            "rationale": {"type": "string", "maxLength": 20},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
    },
    "embed_text_source": "rationale",
    "rationale_max_chars": 20,
}

VECTORS: Final = ((1.0, 0.0, 0.0), (0.8, 0.6, 0.0), (0.0, 0.0, 1.0), (0.96, 0.28, 0.0), (-0.6, 0.8, 0.0))

Trial = Mapping[str, Any]


class Foreign(NamedTuple):
    """A run of another program.

    Attributes:
        texts: What each trial ends with; None for one that failed.
        kind: Its protocol.
        contract: What gives the answers their form.
        nulls: Write null where a field need not be told.
        keeps: Keeps requests and replies.
        is_mock: No model was asked.
        changes: Changes the configuration.
        keeps_debug: Keeps debug/embeddings.jsonl.
        policy: What becomes of answers that break their form.
        is_advisor_loud: An advisor's rows say `converged`.
    """

    texts: Sequence[str | None]
    kind: str = "independent"
    contract: Mapping[str, Any] | None = None
    nulls: bool = False
    keeps: bool = True
    is_mock: bool = False
    changes: Mapping[str, Mapping[str, Any]] = {}
    keeps_debug: bool = True
    policy: str = "warn"
    is_advisor_loud: bool = True


def runs() -> dict[str, Foreign]:
    """Return all of them, by name."""
    plain = ("Yes.", "No, they should not.\r\n", None, "Yes.\n", "It depends on who pays.")
    formed = (
        '```json\n{"decision": "yes", "rationale": "Most people work.", "confidence": 0.8}\n```',
        'I say: {"decision": "no", "rationale": "Nobody has said who pays for it."}',
        "  \n I would rather not say.  \n",
        None,
        '{"decision": "no", "rationale": "Staff cost too 💶💶💶💶💶 much"}',
    )
    debated = (
        'So:\n```json\n{"decision": "open", "confidence": "high", "reasoning": "It is asked for."}\n```',
        '{"decision": "wait"}',
        "   I cannot decide.   ",
        None,
        '{"decision": "open", "extra": 1}',
    )
    return {
        "independent": Foreign(plain),
        "independent-nulls": Foreign(plain, nulls=True),
        "independent-bare": Foreign(plain, keeps=False, keeps_debug=False),
        "independent-mock": Foreign(tuple(f"Kind {n % 3}\n" for n in range(6)), is_mock=True),
        "independent-contract": Foreign(formed, contract=CONTRACT),
        "independent-contract-nulls": Foreign(formed, contract=CONTRACT, nulls=True),
        "independent-decision": Foreign(
            formed, contract={**CONTRACT, "embed_text_source": "decision"}, policy="exclude"
        ),
        "independent-cut": Foreign(
            ("ab \n💶 c", "a💶💶💶", "no 💶 cut", "abcd  e", "\ufeffab"),
            changes={"measurement": {"embedding_max_chars": 4}},
        ),
        "independent-ambiguous": Foreign(
            (
                '{"decision": "yes", "rationale": "a"} or {"decision": "no", "rationale": "b"}',
                '{"decision": "yes", "decision": "no", "rationale": "c"}',
            ),
            contract=CONTRACT,
        ),
        "independent-blank": Foreign(("", " \n", "Yes.", None)),
        "independent-quiet": Foreign(("Yes.",) * 8, changes={"execution": {"k_max": 8, "k_min": 1}}),
        "independent-unclustered": Foreign(plain, changes={"clustering": {"enabled": False}}),
        "debate": Foreign(debated, "debate_v1"),
        "debate-nulls": Foreign(debated, "debate_v1", nulls=True),
        "debate-mock": Foreign(tuple(text or "Wait." for text in debated), "debate_v1", is_mock=True),
        "debate-contract": Foreign(formed, "debate_v1", contract=CONTRACT),
        "debate-contract-nulls": Foreign(formed, "debate_v1", contract=CONTRACT, nulls=True),
    }


def write(run: Foreign, folder: Path) -> None:
    """Write a run into a folder that is not there yet."""
    _Writer(run, folder).write()


class _Writer:
    def __init__(self, run: Foreign, folder: Path) -> None:
        self.run, self.folder = run, folder
        self.config = self._config()
        self.plan = [planning.planned(self.config, n) for n in range(len(run.texts))]

    def _config(self) -> dict[str, Any]:
        run = self.run
        found = resolved(run.kind)
        found["run"]["run_id"] = RUN_ID
        found["execution"].update(k_max=len(run.texts), **{"batch_size": 2, "k_min": 2})
        found["execution"].update(run.changes.get("execution", {}))
        found["measurement"].update(run.changes.get("measurement", {}))
        found["measurement"]["clustering"].update(run.changes.get("clustering", {}))
        if run.contract is not None:
            found["protocol"]["decision_contract"] = dict(run.contract)
        if run.nulls:
            found["question"].update(question_id=None, source=None)
            found["sampling"].update(instruments=None, decode=None)
            found["execution"]["timeout_ms"] = None
            if run.contract is None:
                found["protocol"]["decision_contract"] = None
        assert found.keys() == plain_config().keys()
        return found

    def write(self) -> None:
        trials = [self._trial(line, text) for line, text in zip(self.plan, self.run.texts, strict=True)]
        parsed = [self._parsed(trial) for trial in trials]
        lines = [self._embedded(trial, one) for trial, one in zip(trials, parsed, strict=True)]
        vectors = {n: self._vector(n) for n, one in enumerate(lines) if one["embedding_status"] == "success"}
        rows, placed, state = self._measured(vectors)
        listed: dict[str, int | None] = {}
        files: dict[str, Sequence[Any]] = {
            "trial_plan.jsonl": self.plan,
            "trials.jsonl": trials,
            "parsed.jsonl": parsed,
            "convergence_trace.jsonl": rows,
        }
        if self.run.keeps_debug:
            files["debug/embeddings.jsonl"] = lines
        documents: dict[str, Any] = {"config.resolved.json": self.config}
        if state is not None:
            files["clusters/online.assignments.jsonl"] = placed
            documents["clusters/online.state.json"] = state
        documents["aggregates.json"] = self._aggregates(rows)
        documents["embeddings.provenance.json"] = self._provenance(lines, vectors)
        for name, records in files.items():
            self._put(name, "".join(f"{js(one)}\n" for one in records))
            listed[name] = len(records)
        for name, value in documents.items():
            self._put(name, js(value))
            listed[name] = None
        if vectors:
            (self.folder / "embeddings.arrow").write_bytes(arrow(vectors))
            listed["embeddings.arrow"] = None
        self._put("receipt.txt", "Arbiter Run Receipt\nRun: 20260101\n")
        listed |= {"receipt.txt": None, "manifest.json": None}
        self._put("manifest.json", js(self._manifest(trials, vectors, listed)))

    def _put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def _optional(self, **fields: Any) -> dict[str, Any]:
        return dict.fromkeys(fields) if self.run.nulls else {}

    def _trial(self, line: Trial, text: str | None) -> dict[str, Any]:
        model = line["assigned_config"]["model"]
        found = {**line, "requested_model_slug": model, "actual_model": None, "status": "success"}
        is_debate = self.run.kind == "debate_v1"
        if is_debate:
            found |= self._debate(line, text)
        if text is None:
            found |= {"status": "error", "error": {"message": "HTTP 500", "retryable": True}}
            if self.run.nulls:
                found["error"]["code"] = None
        else:
            found |= {"raw_assistant_text": text, "actual_model": self._actual(model)}
        if not is_debate and not self.run.is_mock:
            found["attempt"] = ATTEMPT
            if self.run.keeps:
                found |= self._call(line, [("user", self.config["question"]["text"])], text)
                if text is not None:
                    found["usage"] = found["response_payload"]["usage"]
        if self.run.nulls:
            names = ("error_code", "usage", "metadata", "request_payload", "response_payload")
            roles = () if is_debate else ("role_assignments", "calls", "transcript")
            found = {**dict.fromkeys((*names, *roles)), **found}
        return found

    def _actual(self, model: str) -> str:
        return model if self.run.is_mock or not self.run.keeps else f"{model}-2026"

    def _call(self, line: Trial, said: Sequence[tuple[str, str]], text: str | None, role: str = "") -> Any:
        assigned = line["assigned_config"]
        texts = {one["persona"]: one["text"] for one in self.config["sampling"]["personas"]}
        clause = "Respond with ONLY a JSON object of this schema: {}\nNo additional text."
        if role:
            persona = line["role_assignments"][role.split("_", maxsplit=1)[0]]["persona_id"]
            parts = [f"{texts[persona]}\n\n---\n\nYou are {role}_system."]
        else:
            parts = [texts[assigned["persona"]], assigned["protocol"]]
        if self.run.contract is not None and role in ("", "proposer_final"):
            parts.append(clause)
        messages = [("system", "\n\n".join(parts)), *said]
        sent = {
            "model": assigned["model"],
            "messages": [{"role": who, "content": what} for who, what in messages],
        }
        if text is None:
            return {"request_payload": sent}
        reply = {
            "id": "gen-1",
            "model": self._actual(assigned["model"]),
            "choices": [{"message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
        }
        return {"request_payload": sent, "response_payload": reply}

    def _debate(self, line: Trial, text: str | None) -> dict[str, Any]:
        """Hold a debate; one that fails ends with an empty turn, which its transcript keeps."""
        said = ["Open it.", "Who pays?", text] if text is not None else ["Open it.", ""]
        roles = ("proposer", "critic", "proposer_final")
        messages: list[tuple[str, str]] = [("user", self.config["question"]["text"])]
        calls = []
        for turn, one in enumerate(said):
            if self.run.is_mock:
                kept = {"request_payload": {"mock": True, "turn": turn}, "response_payload": {"content": one}}
            else:
                kept = self._call(line, messages, one, roles[turn])
            usage = kept["response_payload"].get("usage")
            calls.append(
                {
                    "call_index": turn,
                    "turn": turn,
                    "role": roles[turn].split("_")[0],
                    "model_requested": line["assigned_config"]["model"],
                    "model_actual": self._actual(line["assigned_config"]["model"]),
                    **kept,
                    **({"usage": usage} if usage else self._optional(usage=None)),
                    "attempt": {**ATTEMPT, "started_at": f"2026-01-01T00:00:0{turn}.000Z"}
                    | {"completed_at": f"2026-01-01T00:00:0{turn}.900Z"},
                    "error_message": None,
                }
            )
            messages += [("assistant", one), ("user", "Go on, in other words than Moot's.")]
        turns = [{"turn": n, "role": roles[n].split("_")[0], "content": one} for n, one in enumerate(said)]
        return {"calls": calls, "transcript": turns}

    def _parsed(self, trial: Trial) -> dict[str, Any]:
        """Read a text as a program in ECMAScript does."""
        text, most = trial.get("raw_assistant_text"), self.config["measurement"]["embedding_max_chars"]
        line: dict[str, Any] = {"trial_id": trial["trial_id"]}
        is_debate = self.run.kind == "debate_v1"
        if text is None:
            line |= {"parse_status": "failed", "parse_error": {"message": "HTTP 500"}}
            found = self._formed("") if self.run.contract and not is_debate else {}
        elif self.run.contract is not None or is_debate:
            found = self._formed(text)
        else:
            outcome = text.removesuffix("\n") if self.run.is_mock else text
            found = {"parse_status": "success" if text else "failed", "outcome": outcome or None}
            found |= {"raw_assistant_text": text or None, "embeds": outcome}
            if not text:
                found["parse_error"] = {"message": "Missing assistant content"}
        embeds = cut(answers.normal(found.pop("embeds", "")), most)
        found["embed_text"] = embeds or None
        if self.run.keeps:
            version = "mock-v0" if self.run.is_mock else "live-v0"
            by_form = "independent-v1" if self.run.contract else version
            found["parser_version"] = "debate-v1" if is_debate else by_form
        line = {**found, **line}
        if self.run.nulls:
            return {"confidence": None, "rationale": None, "trace_summary": None, **line}
        return {name: one for name, one in line.items() if one is not None or name == "confidence"}

    def _formed(self, text: str) -> dict[str, Any]:
        trimmed = text.strip()
        raw = {
            "parse_status": "fallback" if trimmed else "failed",
            "extraction_method": "raw",
            "embed_text_source": "raw_content",
            "confidence": None,
            "outcome": trimmed,
            "raw_assistant_text": text,
            "embeds": trimmed,
        }
        if self.run.contract is not None:
            raw["rationale_truncated"] = False
        for method, values in (("fenced", answers.blocks(trimmed)), ("unfenced", answers.objects(trimmed))):
            for value in values[:1]:
                found = self._decided(value)
                if found is not None:
                    return {**raw, "parse_status": "success", "extraction_method": method, **found}
        return raw

    def _decided(self, value: Any) -> dict[str, Any] | None:
        contract = self.run.contract
        if contract is None:
            return {
                "outcome": value["decision"],
                "rationale": value.get("reasoning"),
                "confidence": value.get("confidence"),
                "embed_text_source": "decision",
                "embeds": value["decision"],
            }
        rationale = cut(value["rationale"], contract["rationale_max_chars"])
        if not jsonschema.Draft202012Validator(contract["schema"]).is_valid(
            {**value, "rationale": rationale}
        ):
            return None
        source = contract["embed_text_source"]
        return {
            "outcome": value["decision"],
            "rationale": rationale,
            "rationale_truncated": rationale != value["rationale"],
            "confidence": value.get("confidence"),
            "embed_text_source": source,
            "embeds": {"rationale": rationale, "decision": value["decision"]}[source],
        }

    def _embedded(self, trial: Trial, parsed: Trial) -> dict[str, Any]:
        text = parsed.get("embed_text") or ""
        most = self.config["measurement"]["embedding_max_chars"]
        found: dict[str, Any] = {"trial_id": trial["trial_id"], "vector_b64": None, "dtype": "float32"}
        found |= {"encoding": "float32le_base64", "embed_text_truncated": False, "truncation_reason": None}
        original = length(text)
        if original == most:
            original = length(answers.normal(trial["raw_assistant_text"]))
            found |= {"embed_text_truncated": original > most}
            found |= {"truncation_reason": "max_chars_exceeded"} if original > most else {}
        found |= {"embed_text_original_chars": original, "embed_text_final_chars": length(text)}
        if text:
            found["embed_text_sha256"] = sha256(
                text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            )
        if trial["status"] != "success" or not text:
            reason = "empty_embed_text" if trial["status"] == "success" else "trial_not_success"
            return {
                **found,
                "embedding_status": "skipped",
                "skip_reason": reason,
                **self._optional(error=None),
            }
        vector = self._vector(trial["trial_id"])
        raw = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        found |= {"embedding_status": "success", "vector_b64": raw, "dimensions": len(vector)}
        return {**found, "generation_id": "gen-9"}

    def _vector(self, trial: int) -> Sequence[float]:
        if not self.run.is_mock:
            kinds = sorted({one or "" for one in self.run.texts})
            vector = VECTORS[kinds.index(self.run.texts[trial] or "") % len(VECTORS)]
        else:
            drawn = planning.draws(self.config["run"]["seed"], "embedding", trial)
            vector = tuple(next(drawn) for _ in range(4))
        return struct.unpack(f"<{len(vector)}f", struct.pack(f"<{len(vector)}f", *vector))

    def _measured(self, vectors: Mapping[int, Any]) -> tuple[list[Any], list[Any], dict[str, Any] | None]:
        execution, measurement = self.config["execution"], self.config["measurement"]
        monitor, rows, placed = PlainMonitor(measurement, execution), [], []
        size = execution["batch_size"]
        for start in range(0, len(self.plan), size):
            ids = range(start, min(start + size, len(self.plan)))
            row, assigned = monitor.measure({n: vectors.get(n) for n in ids})
            row["recorded_at"] = END
            if row["stop"]["would_stop"] and self.run.is_advisor_loud:
                row["stop"]["stop_reason"] = "converged"
            if rows and row["js_divergence"] is None:
                row["js_divergence"] = 0
            rows.append(row)
            placed += assigned
        if not measurement["clustering"]["enabled"]:
            kept = [name for name in rows[0] if "cluster" not in name]
            kept = [name for name in kept if name not in ("js_divergence", "entropy", "singleton_count")]
            kept = [name for name in kept if not name.startswith("forced")]
            return [{name: row[name] for name in kept} for row in rows], [], None
        params = {
            name: measurement["clustering"][name] for name in ("tau", "centroid_update_rule", "cluster_limit")
        }
        state = {
            "schema_version": "1.0.0",
            "algorithm": "online_leader",
            "params": {**params, "ordering_rule": "trial_id_asc"},
            "clusters": [
                {
                    "cluster_id": n,
                    "exemplar_trial_id": members[0][0],
                    "member_count": len(members),
                    "discovered_at_batch": members[0][0] // size,
                    "centroid_vector_b64": base64.b64encode(
                        struct.pack(f"<{len(members[0][1])}f", *monitor.centroid(members))
                    ).decode(),
                }
                for n, members in enumerate(monitor.members)
            ],
            "totals": {
                "total_assigned": len(vectors),
                "total_excluded": len(self.plan) - len(vectors),
                "forced_assignments": 0,
            },
        }
        if not self.run.keeps:
            for row in rows:
                for name in ("recorded_at", "entropy", "effective_cluster_count", "singleton_count"):
                    del row[name]
        return rows, placed, state

    def _aggregates(self, rows: Sequence[Trial]) -> dict[str, Any]:
        last = rows[-1]
        found = {name: last[name] for name in ("k_attempted", "k_eligible", "novelty_rate")}
        found |= {"mean_max_sim_to_prior": last["mean_max_sim_to_prior"], "incomplete": False}
        if self.run.keeps:
            found |= {"schema_version": "1.0.0", "cluster_count": last.get("cluster_count")}
            found["entropy"] = last.get("entropy")
        return found

    def _provenance(self, lines: Sequence[Trial], vectors: Mapping[int, Any]) -> dict[str, Any]:
        statuses = [one["embedding_status"] for one in lines]
        found: dict[str, Any] = {
            "schema_version": "1.0.0",
            "status": "arrow_generated",
            "primary_format": "arrow",
            "intended_primary_format": "arrow_ipc_file",
            "dtype": "float32",
            "dimensions": len(next(iter(vectors.values()))),
            "counts": {
                "total_trials": len(lines),
                "successful_embeddings": len(vectors),
                "failed_embeddings": 0,
                "skipped_embeddings": statuses.count("skipped"),
            },
            "debug_jsonl_present": self.run.keeps_debug,
            "requested_embedding_model": self.config["measurement"]["embedding_model"],
            "embed_text_strategy": self.config["measurement"]["embed_text_strategy"],
            "normalization": "newline_to_lf+trim_trailing",
        }
        if not self.run.is_mock and self.run.keeps:
            found |= {"actual_embedding_model": "vectors-2026", "generation_ids": ["gen-9"]}
        return found | self._optional(generation_ids=None, note=None)

    def _manifest(
        self, trials: Sequence[Trial], vectors: Mapping[int, Any], listed: Mapping[str, int | None]
    ) -> dict[str, Any]:
        execution = self.config["execution"]
        hashes = {
            "config_sha256": sha256(sorted_js(self.config)),
            "plan_sha256": sha256(sorted_js(self.plan)),
            "model_catalog_version": "2026.01.01",
            "model_catalog_sha256": "6" * 64,
            "prompt_manifest_sha256": "7" * 64,
        }
        usage = planning_usage(trials)
        return {
            "schema_version": "1.0.0",
            "arbiter_version": "0.9.0",
            "run_id": RUN_ID,
            "started_at": START,
            "completed_at": END,
            "timestamps": {"started_at": START, "completed_at": END},
            "stop_reason": "k_max_reached",
            "stopping_mode": execution["stop_mode"],
            "incomplete": False,
            "k_attempted": len(trials),
            "k_eligible": len(vectors),
            "k_planned": len(self.plan),
            "k_min": execution["k_min"],
            "k_min_count_rule": execution["k_min_count_rule"],
            "stop_policy": {**execution["stop_policy"], "k_min_eligible": execution["k_min"]},
            "hash_algorithm": "sha256",
            **hashes,
            "provenance": {"arbiter_version": "0.9.0", "hash_algorithm": "sha256", **hashes},
            "artifacts": {
                "entries": [
                    {"path": path, **({} if count is None else {"record_count": count})}
                    for path, count in listed.items()
                ]
            },
            "policy": {
                "strict": False,
                "allow_free": False,
                "allow_aliased": False,
                "contract_failure_policy": self.run.policy,
            },
            **({"usage": usage} if usage else self._optional(usage=None)),
            **self._optional(notes=None, git_sha=None),
        }


def planning_usage(trials: Sequence[Trial]) -> dict[str, Any]:
    """Add up tokens by model, and over all."""
    by_model: dict[str, dict[str, int]] = {}
    for trial in trials:
        told = [(trial["actual_model"], trial.get("usage"))]
        told += [(call["model_actual"], call.get("usage")) for call in trial.get("calls") or ()]
        for model, usage in told:
            for name, value in (usage or {}).items():
                known = by_model.setdefault(model, {})
                known[name] = known.get(name, 0) + value
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    totals = {name: sum(one[name] for one in by_model.values()) for name in names}
    return {"totals": totals, "by_model": by_model} if by_model else {}


def length(text: str) -> int:
    """Count UTF-16 code units, halves of pairs too."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut(text: str, most: int) -> str:
    """Keep so many UTF-16 code units; the last one may be half of a pair."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * most].decode("utf-16-le", "surrogatepass")


def js(value: Any) -> str:
    """Write JSON as ECMAScript does: half of a pair as an escape, whole numbers without a fraction."""
    text = json.dumps(whole(value), ensure_ascii=False, separators=(",", ":"))
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def sorted_js(value: Any) -> str:
    """Write JSON with sorted keys."""
    text = json.dumps(whole(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: whole(one) for name, one in value.items()}
    return [whole(one) for one in value] if isinstance(value, list) else value


def arrow(vectors: Mapping[int, Sequence[float]]) -> bytes:
    """Write vectors as an Arrow file."""
    width = len(next(iter(vectors.values())))
    kind = pa.list_(pa.field("item", pa.float32(), nullable=False), width)
    table = pa.schema([("trial_id", pa.int32()), ("vector", kind)])
    flat = pa.array([number for vector in vectors.values() for number in vector], pa.float32())
    columns = [pa.array(list(vectors), pa.int32()), pa.FixedSizeListArray.from_arrays(flat, type=kind)]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table) as file:
        file.write_batch(pa.record_batch(columns, schema=table))
    return sink.getvalue().to_pybytes()


Tamper = Callable[[Any], None]
"""Changes a record."""


def tampered(folder: Path, file: str, change: Tamper, line: int = 0) -> None:
    """Change one record of a run, as by hand: nothing else of it follows."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    if file.endswith(".json"):
        value = json.loads(text)
        change(value)
        path.write_text(js(value), encoding="utf-8")
        return
    lines = text.split("\n")
    value = json.loads(lines[line])
    change(value)
    lines[line] = js(value)
    path.write_text("\n".join(lines), encoding="utf-8")
