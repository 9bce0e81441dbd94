"""`moot slack setup`, `moot slack manifest` and the doctor's checks against the fake Slack server."""

import asyncio
import json
from urllib.parse import urlsplit

import pytest
import yaml

import moot.cli.setup.slack
from moot.channels.slack import SlackSurface
from moot.channels.slack.options import SlackOptions
from moot.channels.slack.scopes import BOT_SCOPES, EVENTS, NEEDED
from moot.channels.slack.setting_up import set_up
from moot.channels.surface import SurfaceDown
from moot.protocols.kernel.redact import redact
from moot.protocols.rulebook import rulebook
from tests.doubles.command_line import complaint, data, done, moot, write
from tests.doubles.live_slack import ALL, Society, living, posting, slack_server
from tests.doubles.small_log import SmallLog
from tests.doubles.surface_memory import SurfaceMemory
from tests.doubles.waiting import until


@pytest.fixture
def server(monkeypatch):
    with slack_server(monkeypatch, "general") as running:
        yield running


def config(tmp_path, server, more=""):
    return write(tmp_path / "society.toml", f'[surfaces.slack]\napi = "{server.api}"\n{more}')


def outcome(*args):
    result = moot(*args)
    return result.exit_code, result.output


def changes(server):
    return [call.method for call in server.calls if call.method.partition(".")[2] in (
        "create", "join", "setTopic", "setPurpose", "postMessage", "invite", "archive"
    )]  # fmt: skip


def test_setup_makes_every_channel_with_its_topic_and_a_second_run_has_nothing_to_do(tmp_path, server):
    file = config(tmp_path, server, 'prefix = "moot-"\n')
    first = done("slack", "setup", "--config", file)
    assert f"{len(rulebook().public)} channels set up; run: moot up" in first
    for channel in rulebook().public:
        made = server.channel(f"moot-{channel.name[1:]}")
        assert made.topic == channel.purpose
        assert server.bot_user in made.members
    assert "calls" not in first, "what is private is nobody's but the admins'"
    before = len(changes(server))
    assert done("slack", "setup", "--config", file).endswith("nothing to do\n")
    assert len(changes(server)) == before


def test_setup_joins_what_is_there_and_leaves_peoples_topics_alone(tmp_path, server):
    server.add_channel("admin", is_member=False)
    server.channel("admin").topic = "our own words"
    steps = data("slack", "setup", "--config", config(tmp_path, server))["steps"]
    (admin,) = [step for step in steps if step["name"] == "#admin"]
    assert (admin["state"], admin["found"]) == ("done", "joined, purpose set")
    assert server.channel("admin").topic == "our own words"


def test_check_changes_nothing_and_says_what_is_missing(tmp_path, server):
    server.add_channel("admin", is_member=False)
    server.add_channel("bridge")
    server.archive_channel("bridge")
    code, said = outcome("slack", "setup", "--check", "--config", config(tmp_path, server))
    assert code == 1
    assert not changes(server)
    said_once = " ".join(said.split())
    assert "✗ #a-arena not there; run: moot slack setup" in said_once
    assert "✗ #admin the app is not in it; run: moot slack setup" in said_once
    assert "✗ #bridge archived; unarchive it in Slack" in said_once
    assert f"{len(ALL)} things missing" in said


def test_after_setup_a_surface_posts_everywhere(tmp_path, server):
    done("slack", "setup", "--config", config(tmp_path, server))
    log = SmallLog()

    async def main():
        async with living(server) as surface:
            for channel in rulebook().public:
                await surface.post(posting(log.say("x", channel.name)))

    asyncio.run(main())
    assert all(len(server.posts(name)) == 1 for name in ALL)


def test_a_renamed_channel_is_known_again_and_not_made_twice(tmp_path, server):
    file = config(tmp_path, server)
    done("slack", "setup", "--config", file)
    server.channel("a-arena").name = "the-arena"
    said = done("slack", "setup", "--config", file)
    assert "renamed to #the-arena" in said
    assert said.endswith("nothing to do\n")


