"""The page about Slack gives the scopes that are asked for; its transcript is `test_platform_transcripts`' own."""

from pathlib import Path

from moot.channels.slack.scopes import BOT_SCOPES

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "slack.md"


def test_the_page_gives_every_scope_with_its_reason():
    page = PAGE.read_text(encoding="utf-8")
    for scope in BOT_SCOPES:
        assert f"| `{scope.name}` | {scope.why} |" in page
