"""What stands in a model's text, and what of it is embedded, from the specification alone."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import jsonschema

LEVELS = ("low", "medium", "high")


def is_space(char: str) -> bool:
    """White space as the specification's language counts it."""
    return char in "\t\n\v\f\r\u2028\u2029\ufeff" or unicodedata.category(char) == "Zs"


def trimmed(text: str) -> str:
    end = len(text)
    while end and is_space(text[end - 1]):
        end -= 1
    return text[:end]


def length(text: str) -> int:
    """Count 16-bit units."""
    return sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def prefix(text: str, most: int) -> str:
    """Keep as many characters as fit into so many 16-bit units."""
    room, kept = most, []
    for char in text:
        room -= length(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept)


def normal(text: str) -> str:
    return trimmed(text.replace("\r\n", "\n").replace("\r", "\n"))


def embedded(text: str, most: int) -> dict[str, Any]:
    """Return what of a text is embedded, and the metadata of that."""
    whole = normal(text)
    kept = prefix(whole, most)
    was_cut = kept != whole
    return {
        "text": kept,
        "embed_text_truncated": was_cut,
        "embed_text_original_chars": length(whole),
        "embed_text_final_chars": length(kept),
        "truncation_reason": "max_chars_exceeded" if was_cut else None,
    }


def value_of(text: str) -> tuple[bool, Any]:
    """Say whether a text is JSON, and what it says."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        return True, json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return False, None


def blocks(text: str) -> list[Any]:
    """Return what is JSON between fences."""
    found = []
    for block in re.findall(r"```(?:json)?(.*?)```", text, re.DOTALL | re.IGNORECASE):
        is_json, value = value_of(re.sub(r"^[\s\ufeff]+|[\s\ufeff]+$", "", block))
        if is_json:
            found.append(value)
    return found


def objects(text: str) -> list[Any]:
    """Return what is JSON from a brace to the one that closes it, braces counted wherever they stand."""
    found = []
    for start in (at for at, char in enumerate(text) if char == "{"):
        depth = 0
        for end in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            if depth == 0:
                is_json, value = value_of(text[start : end + 1])
                if is_json:
                    found.append(value)
                break
    return found


def read(config: Mapping[str, Any], trial: Mapping[str, Any], plain_version: str) -> dict[str, Any]:
    """Return the line of parsed.jsonl that a trial should have, without the words of an error."""
    is_debate = config["protocol"]["type"] != "independent"
    contract = config["protocol"].get("decision_contract")
    most = config["measurement"]["embedding_max_chars"]
    version = "debate-v1" if is_debate else "independent-v1" if contract else plain_version
    line = {"trial_id": trial["trial_id"], "parser_version": version}
    if trial["status"] != "success":
        return {
            **line,
            "parse_status": "failed",
            "parser_version": "debate-v1" if is_debate else plain_version,
        }
    raw = trial.get("raw_assistant_text", "")
    line["raw_assistant_text"] = raw
    if all(is_space(char) for char in raw):
        return {**line, "parse_status": "failed", "parse_error": "empty_content"}
    if contract:
        fields, fault = by_contract(raw, contract)
    elif is_debate:
        fields, fault = by_decision(raw), None
    else:
        fields, fault = None, None
    if fields is None:
        fields = {
            "parse_status": "fallback" if contract or is_debate else "success",
            "extraction_method": "raw",
            "embed_text_source": "raw_content",
            "outcome": raw.rstrip("\n") if version == "mock-v0" else raw,
            "embeds": raw,
            **({"parse_error": fault} if fault else {}),
        }
    kept = embedded(fields.pop("embeds"), most)["text"]
    return {**line, **fields, **({"embed_text": kept} if kept else {})}


def by_decision(raw: str) -> dict[str, Any] | None:
    """Read a debate's end: the first object that decides."""
    for method, values in (("fenced", blocks(raw)), ("unfenced", objects(raw))):
        for value in values:
            if not isinstance(value, dict):
                continue
            decision, confidence = value.get("decision"), value.get("confidence", "low")
            reasoning = value.get("reasoning", "")
            if not isinstance(decision, str) or not decision or not isinstance(reasoning, str):
                continue
            if not isinstance(confidence, str) or confidence not in LEVELS:
                continue
            found = {"confidence": value.get("confidence"), "rationale": value.get("reasoning")}
            return {
                "parse_status": "success",
                "extraction_method": method,
                "embed_text_source": "decision",
                "outcome": decision,
                "embeds": decision,
                **{name: one for name, one in found.items() if one is not None},
            }
    return None


def by_contract(raw: str, contract: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
    """Read what a contract gives its form; None and a fault when it has not that form."""
    judge = jsonschema.Draft202012Validator(contract["schema"])
    most = contract.get("rationale_max_chars")
    fault = "no_json"
    for method, values in (("fenced", blocks(raw)[:1]), ("unfenced", objects(raw)[:1])):
        for value in values:
            answer, was_cut = value, False
            if isinstance(value, dict) and isinstance(value.get("rationale"), str) and most:
                answer = {**value, "rationale": prefix(value["rationale"], most)}
                was_cut = answer != value
            if not judge.is_valid(answer):
                fault = "contract_mismatch"
                continue
            decision = answer.get("decision") if isinstance(answer, dict) else None
            if not isinstance(decision, str) or not decision:
                return None, "no_decision"
            return {"extraction_method": method, **decided(raw, answer, contract, was_cut)}, None
    return None, fault


def decided(raw: str, value: dict[str, Any], contract: Mapping[str, Any], was_cut: bool) -> dict[str, Any]:
    texts = {"decision": value["decision"], "rationale": value.get("rationale"), "raw_content": raw}
    usable = {
        name: text
        for name, text in texts.items()
        if isinstance(text, str) and not all(is_space(char) for char in text)
    }
    wanted = contract["embed_text_source"]
    source = wanted if wanted in usable else next(iter(usable))
    found = {"parse_status": "success", "embed_text_source": source, "outcome": value["decision"]}
    if isinstance(value.get("rationale"), str):
        found["rationale"] = value["rationale"]
    if was_cut:
        found["rationale_truncated"] = True
    confidence = value.get("confidence")
    if confidence in LEVELS or (isinstance(confidence, int | float) and not isinstance(confidence, bool)):
        found["confidence"] = confidence
    return {**found, "embeds": usable[source]}
