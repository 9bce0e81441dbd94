"""The API for programs: the log, cases, duties and escalations as JSON, and acts; described by OpenAPI."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, FastAPI, Header, HTTPException, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as StarletteHTTPException

from moot.channels.filling import choices_of, is_needed
from moot.channels.surface import ActReply
from moot.console.errors import ConsoleError, NotReady, NotThere
from moot.console.hub import Hub
from moot.console.model.calls import Why
from moot.console.model.interface import MOST_WINDOW, Person, ReadModel, SocietyTime, Window
from moot.console.model.looking import MOST_SEQ, as_plain
from moot.console.reading.calls import Kind
from moot.console.reading.health import LogHealth
from moot.console.serving.metrics import CONTENT_TYPE, Metrics
from moot.console.serving.stream import events
from moot.protocols.kernel.acts import LINE
from moot.protocols.kernel.acts import Act as DeclaredAct
from moot.protocols.kernel.faults import why
from moot.protocols.kernel.times import rfc3339
from moot.protocols.rulebook import rulebook
from moot.version import MOOT_VERSION

TITLE: Final = "Moot"
Seq = Annotated[int, Query(ge=0, le=MOST_SEQ)]
Limit = Annotated[int, Query(ge=1, le=MOST_WINDOW)]
Word = Annotated[str | None, Query(max_length=200)]


TOKEN: Final = Security(
    HTTPBearer(
        scheme_name="token",
        description="The token in the printed address, as DIR/console-token holds it: Authorization: Bearer TOKEN.",
        auto_error=False,
    )
)
"""Describes who may ask; the guard has found out before."""


class Act(BaseModel):
    """Something a person does.

    `kind` is the name of an act, or `command` with a line such as `/note mind the drawdown` in `fields.text`.
    `fields` takes the names that `moot act` prints, such as `id` and `option_or_text`, or those of the act's message,
    such as `escalation_id` and `option`; an answer names what is missing or unknown.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Annotated[str, Field(max_length=60)]
    key: Annotated[str, Field(min_length=1, max_length=150)]
    channel: Annotated[str, Field(max_length=60)] = "#admin"
    fields: dict[str, Any] = {}
    reply_to: Annotated[int | None, Field(ge=1, le=MOST_SEQ)] = None


class Answer(BaseModel):
    """What a person in a seat answers."""

    model_config = ConfigDict(extra="forbid")

    obligation_id: Annotated[str, Field(max_length=400)]
    body: dict[str, Any]


class Pace(BaseModel):
    """How time is to go on."""

    model_config = ConfigDict(extra="forbid")

    op: Literal["pause", "resume", "step", "speed"]
    value: Annotated[float | None, Field(gt=0, le=1_000_000)] = None


