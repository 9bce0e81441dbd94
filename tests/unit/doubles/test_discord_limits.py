"""Every limit of Discord's API on messages, one by one, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from tests.doubles.discord_server import DiscordServer


@pytest.fixture(scope="module")
def server() -> Iterator[DiscordServer]:
    with DiscordServer(rate_scale=0.001) as one:
        one.add_channel("a-arena")
        yield one


WIDE = [{"type": 2, "style": 1, "label": str(n), "custom_id": str(n)} for n in range(6)]


def embed(**parts: Any) -> dict[str, Any]:
    return {"embeds": [parts]}


def row(**button: Any) -> dict[str, Any]:
    return {"content": "x", "components": [{"type": 1, "components": [{"type": 2, "style": 1, **button}]}]}


LIMITS: dict[str, tuple[dict[str, Any], str]] = {
    "content": ({"content": "x" * 2001}, "content"),
    "content is trimmed first": ({"content": "x" * 2000 + " " * 9}, ""),
    "content in code points": ({"content": "\N{GRINNING FACE}" * 2000}, ""),
    "title": (embed(title="x" * 257), "embeds.0.title"),
    "description": (embed(description="x" * 4097), "embeds.0.description"),
    "description at its most": (embed(description="x" * 4096), ""),
    "footer": (embed(footer={"text": "x" * 2049}), "embeds.0.footer.text"),
    "author": (embed(author={"name": "x" * 257}), "embeds.0.author.name"),
    "fields": (embed(fields=[{"name": "n", "value": "v"}] * 26), "embeds.0.fields"),
    "field name": (embed(fields=[{"name": "n" * 257, "value": "v"}]), "embeds.0.fields.0.name"),
    "field value": (embed(fields=[{"name": "n", "value": "v" * 1025}]), "embeds.0.fields.0.value"),
    "empty field": (embed(fields=[{"name": "n", "value": " "}]), "embeds.0.fields.0.value"),
    "ten embeds": ({"embeds": [{"title": "x"}] * 11}, "embeds"),
    "6,000 in all": ({"embeds": [{"description": "x" * 3001}, {"description": "x" * 3000}]}, "embeds"),
    "6,000 exactly": ({"embeds": [{"description": "x" * 3000}, {"description": "x" * 3000}]}, ""),
    "rows": ({"content": "x", "components": [{"type": 1, "components": [b]} for b in WIDE]}, "components"),
    "buttons in a row": ({"content": "x", "components": [{"type": 1, "components": WIDE}]}, "components.0.components"),
    "label": (row(label="x" * 81, custom_id="a"), "components.0.components.0.label"),
    "custom_id": (row(label="x", custom_id="a" * 101), "components.0.components.0.custom_id"),
    "custom_id at its most": (row(label="x", custom_id="a" * 100), ""),
    "no custom_id": (row(label="x"), "components.0.components.0.custom_id"),
    "two of one custom_id": (
        {"content": "x", "components": [{"type": 1, "components": [WIDE[0], WIDE[0]]}]},
        "components.0.components.1.custom_id",
    ),
    "username": ({"content": "x", "username": "x" * 81}, "username"),
    "username at its most": ({"content": "x", "username": "x" * 80}, ""),
    "username discord": ({"content": "x", "username": "My Discord Bot"}, "username"),
    "username clyde": ({"content": "x", "username": "Clyde"}, "username"),
    "avatar": ({"content": "x", "avatar_url": "data:image/png;base64,AA"}, "avatar_url"),
    "nonce": ({"content": "x", "nonce": "n" * 26}, "nonce"),
    "mentions": (
        {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}, "allowed_mentions",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LIMITS)
def test_what_is_beyond_a_limit_is_refused_where_it_stands(server: DiscordServer, case: str) -> None:
    body, place = LIMITS[case]
    hook = server.add_webhook(server.add_channel(f"for {case}"), "moot")
    before = len(server.messages())
    server.world.webhooks[hook["id"]]["application_id"] = server.application_id

    async def scene() -> None:
        async with aiohttp.ClientSession() as http:
            url = f"{server.api}/webhooks/{hook['id']}/{hook['token']}?wait=true"
            async with http.post(url, json=body) as answer:
                told = await answer.json()
                if not place:
                    assert answer.status == 200, told
                    return
                assert (answer.status, told["code"], told["message"]) == (400, 50035, "Invalid Form Body")
                at = told["errors"]
                for step in place.split("."):
                    at = at[step]
                assert at["_errors"][0]["code"] and at["_errors"][0]["message"]

    asyncio.run(scene())
    assert len(server.messages()) - before == (0 if place else 1)
