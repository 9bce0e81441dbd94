"""HTTP mode: signed deliveries to our own server, and what is refused."""

import asyncio
import json

import pytest
from structlog.testing import capture_logs

from moot.channels.slack.options import PATH
from tests.doubles.live_slack import Society, living, slack_server
from tests.doubles.waiting import until


@pytest.fixture
def server(monkeypatch):
    with slack_server(monkeypatch) as running:
        yield running


def on(server, use, society=None, **options):
    async def main():
        async with living(server, society, mode="http", port=0, **options) as surface:
            url = f"http://127.0.0.1:{surface.port}{PATH}"
            try:
                return await use(surface, url)
            finally:
                server.use_http(None)

    return asyncio.run(main())


def test_messages_commands_and_buttons_come_in_signed(server):
    society = Society()

    async def use(_surface, url):
        server.use_http(url)
        said = server.person_writes("ana", "a-arena", "by http")
        asked = server.person_commands("ana", "admin", "/moot", "status")
        await until(lambda: server.replies(said) and server.replies(asked))
        assert server.acked_in_time(said)
        assert server.acked_in_time(asked)

    on(server, use, society)
    assert sorted(map(str, society.texts)) == ["/status", "by http"]


def test_slack_verifies_the_address(server):
    async def use(_surface, url):
        return await asyncio.wrap_future(server.verify_url(url, "a-challenge"))

    answer = on(server, use)
    assert (answer.status, json.loads(answer.body)) == (200, {"challenge": "a-challenge"})


def event(text="hello"):
    return {
        "type": "event_callback", "event_id": "Ev1",
        "event": {"type": "message", "channel": "C000001", "user": "U0ANA", "ts": "1700000000.000100", "text": text},
    }  # fmt: skip


@pytest.mark.parametrize(("skew_s", "side"), [(-600, "behind"), (600, "ahead of")])
def test_a_request_signed_ten_minutes_off_is_refused_and_the_clock_is_named(server, skew_s, side):
    society = Society()

    async def use(_surface, url):
        return await asyncio.wrap_future(server.post_event(url, event("secret words"), skew_s=skew_s))

    with capture_logs() as lines:
        answer = on(server, use, society)
    assert answer.status == 401
    assert not society.acts
    (line,) = [line for line in lines if line["event"] == "slack request refused"]
    assert f"s {side} this machine's clock; check this machine's clock" in line["why"]
    assert abs(int(line["why"].split()[3]) - 600) <= 60
    assert "secret words" not in str(lines)


@pytest.mark.parametrize("skew_s", [-240, 240])
def test_a_request_within_the_window_is_taken(server, skew_s):
    society = Society()

    async def use(_surface, url):
        answer = await asyncio.wrap_future(server.post_event(url, event(), skew_s=skew_s))
        await until(lambda: society.acts)
        return answer

    assert on(server, use, society).status == 200
    assert len(society.acts) == 1


@pytest.mark.parametrize(
    "how",
    [
        {"secret": "6" * 32},
        {"secret": "6" * 32, "skew_s": -600},
        {"headers": {"X-Slack-Signature": "v0=é"}},
        {"headers": {"X-Slack-Signature": ""}},
        {"headers": {"X-Slack-Request-Timestamp": "yesterday"}},
        {"headers": {"X-Slack-Request-Timestamp": ""}},
    ],
)
def test_a_request_that_slack_did_not_sign_is_refused(server, how):
    society = Society()

    async def use(_surface, url):
        return await asyncio.wrap_future(server.post_event(url, event(), **how))

    with capture_logs() as lines:
        answer = on(server, use, society)
    assert answer.status == 401
    assert not society.acts
    assert "clock" not in str(lines)
    assert server.signing_secret not in str(lines)


def test_a_flood_of_what_slack_did_not_sign_is_one_line(server):
    async def use(_surface, url):
        for n in range(30):
            how = {"secret": "6" * 32} if n % 2 else {"headers": {"X-Slack-Signature": ""}}
            answer = await asyncio.wrap_future(server.post_event(url, event(), **how))
            assert answer.status == 401

    with capture_logs() as lines:
        on(server, use)
    assert len([line for line in lines if line["event"] == "slack request refused"]) == 1


def test_a_large_request_that_was_not_signed_just_now_is_refused_unread(server):
    async def use(_surface, url):
        return await asyncio.wrap_future(server.post_event(url, b"x" * 2_000_000, skew_s=-600))

    with capture_logs() as lines:
        answer = on(server, use)
    assert answer.status == 401
    assert "too large to look at" in str(lines)


GARBAGE = [
    b"",
    b"no json",
    b"[1, 2]",
    b'{"event": 5}',
    b'{"event": {"type": "message"}}',
    b"\xff\xfe\x00",
    b"x" * 2_000_000,
]


@pytest.mark.parametrize("body", GARBAGE)
def test_garbage_that_is_signed_is_answered_and_what_follows_is_heard(server, body):
    society = Society()

    async def use(_surface, url):
        answer = await asyncio.wrap_future(server.post_event(url, body))
        after = await asyncio.wrap_future(server.post_event(url, event("after")))
        await until(lambda: society.acts)
        return answer.status, after.status

    with capture_logs() as lines:
        status, after = on(server, use, society)
    assert status in (200, 400, 401, 413)
    assert after == 200
    assert society.texts == ["after"]
    assert "Traceback" not in str(lines)


def test_a_retry_by_http_gives_one_act(server):
    society = Society()

    async def use(_surface, url):
        for n in range(3):
            headers = {"X-Slack-Retry-Num": str(n), "X-Slack-Retry-Reason": "http_timeout"}
            answer = await asyncio.wrap_future(server.post_event(url, event(), headers=headers))
            assert answer.status == 200
        await asyncio.wrap_future(server.post_event(url, {**event("after"), "event_id": "Ev2"}))
        await until(lambda: society.acts)

    on(server, use, society)
    assert society.texts == ["hello"]


def test_a_port_that_is_taken_is_told(server):
    async def use(surface, _url):
        from moot.channels.slack import SlackSurface
        from moot.channels.surface import SurfaceDown
        from tests.doubles.surface_memory import SurfaceMemory

        second = SlackSurface(api=server.api, mode="http", port=surface.port)
        with pytest.raises(SurfaceDown, match="choose another host or port"):
            await second.start(Society(), SurfaceMemory())
        await second.close()

    on(server, use)
