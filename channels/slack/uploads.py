"""Uploads: the typed JSON of a message that is too long for its metadata, as a file that the message names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import aiohttp
import structlog

from channels.slack.rendering import EVENT, FILE, Rendered, with_file
from channels.slack.troubles import SlackSaid, trouble
from channels.slack.web import Web, answer, data_of
from channels.surface import SurfaceConfigError, SurfaceDown

MOST_REMEMBERED: Final = 200
"""Files that are known again when their message is tried once more."""


class Uploads:
    """Uploads payloads; once per nonce, as far as this process remembers."""

    def __init__(self, web: Web) -> None:
        """Connect."""
        self._web = web
        self._files: OrderedDict[str, tuple[str, str]] = OrderedDict()

    async def carry(self, rendered: Rendered) -> Rendered:
        """Return the message with its payload in a file.

        Where the workspace takes no files, the message goes without its typed JSON rather than not at all.

        Raises:
            SurfaceDown, RateLimited: It cannot be uploaded now; nothing was posted.
            SurfaceConfigError: A scope is missing.
        """
        found = self._files.get(rendered.nonce)
        if found is None:
            try:
                found = self._files[rendered.nonce] = await self._upload(rendered.payload)
            except SlackSaid as said:
                why = trouble(said)
                if isinstance(why, SurfaceConfigError):
                    raise why from None
                structlog.get_logger().warning("slack takes no file", nonce=rendered.nonce, why=said.code)
                bare = {"event_type": EVENT, "event_payload": {"nonce": rendered.nonce}}
                return replace(rendered, metadata=bare)
            except SurfaceDown as exc:
                raise SurfaceDown(str(exc), maybe_posted=False) from None
            while len(self._files) > MOST_REMEMBERED:
                self._files.popitem(last=False)
        return with_file(rendered, *found)

    async def _upload(self, content: bytes) -> tuple[str, str]:
        client = self._web.client
        ticket = data_of(await answer(client.files_getUploadURLExternal(filename=FILE, length=len(content))))
        url, file_id = ticket.get("upload_url"), ticket.get("file_id")
        if not isinstance(url, str) or not isinstance(file_id, str):
            raise SurfaceDown("Slack named no place for a file")
        try:
            async with self._web.session.post(url, data=content, proxy=client.proxy) as response:
                if response.status != 200:
                    raise SurfaceDown(f"Slack answers {response.status} to a file")
        except (aiohttp.ClientError, OSError, TimeoutError) as exc:
            raise SurfaceDown(f"a file did not reach Slack ({type(exc).__name__})") from None
        files: list[dict[str, str | None]] = [{"id": file_id, "title": FILE}]
        done = data_of(await answer(client.files_completeUploadExternal(files=files)))
        link = _permalink(done.get("files"))
        if not link:
            link = _permalink([data_of(await answer(client.files_info(file=file_id))).get("file")])
        return file_id, link


def _permalink(files: Any) -> str:
    first = files[0] if isinstance(files, list) and files else None
    return str(first.get("permalink") or "") if isinstance(first, Mapping) else ""
