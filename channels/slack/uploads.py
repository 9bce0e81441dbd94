"""Uploads: the typed JSON of a message that is too long for its metadata, as a file that the message names.

Slack shares no file by a link in a post under another name, as every post of ours is, and nobody else may open it
then. So the file is shared where its message will stand, as soon as it is uploaded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import aiohttp
import structlog

from moot.channels.slack.rendering import EVENT, FILE, Rendered, with_file
from moot.channels.slack.troubles import HERE, NO_THREAD, SlackSaid, trouble
from moot.channels.slack.web import Web, answer, data_of
from moot.channels.surface import RateLimited, SurfaceConfigError, SurfaceDown

MOST_REMEMBERED: Final = 200
"""Files that are known again when their message is tried once more."""


class Uploads:
    """Uploads payloads; once per nonce and channel, as far as this process remembers."""

    def __init__(self, web: Web) -> None:
        """Connect."""
        self._web = web
        self._files: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        self._doubtful: dict[tuple[str, str], str] = {}

    async def carry(self, rendered: Rendered, seq: int, room: str, thread: str | None) -> Rendered:
        """Return the message with its payload in a file, which is shared where the message will stand.

        Where the workspace takes no files, the message goes without its typed JSON rather than not at all.

        Args:
            rendered: The message.
            seq: Its number, for people who see the file.
            room: Slack's id of its channel.
            thread: Its thread; None: none.

        Raises:
            SlackSaid: The channel or the thread takes nothing; nothing was posted.
            SurfaceDown, RateLimited: It cannot be uploaded now; nothing was posted.
            SurfaceConfigError: A scope is missing.
        """
        key = rendered.nonce, room
        found = self._files.get(key)
        if found is None:
            try:
                found = await self._known(key) or await self._upload(key, rendered.payload, seq, thread)
                self._files[key] = found
            except SlackSaid as said:
                if said.code in HERE or said.code in NO_THREAD:
                    raise
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

    async def _known(self, key: tuple[str, str]) -> tuple[str, str] | None:
        """Return the file whose upload ended with no answer, if it arrived: it is shared once."""
        file_id = self._doubtful.get(key)
        if file_id is None:
            return None
        try:
            file = data_of(await answer(self._web.client.files_info(file=file_id))).get("file")
        except SlackSaid as said:
            if said.code != "file_not_found":
                raise
            file = None
        del self._doubtful[key]
        link = _permalink([file])
        return (file_id, link) if link else None

    async def _upload(
        self, key: tuple[str, str], content: bytes, seq: int, thread: str | None
    ) -> tuple[str, str]:
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
        files: list[dict[str, str | None]] = [{"id": file_id, "title": f"{FILE} of message {seq}"}]
        call = client.files_completeUploadExternal(files=files, channel_id=key[1], thread_ts=thread)
        self._doubtful[key] = file_id
        try:
            done = data_of(await answer(call))
        except (SlackSaid, RateLimited):
            del self._doubtful[key]
            raise
        del self._doubtful[key]
        link = _permalink(done.get("files"))
        if not link:
            link = _permalink([data_of(await answer(client.files_info(file=file_id))).get("file")])
        return file_id, link


def _permalink(files: Any) -> str:
    first = files[0] if isinstance(files, list) and files else None
    return str(first.get("permalink") or "") if isinstance(first, Mapping) else ""
