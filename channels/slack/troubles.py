"""What Slack's error codes mean for a mirror, as data, and the line that a person reads.

Four kinds: the set-up is wrong (somebody must act), one channel is (its messages wait), the message is (it is
skipped), or nobody knows whether Slack took it (it is looked for before it is posted again).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moot.channels.showing.wording import clean
from moot.channels.slack.scopes import APPS_PAGE, reinstall
from moot.channels.surface import PostRefused, SurfaceConfigError, SurfaceDown, SurfaceError

SETUP: Final[Mapping[str, str]] = {
    "invalid_auth": "copy it again",
    "not_authed": "copy it again",
    "not_allowed_token_type": "it is another kind of token; copy it again",
    "token_revoked": "it was revoked: reinstall the app and copy the new one",
    "token_expired": "it expired: switch token rotation off, reinstall the app and copy the new one",
    "account_inactive": "the app was removed from the workspace: reinstall it and copy the new token",
    "no_permission": "the app may not do this: reinstall it from its manifest",
    "access_denied": "the app may not do this: reinstall it from its manifest",
    "org_login_required": "the workspace is moving to an organisation: try again when that is done",
    "ekm_access_denied": "a workspace admin suspended access",
    "team_access_not_granted": "a workspace admin must allow the app here",
    "forbidden_team": "a workspace admin must allow the app here",
}
"""Codes after which nothing works until somebody changes something."""

HERE: Final[Mapping[str, str]] = {
    "channel_not_found": "it is gone, or private without the app; write /invite @moot there, or run: moot slack setup",
    "is_archived": "it is archived; unarchive it in Slack (channel details, Settings)",
    "not_in_channel": "the app is not in it; write /invite @moot there",
    "restricted_action": "a workspace setting keeps the app from posting; a workspace admin can allow it",
    "restricted_action_read_only_channel": "it is read-only; let the app post (channel details, Settings)",
    "restricted_action_non_threadable_channel": "it takes no threads; allow them (channel details, Settings)",
    "restricted_action_thread_only_channel": "it takes threads only; allow messages (channel details, Settings)",
    "method_not_supported_for_channel_type": "it is no ordinary channel; give it another name, run: moot slack setup",
    "messages_tab_disabled": "it takes no messages",
    "posting_to_general_channel_denied": "only admins may post there",
}
"""Codes that concern one channel."""

IN_DOUBT: Final = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}
)
"""Codes after which the message may stand all the same."""

NO_THREAD: Final = frozenset(
    {
        "cannot_reply_to_message", "invalid_thread_ts", "message_not_found", "thread_not_found",
        "restricted_action_thread_locked", "thread_locked",
    }
)  # fmt: skip
"""Codes that say that the thread is gone: the message goes to the channel."""

METADATA_REFUSED: Final = frozenset(
    {
        "metadata_too_large",
        "metadata_must_be_sent_from_app",
        "invalid_metadata_format",
        "invalid_metadata_schema",
    }
)
"""Codes that say that the metadata cannot travel along."""

TOO_FAST: Final = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
"""Codes that ask for a pause: of a channel where a message was posted, else of the method in the whole workspace."""

_REFUSED: Final = (
    "invalid_",
    "msg_",
    "too_",
    "metadata_",
    "no_text",
    "blocks_",
    "duplicate_",
    "as_user",
    "file_",
)
"""How the codes begin that concern the message itself."""


class SlackSaid(SurfaceError):
    """Say that Slack answered a call with `ok: false`.

    Attributes:
        code: Slack's word for why.
        data: Its whole answer.
    """

    def __init__(self, code: str, data: Mapping[str, Any]) -> None:
        """Keep the code."""
        super().__init__(f"Slack says {clean(code, 80)}")
        self.code = code
        self.data = data


def trouble(said: SlackSaid, *, where: str = "", token: str = "the bot token") -> SurfaceError:
    """Return what an answer means.

    Args:
        said: Slack's answer.
        where: The channel it is about, as people know it.
        token: Which token was used.
    """
    code = clean(said.code, 80)
    if code == "missing_scope":
        needed = tuple(
            clean(name.strip(), 60) for name in str(said.data.get("needed") or "").split(",") if name.strip()
        )
        return SurfaceConfigError(f"{token} lacks a scope: {reinstall(needed or ('the missing one',))}")
    if code in SETUP:
        return SurfaceConfigError(f"Slack refuses {token} ({code}): {SETUP[code]} ({APPS_PAGE})")
    if code in IN_DOUBT:
        return SurfaceDown(f"Slack has a fault of its own ({code})")
    if code in HERE:
        return SurfaceDown(
            f"{where or 'a channel'} in Slack: {HERE[code]}", maybe_posted=False, everywhere=False
        )
    if code.startswith(_REFUSED):
        return PostRefused(f"Slack refuses it: {code}{_details(said.data)}")
    return SurfaceDown(f"{where or 'Slack'}: Slack refuses ({code})", maybe_posted=False, everywhere=False)


def _details(data: Mapping[str, Any]) -> str:
    """Quote what Slack adds to an error."""
    meta = data.get("response_metadata")
    messages = meta.get("messages") if isinstance(meta, Mapping) else None
    said = [clean(str(line), 160) for line in messages[:2]] if isinstance(messages, list) else []
    return f" ({'; '.join(said)})" if said else ""
