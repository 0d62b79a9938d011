"""HTTP: all operations as JSON."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest
from starlette.routing import Route

from engram import Engram
from engram import operation as registry
from engram.hub import Hub
from engram.operation import Help, Operation, list_operations
from engram.surfaces import signature
from engram.surfaces.http.application import build_application, list_offered
from tests.surfaces.http.calling import JSON, Caller, with_client


@pytest.fixture
def hub(store: str, tmp_path: Path) -> Iterator[Engram]:
    with Engram(store=store, home=str(tmp_path / "home"), serving=True) as opened:
        yield opened


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Engram]:
    with Engram(tmp_path / "home", serving=True) as opened:
        yield opened


def echo(
    hub: Hub,
    count: Annotated[int, Help("a whole number")],
    share: Annotated[float, Help("a number")] = 0.5,
    loud: Annotated[bool, Help("a switch")] = False,
    words: Annotated[list[str] | None, Help("several")] = None,
) -> list[Any]:
    """Return the parsed arguments."""
    if loud and words == ["fail"]:
        raise RuntimeError("the secret of the machine room")
    return [count, share, loud, words]


@pytest.fixture
def echoing(local: Engram, monkeypatch: pytest.MonkeyPatch) -> Caller:
    known = registry._registry
    monkeypatch.setitem(known, "echo", Operation(name="echo", call=echo, writes=False, agent=True))
    monkeypatch.setitem(known, "hidden", Operation(name="hidden", call=echo, writes=False, agent=False))
    return Caller(local)


def test_a_day_of_two_agents_in_any_language(hub: Engram, repository: Path) -> None:
    call = Caller(hub)
    first = call.post("register", session_type="elixir", summary="the parser", cwd=str(repository)).json()
    second = call.post("register", session_type="ruby", summary="the tests", cwd=str(repository)).json()
    lock = call.post("lock_resource", session_id=first, resource="src/app.py", note="renaming")
    assert (lock.status_code, lock.headers["Engram-Unread"]) == (200, "0")

    refusal = call.post("lock_resource", session_id=second, resource="src/app.py")
    facts = refusal.json()
    assert refusal.status_code == 409
    assert (facts["error"], facts["holder"], facts["note"]) == ("held", first, "renaming")
    assert (facts["token"], facts["locks"][0]["session_id"]) == (lock.json()["token"], first)
    assert facts["until"].endswith("Z")
    assert first in facts["message"]

    sent = call.post("send", sender=second, to=first, body="may I?")
    assert (sent.json(), sent.headers["Engram-Unread"]) == ({"recipients": [first], "waiting": False}, "0")
    assert call.post("heartbeat", session_id=first).headers["Engram-Unread"] == "1"
    assert [message["body"] for message in call.post("inbox", session_id=first).json()] == ["may I?"]
    assert call.post("log", session_id=first, entry="done").headers["Engram-Unread"] == "0"

    state = call.post("set_world_state", content="All is well.", updated_by=first)
    assert (state.json()["version"], state.headers["Engram-Unread"]) == (1, "0")
    report = call.get(f"/api/get_situation_report?session_id={second}").json()
    assert "All is well." in report
    assert "src/app.py" in report
    assert call.post("complete", session_id=first, completion_summary="renamed").json()["presence"] == "done"
    assert call.post("lock_resource", session_id=second, resource="src/app.py").status_code == 200


def test_a_refused_call_also_reports_unread_messages(hub: Engram) -> None:
    call = Caller(hub)
    one, two = hub.register("one", "x", project="p"), hub.register("two", "y", project="p")
    hub.lock_resource(one, "db:schema")
    hub.send(one, two, "it takes an hour")
    refusal = call.post("lock_resource", session_id=two, resource="db:schema")
    assert (refusal.status_code, refusal.headers["Engram-Unread"]) == (409, "1")


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("stats", {}),
        ("get_session", {"session_id": "nobody"}),
        ("set_world_state", {"content": "x", "updated_by": "a person"}),
        ("send", {"sender": None, "to": "all", "project": "p", "body": "from a person"}),
    ],
)
def test_a_call_that_names_no_session_carries_no_count(hub: Engram, operation: str, arguments: dict[str, Any]) -> None:
    assert "Engram-Unread" not in Caller(hub).post(operation, **arguments).headers


def test_every_operation_for_agents_is_offered_and_nothing_else(local: Engram) -> None:
    routes = {route.path: route for route in build_application(local).routes if isinstance(route, Route)}
    assert set(routes) == {
        "/api",
        "/mcp",
        "/api/sitrep",
        *(f"/api/{operation.name}" for operation in list_operations() if operation.agent),
    }
    for tool in list_offered():
        assert routes[f"/api/{tool.name}"].methods == ({"POST"} if tool.writes else {"GET", "HEAD", "POST"})


def test_the_list_describes_every_parameter_of_every_operation(local: Engram) -> None:
    listed = Caller(local).get("/api").json()["operations"]
    assert [each["name"] for each in listed] == [tool.name for tool in list_offered()]
    for described, each in zip(listed, list_offered(), strict=True):
        assert described["summary"]
        assert described["writes"] is each.writes
        asked = signature.list_parameters(each)
        assert [(p["name"], p["required"], p["default"]) for p in described["parameters"]] == [
            (p.name, p.required, p.default) for p in asked
        ]
        for parameter in described["parameters"]:
            assert parameter["help"]
            assert parameter["type"] in ("string", "integer", "number", "boolean", "array", "object", "any")


def test_an_operation_kept_from_agents_does_not_exist_here(echoing: Caller) -> None:
    assert "hidden" not in [operation["name"] for operation in echoing.get("/api").json()["operations"]]
    hidden = [operation.name for operation in list_operations() if not operation.agent]
    assert hidden
    for name in hidden:
        for method in ("GET", "POST"):
            assert echoing.send(method, f"/api/{name}", json={"count": 1}).status_code == 404


@pytest.mark.parametrize(
    ("query", "understood"),
    [
        ("count=3", [3, 0.5, False, None]),
        ("count=-3&share=2&loud=true", [-3, 2.0, True, None]),
        ("count=3&share=2.5e0&loud=false&words=a&words=b%20c", [3, 2.5, False, ["a", "b c"]]),
        ("count=3&words=12", [3, 0.5, False, ["12"]]),
    ],
)
def test_a_query_is_read_by_the_signature(echoing: Caller, query: str, understood: list[Any]) -> None:
    answer = echoing.get(f"/api/echo?{query}")
    assert (answer.status_code, answer.json()) == (200, understood)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "count"),
        ("count=", "count"),
        ("count=three", "count"),
        ("count=1_000", "count"),
        ("count=٣", "count"),
        ("count=1.5", "count"),
        ("count=true", "count"),
        ("count=[1]", "count"),
        ("count=1&count=2", "count"),
        ("count=9223372036854775808", "count"),
        ("count=" + "9" * 5000, "count"),
        ("count=1&share=nan", "share"),
        ("count=1&share=NaN", "share"),
        ("count=1&share=1e999", "share"),
        ("count=1&loud=yes", "loud"),
        ("count=1&loud=1", "loud"),
        ("count=1&more=1", "more"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_by_name(echoing: Caller, query: str, field: str) -> None:
    answer = echoing.get(f"/api/echo?{query}")
    assert (answer.status_code, answer.json()["error"], answer.json()["field"]) == (400, "invalid_input", field)


def test_null_means_not_given(echoing: Caller) -> None:
    assert echoing.post("echo", count=1, share=None, loud=None, words=None).json() == [1, 0.5, False, None]


def test_an_internal_error_goes_to_the_log_and_not_to_the_caller(
    echoing: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "engram.serve"):
        answer = echoing.post("echo", count=1, loud=True, words=["fail"])
    assert (answer.status_code, answer.json()["error"]) == (500, "internal")
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert "the secret of the machine room" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "status", "error"),
    [
        ("POST", "/api/nonsense", 404, "not_found"),
        ("GET", "/", 404, "not_found"),
        ("GET", "/api/", 404, "not_found"),
        ("GET", "/api/stats/", 404, "not_found"),
        ("GET", "/api/../api/stats/x", 404, "not_found"),
        ("GET", "/api/register", 405, "method_not_allowed"),
        ("HEAD", "/api/register", 405, None),
        ("DELETE", "/api/stats", 405, "method_not_allowed"),
        ("POST", "/api", 405, "method_not_allowed"),
    ],
)
def test_a_wrong_way_is_named(local: Engram, method: str, path: str, status: int, error: str | None) -> None:
    answer = Caller(local).send(method, path)
    assert answer.status_code == status
    assert error is None or answer.json()["error"] == error
    assert (status == 405) == ("Allow" in answer.headers)


@pytest.mark.parametrize("operation", ["lock_resource", "lock_resources"])
def test_a_call_waits_a_minute_at_most(local: Engram, operation: str) -> None:
    what: dict[str, Any] = {"resource": "x"} if operation == "lock_resource" else {"resources": ["x"]}
    answer = Caller(local).post(operation, session_id="x", wait=60.5, **what)
    assert (answer.status_code, answer.json()["field"]) == (400, "wait")
    assert "60 seconds" in answer.json()["message"]


def test_waiting_calls_do_not_block_a_release(hub: Engram) -> None:
    holder, waiter = hub.register("one", "x", project="p"), hub.register("two", "y", project="p")
    hub.lock_resource(holder, "db:schema")
    wish = {"session_id": waiter, "resource": "db:schema", "wait": 30}

    async def act(client: httpx.AsyncClient) -> list[int]:
        calls = [asyncio.create_task(client.post("/api/lock_resource", json=wish)) for _ in range(60)]
        while not (await client.get("/api/list_locks")).json()[0]["waiters"]:
            pass
        let_go = await client.post("/api/release_resource", json={"session_id": holder, "resource": "db:schema"})
        return [let_go.status_code, *(answer.status_code for answer in await asyncio.gather(*calls))]

    assert set(with_client(build_application(hub), act)) == {200}


STRANGE: list[Any] = [
    None, True, 0, -1, 2**62, 2**63, 10**39, 1.5, -0.0, 1e308, "", " ", "\0", "a\0b", "x" * 5000, "é\u2028\x1b[31m",
    "../../..", "/", "*", "[", "a/../*", "~nobody/x", "%s %(x)s {0}", "'; drop table sessions; --", [], {}, [1], [None],
    ["\0"], {"a": 1}, "all", "\n", "😀",
]  # fmt: skip


def test_no_argument_breaks_an_operation(hub: Engram, thorough: bool) -> None:
    # Each odd value for each parameter, on one engine in turn; --thorough uses both.
    turns = itertools.cycle([True] if thorough else [hub.engine.dialect == "sqlite", hub.engine.dialect != "sqlite"])
    session = hub.register("one", "x", project="p")
    sound = {"session_id": session, "sender": session, "to": session, "resources": ["a"], "since": 1}

    async def act(client: httpx.AsyncClient) -> list[Any]:
        broken = []
        for tool in list_offered():
            asked = signature.list_parameters(tool)
            least = {p.name: sound.get(p.name, "x") for p in asked if p.required}
            for parameter, given in itertools.product(asked, STRANGE):
                if not next(turns) or (parameter.name, given) == ("wait", 1.5):
                    continue
                body = json.dumps({**least, parameter.name: given})
                answer = await client.post(f"/api/{tool.name}", content=body, headers=JSON)
                if answer.status_code >= 500:
                    broken.append((tool.name, parameter.name, given, answer.text))
        return broken

    assert with_client(build_application(hub), act) == []