def add_api(app: FastAPI, model: ReadModel, hub: Hub, metrics: Metrics, health: LogHealth) -> None:
    """Put the API on an application whose guard has found out who asks."""
    router = APIRouter(prefix="/api", tags=["society"], dependencies=[TOKEN])

    def mine(request: Request) -> ReadModel:
        return model.seen_by(person_of(request))

    @app.get(
        "/healthz",
        tags=["operation"],
        summary="Whether the console lives and the log is whole; open to everybody",
        responses={503: {"description": "The log is damaged or cannot be read; `reason` says where"}},
    )
    async def healthz() -> Response:
        if reason := health.problem or model.progress().problem:
            told = {"status": "damaged", "reason": reason, "version": MOOT_VERSION}
            return JSONResponse(told, HTTPStatus.SERVICE_UNAVAILABLE)
        return JSONResponse({"status": "ok", "version": MOOT_VERSION})

    @app.get(
        "/metrics",
        tags=["operation"],
        summary="Figures for Prometheus",
        response_class=PlainTextResponse,
        dependencies=[TOKEN],
    )
    async def figures(request: Request) -> Response:
        person_of(request)
        return Response(await metrics.text(hub.readers), media_type=CONTENT_TYPE)

    @router.get("/log", summary="Messages from a seq on; those before it with `before`")
    async def log(
        request: Request,
        from_: Annotated[int | None, Query(alias="from", ge=0, le=MOST_SEQ)] = None,
        before: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None,
        limit: Limit = 100,
        channel: Word = None,
        case: Word = None,
    ) -> Response:
        after = None if from_ is None else max(0, from_ - 1)
        window = await mine(request).window(
            channel=channel, case_id=case, before=before, after=after, limit=limit
        )
        return _json(window_json(window))

    @router.get("/search", summary="The newest messages that have these words and are of this kind")
    async def search(
        request: Request,
        text: Annotated[str, Query(max_length=1_000)] = "",
        type: Word = None,
        seat: Word = None,
        case: Word = None,
        channel: Word = None,
        before: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None,
        limit: Limit = 100,
    ) -> Response:
        found = await mine(request).search(
            text, type=type, seat=seat, case_id=case, channel=channel, before=before, limit=limit
        )
        return _json(window_json(found))

    @router.get("/messages/{seq}", summary="One message")
    async def message(request: Request, seq: int) -> Response:
        return Response((await mine(request).message(seq)).line, media_type="application/json")

    @router.get("/channels", summary="The channels, with what was said last")
    async def channels(request: Request) -> Response:
        return _json([asdict(view) for view in await mine(request).channels()])

    @router.get("/cases/{case_id:path}", summary="A case: its path, transcript, obligations, who was late")
    async def case_of(request: Request, case_id: str) -> Response:
        view = await mine(request).case(case_id)
        plain = as_plain(view)
        plain["transcript"] = [json.loads(env.line) for env in view.transcript]
        plain["progress"] = _progress(view)
        return _json(plain)

    @router.get("/obligations", summary="Who owes what, and for how long")
    async def obligations(request: Request) -> Response:
        seen = mine(request)
        now = seen.now()
        return _json(
            [
                {
                    **asdict(view),
                    "remaining_s": round(view.remaining(now.at).total_seconds()),
                    "is_late": view.is_late(now.at),
                }
                for view in await seen.obligations()
            ]
        )

    @router.get("/escalations", summary="What asks for an admin, and how it ended")
    async def escalations(request: Request, limit: Limit = 100) -> Response:
        return _json([asdict(view) for view in await mine(request).escalations(limit=limit)])

    @router.get("/calls", summary="Calls of models, newest first; for who reads #calls")
    async def calls(
        request: Request,
        seat: Word = None,
        case: Word = None,
        model: Word = None,
        state: Word = None,
        before: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None,
        limit: Limit = 100,
    ) -> Response:
        kind = Kind(seat or "", case or "", model or "", state or "")
        page = await mine(request).calls.page(kind, before=before, limit=limit)
        return _json({"calls": [row._asdict() for row in page.rows], "before": page.before})

    @router.get("/calls/sums", summary="Ended calls, added up by seat, case or model; for who reads #calls")
    async def sums(request: Request, by: Literal["seat", "case", "model"] = "seat") -> Response:
        return _json([one._asdict() for one in await mine(request).calls.sums(Kind(), by)])

    @router.get("/budgets", summary="What is booked and left of every budget; for who reads #calls")
    async def budgets(request: Request) -> Response:
        return _json([{**asdict(one), "left": one.left} for one in mine(request).calls.gauges()])

    @router.get("/calls/{call_id:path}", summary="A call, among those for the same answer, word for word")
    async def call(request: Request, call_id: str) -> Response:
        return _json(why_json(await mine(request).calls.call(call_id)))

    @router.get("/messages/{seq}/why", summary="Who wrote a message, and the calls of models for it")
    async def why_so(request: Request, seq: int) -> Response:
        return _json(why_json(await mine(request).calls.why(seq)))

    @router.get(
        "/standing", summary="How the society stands: clock, halt, seats, desk, and how far it is read"
    )
    async def standing(request: Request) -> Response:
        seen = mine(request)
        plain: dict[str, Any] = {"head": seen.head, "time": time_json(seen.now())}
        plain["progress"] = {**asdict(seen.progress()), "index": asdict(seen.index_progress())}
        try:
            plain["society"] = asdict(await seen.standing())
        except NotReady:
            plain["society"] = None
        return _json(plain)

    @router.get(
        "/stream",
        summary="Messages as server-sent events, from Last-Event-ID or `from` on, else from now",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {}}}},
    )
    async def stream(
        request: Request,
        from_: Annotated[int | None, Query(alias="from", ge=0, le=MOST_SEQ)] = None,
        last_event_id: Annotated[str | None, Header(max_length=20)] = None,
    ) -> StreamingResponse:
        seen = mine(request)
        cursor = max(0, from_ - 1) if from_ is not None else seen.head
        if last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit():
            cursor = min(int(last_event_id), MOST_SEQ)
        return StreamingResponse(
            _sent(events(seen, cursor)),
            media_type="text/event-stream",
            headers={"x-accel-buffering": "no"},
        )

    @router.post(
        "/acts",
        summary="Do something as yourself; repeating it with its key does it once",
        description=_acts_text(),
        openapi_extra={"requestBody": {"content": {"application/json": {"examples": _act_examples()}}}},
    )
    async def act(request: Request, said: Act) -> Response:
        person = person_of(request)
        reply = await model.act(
            person, said.kind, said.fields, key=said.key, channel=said.channel, reply_to=said.reply_to
        )
        return _reply(reply)

    @router.post("/answers", summary="Answer what the seat owes that you sit in")
    async def answer(request: Request, said: Answer) -> Response:
        return _reply(await model.answer(person_of(request), said.obligation_id, said.body))

    @router.post("/clock", summary="Pause, resume, step, or set the speed")
    async def clock(request: Request, said: Pace) -> Response:
        return _reply(await model.control(person_of(request), said.op, said.value))

    @router.get("/{rest:path}", include_in_schema=False)
    async def nothing(rest: str) -> Response:
        return JSONResponse(
            {"why": f"there is no /api/{rest[:200]}: /api/openapi.json lists what there is"}, 404
        )

    app.include_router(router)
    app.add_exception_handler(ConsoleError, _unable)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(StarletteHTTPException, _failed)


