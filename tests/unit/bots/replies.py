"""Replies of chat completions, messages and embeddings, as servers write them."""

from __future__ import annotations

import json
from typing import Any

USED = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def chat(content: Any = "", finish: Any = "stop", *, usage: Any = USED, **message: Any) -> dict[str, Any]:
    """Return a chat completion; without `usage` where that is None."""
    told = {"role": "assistant", "content": content, **message}
    reply = {
        "id": "cmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": told}],
    }
    return reply if usage is None else {**reply, "usage": usage}


def message(content: Any, finish: Any = "end_turn", *, usage: Any = None) -> dict[str, Any]:
    """Return a message of Anthropic's API."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": blocks,
        "stop_reason": finish,
        "usage": usage or {"input_tokens": 100, "output_tokens": 20},
    }


def embedded(usage: Any) -> dict[str, Any]:
    """Return the reply to one text that was embedded."""
    return {"object": "list", "data": [{"index": 0, "embedding": [0.5, 0.5]}], "model": "m", "usage": usage}


def raw(reply: Any) -> bytes:
    """Return a reply as it goes over the wire."""
    return json.dumps(reply, ensure_ascii=False).encode()
