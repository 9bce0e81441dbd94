"""The permissions that the bot asks for."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from moot.channels.discord.rights import ADMINISTRATOR, ALL, RIGHTS, invite, missing


def test_each_permission_has_a_reason_and_counts_once():
    assert all(right.why.startswith("to ") for right in RIGHTS)
    assert len({right.bit for right in RIGHTS}) == len(RIGHTS)
    assert not ALL & ADMINISTRATOR


def test_what_is_missing_is_named():
    assert missing(ALL) == ()
    assert missing(ADMINISTRATOR) == ()
    assert [right.name for right in missing(ALL & ~(1 << 29))] == ["Manage Webhooks"]


def test_the_link_names_the_application_its_permissions_and_the_server():
    asked = parse_qs(urlsplit(invite(42, 7)).query)
    assert asked == {
        "client_id": ["42"],
        "permissions": [str(ALL)],
        "scope": ["bot applications.commands"],
        "guild_id": ["7"],
    }


def test_the_page_lists_them_as_they_are():
    page = Path(__file__).parents[3] / "docs/how-to/discord.md"
    rows = "\n".join(f"| {right.name} | {right.why} |" for right in RIGHTS)
    assert f"| permission | needed |\n|---|---|\n{rows}\n" in page.read_text(encoding="utf-8")
