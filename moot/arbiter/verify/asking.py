"""Whether models were asked what the plan says, and answered what the trials say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from moot.arbiter.run_files import TRIALS
from moot.arbiter.verify.comparing import told
from moot.arbiter.verify.meetings import COURSES
from moot.arbiter.verify.parts import Told, is_mocked
from moot.arbiter.verify.reading import Files
from moot.arbiter.verify.report import Findings
from moot.arbiter.verify.trials import is_mock
from moot.protocols.arbiter.contract import clause
from moot.protocols.arbiter.embed_text import is_blank, well_formed
from moot.protocols.arbiter.generated import ResolvedConfiguration

BETWEEN: Final = "\n\n---\n\n"
"""Between a persona and the role that it plays."""

ALIKE: Final[Mapping[str, tuple[str, ...]]] = {"cost": ("cost", "total_cost")}
"""What else a figure of `usage` is called in replies."""

TOKENS: Final = frozenset({"prompt_tokens", "completion_tokens"})
"""What is told by replies that count as `usage` does; others count otherwise."""

Said = list[tuple[str, str]]

_ANY: Final = "\0any words\0"
"""Stands in a system prompt for words that each program puts in its own way: how a contract is asked for."""


class _Call:
    """A call of a trial: where it stands, what was asked of whom, what was sent and what came back."""

    def __init__(
        self,
        field: str,
        turn: int,
        slug: str,
        actual: str | None,
        found: Mapping[str, Any],
        decode: Mapping[str, Any],
        text: str | None,
    ) -> None:
        self.field, self.turn, self.slug, self.actual = field, turn, slug, actual
        self.sent = found.get("request_payload")
        self.back = found.get("response_payload")
        self.usage = found.get("usage")
        self.role = found.get("role", "")
        self.decode, self.text = decode, text


def check_asking(files: Files, config: ResolvedConfiguration, findings: Findings) -> None:
    """Put together what each call should have been asked, and compare; hold what is told of a reply against it."""
    was_asked = not is_mock(files)
    models: dict[str, Any] = {}
    for line in files.lines.get(TRIALS, ()):
        trial = line.value
        if trial["protocol"] != config.protocol.type:
            continue
        for call in _calls(trial):
            faults = [*_reply(call, was_asked=was_asked)]
            if was_asked and call.sent is not None and not is_mocked(call.sent):
                faults += _request(call, call.sent, trial, config)
                name = models.setdefault(call.slug, call.sent.get("model"))
                if call.sent.get("model") != name:
                    faults.append(("request_payload.model", f"is not {name}, which {call.slug} was before"))
            for field, why in faults:
                findings.fail("trials", TRIALS, why, line=line.number, field=f"{call.field}{field}")
            for field, why in _left_open(call, trial, config, was_asked=was_asked):
                findings.note("trials", TRIALS, why, line=line.number, field=f"{call.field}{field}")


def _calls(trial: Mapping[str, Any]) -> Iterator[_Call]:
    slug, actual = trial["requested_model_slug"], trial["actual_model"]
    if trial["protocol"] == "independent":
        text = trial.get("raw_assistant_text") if trial["status"] == "success" else None
        yield _Call("", 0, slug, actual, trial, trial["assigned_config"].get("decode", {}), text)
        return
    said = {turn["turn"]: turn["content"] for turn in trial["transcript"]}
    for n, call in enumerate(trial["calls"]):
        decode = trial["role_assignments"].get(call["role"], {}).get("decode", {})
        asked, answered = call["model_requested"], call["model_actual"]
        text = said.get(call["turn"])
        if trial["protocol"] in COURSES:
            # A seat answers in a form, and its message is made of that; it cuts nobody short.
            decode = {name: value for name, value in decode.items() if name != "max_tokens"}
            text = text if is_mocked(call["request_payload"]) else None
        yield _Call(f"calls[{n}].", call["turn"], asked, answered, call, decode, text)


def _request(
    call: _Call, sent: Mapping[str, Any], trial: Mapping[str, Any], config: ResolvedConfiguration
) -> Told:
    yield from _words(call, sent, trial, config)
    for name, wanted in call.decode.items():
        given = sent.get(name, wanted)
        if given != wanted:
            yield f"request_payload.{name}", f"is {told(given)}, should be {told(wanted)}"


def _words(
    call: _Call, sent: Mapping[str, Any], trial: Mapping[str, Any], config: ResolvedConfiguration
) -> Told:
    found = _said(sent) or []
    if trial["protocol"] in COURSES:
        # What a seat is told besides its persona is Moot's, as it was then.
        persona = _persona(call.role, trial, config)
        if not found or found[0][0] != "system" or not found[0][1].startswith(persona):
            yield "request_payload", f"does not begin with {told(persona)} as system"
        return
    expected = _expected(call, trial, config)
    if len(expected) != len(found):
        yield "request_payload", f"says {len(found)} messages, should be {len(expected)}"
    for (role, wanted), (speaker, text) in zip(expected, found, strict=False):
        if role != speaker or not (_is_put_together(text, wanted) if role == "system" else _is(text, wanted)):
            shown = wanted.replace(_ANY, "…")
            yield "request_payload", f"says {told(text)} as {speaker}, should be {told(shown)}"


def _expected(call: _Call, trial: Mapping[str, Any], config: ResolvedConfiguration) -> Said:
    is_independent = trial["protocol"] == "independent"
    return _independent(trial, config) if is_independent else _turn(call, trial, config)


def _is(text: str, wanted: str) -> bool:
    """Return whether a message says what it should: any words, where those that ask for a turn are no configuration."""
    return not wanted or text == wanted


def _is_put_together(text: str, wanted: str) -> bool:
    """Return whether a system prompt holds its parts in order and nothing else, blanks between them aside."""
    before, *after = (" ".join(part.split()) for part in wanted.split(_ANY))
    plain = " ".join(text.split())
    if not after:
        return plain == before
    return (
        plain.startswith(before)
        and plain.endswith(after[0])
        and len(plain) > len(before) + len(after[0]) + bool(before) + bool(after[0])
    )


def _persona(role: str, trial: Mapping[str, Any], config: ResolvedConfiguration) -> str:
    """Return the words of a role's persona with what divides them from its role; "" for a persona without words."""
    persona_id = trial["role_assignments"].get(role, {}).get("persona_id")
    persona = next((one.text for one in config.sampling.personas if one.persona == persona_id), "")
    return "" if is_blank(persona) else f"{persona.strip()}{BETWEEN}"


