"""Whether models were asked what the plan says, and answered what the trials say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from moot.arbiter.run_files import TRIALS
from moot.arbiter.verify.comparing import told
from moot.arbiter.verify.meetings import COURSES
from moot.arbiter.verify.parts import MOCK, Told
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
        self.sent = found.get("request_payload", MOCK)
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
            told = [*_reply(call, was_asked=was_asked)]
            if was_asked and call.sent != MOCK:
                told += _request(call, trial, config)
                name = models.setdefault(call.slug, call.sent.get("model"))
                if call.sent.get("model") != name:
                    told.append(("request_payload.model", f"is not {name}, which {call.slug} was before"))
            for field, why in told:
                findings.fail("trials", TRIALS, why, line=line.number, field=f"{call.field}{field}")


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
            text = text if call["request_payload"] == MOCK else None
        yield _Call(f"calls[{n}].", call["turn"], asked, answered, call, decode, text)


def _request(call: _Call, trial: Mapping[str, Any], config: ResolvedConfiguration) -> Told:
    yield from _words(call, trial, config)
    for name, wanted in call.decode.items():
        sent = call.sent.get(name, wanted)
        if sent != wanted:
            yield f"request_payload.{name}", f"is {told(sent)}, should be {told(wanted)}"


def _words(call: _Call, trial: Mapping[str, Any], config: ResolvedConfiguration) -> Told:
    found = _said(call.sent) or []
    if trial["protocol"] in COURSES:
        # What a seat is told besides its persona is Moot's, as it was then.
        persona = _persona(call.role, trial, config)
        if not found or found[0][0] != "system" or not found[0][1].startswith(persona):
            yield "request_payload", f"does not begin with {told(persona)} as system"
        return
    is_independent = trial["protocol"] == "independent"
    expected = _independent(trial, config) if is_independent else _turn(call, trial, config)
    if len(expected) != len(found):
        yield "request_payload", f"says {len(found)} messages, should be {len(expected)}"
    for one, other in zip(expected, found, strict=False):
        # The words by which a turn is asked for are nobody's configuration.
        if one[0] != other[0] or (one[1] and one[1] != other[1]):
            yield "request_payload", f"says {told(other[1])} as {other[0]}, should be {told(one[1])}"


def _persona(role: str, trial: Mapping[str, Any], config: ResolvedConfiguration) -> str:
    """Return the words of a role's persona with what divides them from its role; "" for a persona without words."""
    persona_id = trial["role_assignments"].get(role, {}).get("persona_id")
    persona = next((one.text for one in config.sampling.personas if one.persona == persona_id), "")
    return "" if is_blank(persona) else f"{persona.strip()}{BETWEEN}"


def _reply(call: _Call, *, was_asked: bool) -> Told:
    """Yield what is told of a reply and is not in it."""
    if was_asked and call.text is not None and (call.sent == MOCK or call.back is None):
        yield "request_payload" if call.sent == MOCK else "response_payload", "is missing"
    if not was_asked and call.text is not None and call.actual != call.slug:
        yield "actual_model" if not call.field else "model_actual", f"is not {call.slug}, as in a mock run"
    if call.back is None:
        if was_asked and call.actual is not None:
            yield "response_payload", f"is missing, though {call.actual} answered"
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
        if is_known and not any(used.get(one) == value for one in names):
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
    return clause(config.protocol.decision_contract) if config.protocol.decision_contract else ""


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if not is_blank(part))


def _with_system(system: str, said: Said) -> Said:
    return [("system", system), *said] if system else said