def _acts_text() -> str:
    """Return the acts with the names of their fields, for OpenAPI."""
    lines = [f"* `{act.name}`: {act.does}. Fields: {_fields_text(act)}." for act in rulebook().acts.values()]
    more = f"* `{LINE}`: a line of chat. Fields: `text`."
    return "\n".join(
        (
            "`fields` takes the names that `moot act` prints, or those of the act's message. The acts:",
            "",
            *lines,
            more,
        )
    )


def _fields_text(act: DeclaredAct) -> str:
    """Return what an act takes: each field with its other names, and whether it may be left out."""
    texts = []
    for blank in act.asks:
        name, *others = blank.names
        notes = [f"or {' or '.join(f'`{other}`' for other in others)}"] if others else []
        notes += [] if is_needed(act, blank) else ["optional"]
        texts.append(f"`{name}`" + (f" ({'; '.join(notes)})" if notes else ""))
    return ", ".join(texts) or "none"


def _act_examples() -> dict[str, Any]:
    """Return an example of every act, for OpenAPI."""
    return {
        act.name: {
            "summary": act.does,
            "value": {
                "kind": act.name,
                "key": "chosen-once-per-act",
                "fields": {
                    blank.name: choices_of(blank)[0] if choices_of(blank) else blank.help
                    for blank in act.asks
                },
            },
        }
        for act in rulebook().acts.values()
    }


def person_of(request: Request) -> Person:
    """Return who sent a request, as the guard found out.

    Raises:
        HTTPException: The guard did not: a route was served around it.
    """
    person = request.scope.get("state", {}).get("person")
    if not isinstance(person, Person):
        raise HTTPException(401, "nobody is known to have sent this")
    return person


def window_json(window: Window) -> dict[str, Any]:
    """Return a window as plain data, its messages as envelopes."""
    return {
        "messages": [json.loads(env.line) for env in window.envelopes],
        "damaged": [asdict(one) for one in window.damaged],
        "flaws": window.flaws,
        "before": window.before,
        "after": window.after,
    }


def why_json(why: Why) -> dict[str, Any]:
    """Return who wrote a message as plain data: each call with its request and the record of its reply."""
    return {
        "by": why.by,
        "obligation": why.obligation,
        "attempt": why.attempt,
        "calls": [{**call.to_dict(), **asdict(said)} for call, said in why.calls],
    }


def time_json(now: SocietyTime) -> dict[str, Any]:
    """Return the society's time as plain data."""
    return {**asdict(now), "pace": now.pace}


def _progress(view: Any) -> dict[str, Any]:
    return {**asdict(view.progress), "is_complete": view.progress.is_complete}


async def _sent(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        if chunk:
            yield chunk


def _json(value: Any, status: int = 200) -> Response:
    text = json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), status, media_type="application/json")


def _plain(value: Any) -> Any:
    if hasattr(value, "astimezone"):
        return rfc3339(value)
    if isinstance(value, frozenset | set | tuple):
        return list(value)
    return str(value)


def _reply(reply: ActReply) -> Response:
    return _json({"ok": reply.ok, "text": reply.text, "seq": reply.seq}, 200 if reply.ok else 409)


async def _unable(_request: Request, exc: Exception) -> Response:
    status = 404 if isinstance(exc, NotThere) else 503
    return JSONResponse({"why": str(exc)}, status, {"retry-after": "1"} if status == 503 else None)


async def _malformed(_request: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    first = exc.errors()[0]
    # What stands behind "body" is a field, or the character at which it ceases to be JSON.
    path = [str(part) for part in first["loc"] if isinstance(part, str)]
    where = ".".join(path[1:] if path[:1] == ["body"] and path[1:] else path)
    return JSONResponse({"why": f"{where}: {why(first)}"}, 422)


async def _failed(_request: Request, exc: Exception) -> Response:
    assert isinstance(exc, StarletteHTTPException)
    return JSONResponse({"why": str(exc.detail)}, exc.status_code, exc.headers)