def test_a_private_channel_that_the_app_was_invited_to_serves_like_a_public_one(tmp_path, server):
    server.set_scopes(*NEEDED)
    server.subscriptions.intersection_update(EVENTS)
    server.add_channel("admin", is_private=True)
    steps = data("slack", "setup", "--config", config(tmp_path, server))["steps"]
    assert [step["state"] for step in steps if step["name"] == "#admin"] == ["ok"]
    assert server.channel("admin").topic == ""
    society, log, memory = Society(), SmallLog(), SurfaceMemory()

    async def main():
        async with living(server, society, memory) as surface:
            await until(lambda: surface.is_caught_up)
            await surface.post(posting(log.say("told in private", "#admin")))
            said = [server.person_writes("ana", "admin", "heard")]
            await until(lambda: server.replies(said[0]))
        said.append(server.person_writes("ana", "admin", "missed"))
        async with living(server, society, memory):
            await until(lambda: all(map(server.replies, said)))

    asyncio.run(main())
    assert len(server.posts("admin")) == 1
    assert [(act.channel, act.fields["text"]) for act in society.acts] == [
        ("#admin", "heard"), ("#admin", "missed")
    ]  # fmt: skip


def test_a_private_channel_without_the_app_is_said_with_what_to_do_and_found_once_it_is_invited(
    tmp_path, server
):
    file = config(tmp_path, server)
    server.add_channel("admin", is_private=True, is_member=False)
    code, said = outcome("slack", "setup", "--config", file)
    assert code == 1
    assert "a private channel has this name: write /invite @moot there" in " ".join(said.split())
    server.channel("admin").members.add(server.bot_user)
    assert done("slack", "setup", "--config", file).endswith("nothing to do\n")


@pytest.mark.parametrize(
    ("spoil", "name", "says"),
    [
        (lambda s: s.spoil_token("invalid_auth"), "token", "Slack refuses the bot token (invalid_auth)"),
        (lambda s: s.drop_scope("commands"), "scopes", "add commands under OAuth & Permissions"),
        (lambda s: s.spoil_token("invalid_auth", s.app_token), "socket mode", "Slack refuses the app token"),
        (lambda s: s.set_scopes(token=s.app_token), "socket mode", "connections:write"),
    ],
)
def test_what_only_a_person_can_do_is_said_with_where_to_click(tmp_path, server, spoil, name, says):
    spoil(server)
    code, said = outcome("slack", "setup", "--config", config(tmp_path, server))
    assert code == 1
    (line,) = [line for line in said.splitlines() if line.startswith(f"✗ {name}")]
    assert says in line
    assert "https://api.slack.com/apps" in line
    assert not any(secret in said for secret in (server.bot_token, server.app_token))


@pytest.mark.parametrize(
    ("code", "says"),
    [("name_taken", "a private channel has this name"), ("restricted_action", "make #a-arena by hand")],
)
def test_a_channel_that_cannot_be_made_says_what_to_do_and_the_others_are_made(tmp_path, server, code, says):
    server.faults.add("conversations.create", 1, "error", code=code)
    result = moot("slack", "setup", "--config", config(tmp_path, server))
    assert result.exit_code == 1
    assert says in result.output
    assert "1 thing missing" in result.output
    assert server.channel("lab").topic


def test_a_pause_that_slack_wants_is_kept(tmp_path, server):
    server.faults.add("conversations.create", 1, "ratelimited", retry_after_s=0)
    server.faults.add("conversations.list", 1, "ratelimited", retry_after_s=0)
    assert "set up; run: moot up" in done("slack", "setup", "--config", config(tmp_path, server))


def test_a_slack_that_is_down_and_a_wrong_configuration_are_one_line(tmp_path, server):
    file = config(tmp_path, server)
    server.stop()
    assert "Slack cannot be reached" in complaint(1, "slack", "setup", "--config", file)
    assert "mode is socket or http" in complaint(
        2, "slack", "setup", "--config", config(tmp_path, server, 'mode = "pigeon"\n')
    )
    assert "has no option colour" in complaint(
        2, "slack", "setup", "--config", config(tmp_path, server, "colour = 1\n")
    )
    other = write(tmp_path / "other.toml", '[surfaces.slack]\nmodule = "a.b:C"\n')
    assert "knows nothing of" in complaint(2, "slack", "setup", "--config", other)


def test_without_a_token_it_says_where_one_belongs(tmp_path, server, monkeypatch):
    monkeypatch.delenv("MOOT_SLACK_BOT_TOKEN")
    code, said = outcome("slack", "setup", "--config", config(tmp_path, server))
    assert code == 1
    assert "set MOOT_SLACK_BOT_TOKEN, or name a file in bot_token_file" in said