def _left_open(
    call: _Call, trial: Mapping[str, Any], config: ResolvedConfiguration, *, was_asked: bool
) -> Told:
    """Yield what of a call other programs need not keep or say, and Moot does."""
    if call.sent is not None and not call.sent:
        yield "request_payload", "is empty"
    if not was_asked:
        if call.text is not None and call.actual != call.slug:
            field = "model_actual" if call.field else "actual_model"
            yield field, f"is not {call.slug}, and no request to {call.actual} is kept"
        return
    is_unsent = is_mocked(call.sent)
    if call.text is not None and (is_unsent or call.back is None):
        yield "request_payload" if is_unsent else "response_payload", "is missing"
    elif call.back is None and call.actual is not None:
        yield "response_payload", f"is missing, though {call.actual} answered"
    contract = config.protocol.decision_contract
    if is_unsent or contract is None or trial["protocol"] in COURSES:
        return
    wanted = [text for _, text in _expected(call, trial, config) if _ANY in text]
    asked = [text for _, text in _said(call.sent or {}) or ()]
    if not all(text.replace(_ANY, clause(contract).strip()) in asked for text in wanted):
        yield "request_payload", f"asks for the form of {contract.id} in other words than Moot"


def _reply(call: _Call, *, was_asked: bool) -> Told:
    """Yield what is told of a reply and is not in it."""
    if call.back is None:
        return
    if call.text is not None and not _holds(call.back, call.text.strip()):
        yield "response_payload", "does not hold the text of the trial"
    model = call.back.get("model")
    if was_asked and isinstance(model, str) and (well_formed(model) or None) != call.actual:
        yield "response_payload.model", f"is {told(model)}, not {told(call.actual)}"
    if was_asked and call.actual is not None and not isinstance(model, str):
        yield "response_payload.model", f"is missing, though {call.actual} answered"
    used = call.back.get("usage")
    for name, value in (call.usage or {}).items():
        if name == "total_tokens":
            continue
        if not isinstance(used, dict):
            yield "response_payload.usage", "is missing, though usage is told"
            return
        names = ALIKE.get(name, (name,))
        is_known = name == "cost" or bool(TOKENS & used.keys())
        if is_known and not any(used.get(one) == value for one in names) and (value or name in used):
            yield f"usage.{name}", f"is {value}, the reply says {told(used.get(names[0]))}"


def _holds(value: Any, text: str) -> bool:
    """Say whether a text stands in some text of a reply, or in those that it says one after the other."""
    parts = list(_texts(value))
    return any(text in part for part in parts) or text in "".join(parts)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield well_formed(value)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _said(payload: Mapping[str, Any]) -> Said | None:
    """Return what a request says, by role; None where it is not written in a way that is known."""
    messages = payload.get("messages")
    if not isinstance(messages, list):
        return None
    found: Said = []
    if (system := _content(payload.get("system"))) is not None:
        found.append(("system", system))
    for one in messages:
        content = _content(one.get("content")) if isinstance(one, dict) else None
        if content is None:
            return None
        found.append((str(one.get("role")), content))
    return found


def _content(value: Any) -> str | None:
    """Return the text of a message: a text, or blocks of text."""
    if isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("text"), str) for one in value
    ):
        return "".join(one["text"] for one in value) if value else None
    return value if isinstance(value, str) else None


def _independent(trial: Mapping[str, Any], config: ResolvedConfiguration) -> Said:
    sampling, assigned = config.sampling, trial["assigned_config"]
    parts = [one.text for one in sampling.personas if one.persona == assigned["persona"]][:1]
    parts += [one.text for one in sampling.protocols if one.protocol == assigned["protocol"]][:1]
    parts.append(_clause(config))
    parts += [one.text for one in sampling.instruments or ()]
    return _with_system(_joined(parts), [("user", config.question.text)])


def _turn(call: _Call, trial: Mapping[str, Any], config: ResolvedConfiguration) -> Said:
    """Return what a turn of a debate is asked; an empty text stands for words that may be any."""
    prompts, question = config.protocol.prompts, ("user", config.question.text)
    assert prompts is not None
    role = "critic" if call.turn == 1 else "proposer"
    prompt = (prompts.proposer_system, prompts.critic_system, prompts.proposer_final_system)[
        min(call.turn, 2)
    ]
    system = f"{_persona(role, trial, config)}{prompt.text.strip()}"
    said = [question]
    for turn in trial["transcript"][: call.turn]:
        said += [("assistant", turn["content"]), ("user", "")]
    return _with_system(_joined([system, _clause(config)]) if call.turn >= 2 else system, said)


def _clause(config: ResolvedConfiguration) -> str:
    return "" if config.protocol.decision_contract is None else _ANY


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if not is_blank(part))


def _with_system(system: str, said: Said) -> Said:
    return [("system", system), *said] if system else said
