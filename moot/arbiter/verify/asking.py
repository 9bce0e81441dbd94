"""Whether models were asked what the plan says, and answered what the trials say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from moot.arbiter.run_files import TRIALS
from moot.arbiter.verify.comparing import told
from moot.arbiter.verify.reading import Files
from moot.arbiter.verify.report import Findings
from moot.arbiter.verify.trials import MOCK
from moot.protocols.arbiter.contract import clause
from moot.protocols.arbiter.embed_text import is_blank, well_formed
from moot.protocols.arbiter.generated import ResolvedConfiguration

BETWEEN: Final = "\n\n---\n\n"
"""Between a persona and the role that it plays."""

DRAWN: Final = ("temperature", "top_p", "presence_penalty", "frequency_penalty")
"""What of a decode is sent under its own name; an endpoint that refuses one is asked without it."""

Said = list[tuple[str, str]]


class _Call:
    """A call of a trial: where it stands, what was sent and what came back."""

    def __init__(self, field: str, turn: int, found: Mapping[str, Any], decode: Mapping[str, Any]) -> None:
        self.field = field
        self.turn = turn
        self.sent = found.get("request_payload", MOCK)
        self.back = found.get("response_payload")
        self.decode = decode


def check_asking(files: Files, config: ResolvedConfiguration, findings: Findings) -> None:
    """Put together what each call should have been asked, and compare; of a mock run there is nothing to compare."""
    for line in files.lines.get(TRIALS, ()):
        trial = line.value
        for call in _calls(trial):
            if call.sent == MOCK:
                continue
            for field, why in (*_request(call, trial, config), *_reply(call, trial)):
                findings.fail("trials", TRIALS, why, line=line.number, field=f"{call.field}{field}")


def _calls(trial: Mapping[str, Any]) -> Iterator[_Call]:
    if trial["protocol"] == "independent":
        yield _Call("", 0, trial, trial["assigned_config"].get("decode", {}))
        return
    for n, call in enumerate(trial.get("calls", ())):
        decode = trial["role_assignments"][call["role"]].get("decode", {})
        yield _Call(f"calls[{n}].", call["turn"], call, decode)


def _request(
    call: _Call, trial: Mapping[str, Any], config: ResolvedConfiguration
) -> Iterator[tuple[str, str]]:
    found = _said(call.sent)
    if found is None:
        return
    expected = (
        _independent(trial, config) if trial["protocol"] == "independent" else _turn(call, trial, config)
    )
    if len(expected) != len(found):
        yield "request_payload", f"says {len(found)} messages, should be {len(expected)}"
    for one, other in zip(expected, found, strict=False):
        # The words by which a turn is asked for are nobody's configuration.
        if one[0] != other[0] or (one[1] and one[1] != other[1]):
            yield "request_payload", f"says {told(other[1])} as {other[0]}, should be {told(one[1])}"
    for name in DRAWN:
        if name in call.sent and name in call.decode and call.sent[name] != call.decode[name]:
            yield (
                f"request_payload.{name}",
                f"is {told(call.sent[name])}, should be {told(call.decode[name])}",
            )


def _reply(call: _Call, trial: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a text that is not in the reply that it should come from."""
    choices = call.back.get("choices") if isinstance(call.back, dict) else None
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return
    message = choices[0].get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if trial["protocol"] == "independent":
        text = trial.get("raw_assistant_text", "")
    else:
        text = next((turn["content"] for turn in trial["transcript"] if turn["turn"] == call.turn), "")
    if isinstance(content, str) and text.strip() not in well_formed(content):
        yield "response_payload", "does not hold the text of the trial"


def _said(payload: Mapping[str, Any]) -> Said | None:
    """Return what a request says, by role; None where it is not written in a way that is known."""
    messages = payload.get("messages")
    if not isinstance(messages, list):
        return None
    found: Said = []
    if isinstance(payload.get("system"), str):
        found.append(("system", payload["system"]))
    for one in messages:
        if not isinstance(one, dict) or not isinstance(one.get("content"), str):
            return None
        found.append((str(one.get("role")), one["content"]))
    return found


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
    persona_id = trial["role_assignments"][role]["persona_id"]
    persona = next((one.text for one in config.sampling.personas if one.persona == persona_id), "")
    system = prompt.text.strip() if is_blank(persona) else f"{persona.strip()}{BETWEEN}{prompt.text.strip()}"
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