def test_http_mode_wants_the_signing_secret_and_no_app_token(tmp_path, server, monkeypatch):
    monkeypatch.delenv("MOOT_SLACK_APP_TOKEN")
    file = config(tmp_path, server, 'mode = "http"\n')
    assert "Slack delivers to 127.0.0.1:3000/slack/events" in done("slack", "setup", "--config", file)
    monkeypatch.delenv("MOOT_SLACK_SIGNING_SECRET")
    assert "MOOT_SLACK_SIGNING_SECRET" in outcome("slack", "setup", "--config", file)[1]


def test_the_manifest_asks_for_every_scope_event_and_the_command_in_socket_mode():
    found = data("slack", "manifest")
    assert found["oauth_config"]["scopes"]["bot"] == [scope.name for scope in BOT_SCOPES]
    settings = found["settings"]
    assert settings["event_subscriptions"] == {"bot_events": list(EVENTS)}
    assert settings["interactivity"] == {"is_enabled": True}
    assert settings["socket_mode_enabled"] is True
    assert [command["command"] for command in found["features"]["slash_commands"]] == ["/moot"]
    assert len(found["display_information"]["description"]) <= 140


def test_the_manifest_in_http_mode_names_the_public_address_everywhere():
    found = data("slack", "manifest", "--mode", "http", "--url", "https://moot.example.org/")
    urls = {
        found["settings"]["event_subscriptions"]["request_url"],
        found["settings"]["interactivity"]["request_url"],
        found["features"]["slash_commands"][0]["url"],
    }
    assert urls == {"https://moot.example.org/slack/events"}
    assert found["settings"]["socket_mode_enabled"] is False
    assert "--url with your public address" in complaint(2, "slack", "manifest", "--mode", "http")
    assert "--mode is socket or http" in complaint(2, "slack", "manifest", "--mode", "pigeon")


def test_the_manifest_in_yaml_says_the_same_and_gives_a_reason_for_each_scope():
    said = done("slack", "manifest", "--name", 'A "quoted" name: #1')
    found = yaml.safe_load(said)
    assert found == data("slack", "manifest", "--name", 'A "quoted" name: #1')
    for scope in BOT_SCOPES:
        assert f'"{scope.name}"  # {scope.why}' in said


def test_the_doctor_is_told_in_a_few_lines(tmp_path, server):
    async def look():
        return await SlackSurface(api=server.api).check()

    before = {check.name: check for check in asyncio.run(look())}
    assert [name for name, check in before.items() if not check.is_ok] == ["channels"]
    assert before["channels"].to_do == "run: moot slack setup"
    done("slack", "setup", "--config", config(tmp_path, server))
    after = asyncio.run(look())
    assert [(check.name, check.is_ok, check.to_do) for check in after] == [
        ("token", True, ""), ("scopes", True, ""), ("socket mode", True, ""), ("channels", True, "")
    ]  # fmt: skip
    server.stop()
    with pytest.raises(SurfaceDown):
        asyncio.run(look())


def test_scopes_that_slack_does_not_name_are_unknown_and_not_all_granted(tmp_path, server):
    server.desk.says_scopes = False
    steps = data("slack", "setup", "--config", config(tmp_path, server))["steps"]
    assert [(step["state"], step["found"]) for step in steps if step["name"] == "scopes"] == [
        ("ok", "unknown: Slack does not say which are granted")
    ]

    async def main():
        async with living(server) as surface:
            await surface.post(posting(SmallLog().say("works all the same")))

    asyncio.run(main())


def test_nothing_is_posted_by_setup(tmp_path, server):
    done("slack", "setup", "--config", config(tmp_path, server))
    assert not [call for call in server.calls if call.method.startswith("chat.")]
    assert urlsplit(server.api).hostname == "127.0.0.1"
    assert json.loads(json.dumps(changes(server)))


def test_a_refused_token_is_said_with_one_pointer_and_stands_after_our_redactor(server):
    server.spoil_token("invalid_auth", server.bot_token)
    (step,) = asyncio.run(set_up(SlackOptions(api=server.api), may_change=False))
    assert f"{step.found} {step.to_do}".count("https://api.slack.com/apps") == 1
    for line in (step.found, step.to_do):
        assert redact(line) == line
