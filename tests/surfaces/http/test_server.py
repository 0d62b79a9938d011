"""Servers as real processes: one per home, private, and cleaned up."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from engram import Engram, InvalidInput, MissingExtra
from engram.settings import Settings, load_settings
from engram.surfaces.errors import AlreadyServing
from engram.surfaces.http.listener import ServerEndpoint, open_listener
from engram.surfaces.http.server import serve
from tests.surfaces.http.running import Running

Start = Callable[..., Running]


@pytest.fixture
def home() -> Iterator[Path]:
    """A home with a path short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="eg-") as directory:
        yield Path(directory) / "home"


@pytest.fixture
def settings(home: Path) -> Settings:
    return load_settings(home=str(home))


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[Running] = []

    def begin(home: Path, *words: str, store: str | None = None) -> Running:
        running.append(Running(home, *words, store=store))
        return running[-1]

    yield begin
    for each in running:
        each.process.kill()
        each.process.communicate()


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def test_agents_meet_through_a_socket(start: Start, home: Path, store: str) -> None:
    server = start(home, store=store).ready()
    first = server.call("register", session_type="elixir", summary="the parser", project="p")
    second = server.call("register", session_type="ruby", summary="the tests", project="p")
    server.call("lock_resource", session_id=first, resource="db:schema")
    with server.client() as client:
        refusal = client.post("/api/lock_resource", json={"session_id": second, "resource": "db:schema"})
        assert (refusal.status_code, refusal.json()["holder"]) == (409, first)
        client.post("/api/send", json={"sender": second, "to": first, "body": "may I?"})
        assert client.get(f"/api/get_session?session_id={first}").headers["Engram-Unread"] == "1"
        assert "db:schema" in client.get("/api/get_situation_report?project=p").json()
    assert server.call("get_session", session_id=first)["process"] is None


def test_a_server_and_the_library_see_the_same(start: Start, home: Path) -> None:
    server = start(home).ready()
    session = server.call("register", session_type="elixir", summary="x", project="p")
    with Engram(home) as engram:
        assert engram.get_session(session).summary == "x"
        engram.send(None, session, "hello")
    assert [message["body"] for message in server.call("inbox", session_id=session)] == ["hello"]


def test_a_socket_is_for_its_owner_alone(start: Start, home: Path) -> None:
    server = start(home).ready()
    assert server.endpoint["socket"] == str(home / "engram.sock")
    assert (mode(home), mode(home / "engram.sock")) == (0o700, 0o600)
    assert not (home / "serve.json").exists()
    with server.client(Origin="http://engram") as page:
        assert page.get("/api").status_code == 403


def test_a_port_asks_for_the_token_of_its_private_file(start: Start, home: Path) -> None:
    server = start(home, "0").ready()
    known = server.credentials
    assert (known["url"], known["pid"]) == (server.endpoint["url"], server.process.pid)
    assert mode(home / "serve.json") == 0o600
    assert len(known["token"]) == 43  # 256 bits
    assert known["token"] not in json.dumps(server.endpoint)
    for path in ("/api", "/api/stats", "/", "/nonsense"):
        with server.client() as nobody, server.client(Authorization="Bearer x") as guess:
            assert (nobody.get(path).status_code, guess.get(path).status_code) == (401, 401)
    with server.client(Authorization=f"Bearer {known['token']}") as owner:
        answer = owner.get("/api/stats")
        assert (answer.status_code, "server" in answer.headers) == (200, False)
        assert owner.get("/api", headers={"Host": "evil.example"}).status_code == 421
        assert owner.get("/api", headers={"Origin": "http://evil.example"}).status_code == 403


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_a_port_is_open_on_one_address_only(start: Start, home: Path) -> None:
    server = start(home, "0").ready()
    port = httpx.URL(server.endpoint["url"]).port
    assert port is not None
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port))


@pytest.mark.parametrize("lines", ["GET /api HTTP/1.0", "GET /api HTTP/1.1\r\nHost: {host}\r\nHost: evil.example"])
def test_a_request_without_one_clear_host_is_refused(start: Start, home: Path, lines: str) -> None:
    server = start(home, "0").ready()
    url = httpx.URL(server.endpoint["url"])
    asked = lines.format(host=url.netloc.decode()) + f"\r\nAuthorization: Bearer {server.credentials['token']}\r\n\r\n"
    with socket.create_connection((url.host, url.port or 0)) as connection:
        connection.sendall(asked.encode())
        assert connection.recv(4096).split()[1] in (b"400", b"421")


def test_a_chunked_body_without_a_length_cannot_grow_for_ever(start: Start, home: Path) -> None:
    server = start(home).ready()
    with server.client() as client:
        pieces = (b" " * 65536 for _ in range(1000))
        answer = client.post("/api/stats", content=pieces, headers={"content-type": "application/json"})
        assert answer.status_code == 413
    assert server.call("stats")["total_sessions"] == 0


def test_servers_of_two_homes_stand_side_by_side(start: Start, home: Path) -> None:
    one, two = start(home / "1").ready(), start(home / "2").ready()
    one.call("register", session_type="x", summary="only here")
    assert one.call("stats")["total_sessions"] == 1
    assert two.call("stats")["total_sessions"] == 0


@pytest.mark.parametrize("words", [(), ("0",)])
def test_a_second_server_on_a_home_is_refused_and_the_first_lives_on(
    start: Start, home: Path, words: tuple[str, ...]
) -> None:
    first = start(home, *words).ready()
    second = start(home, *words)
    said = second.process.communicate(timeout=60)[1]
    assert second.process.returncode == 1
    assert said.startswith("already_serving")
    assert (first.endpoint["socket"] or first.endpoint["url"]) in said
    headers = {"Authorization": f"Bearer {first.credentials['token']}"} if words else {}
    with first.client(**headers) as client:
        assert client.get("/api").status_code == 200


def test_of_many_that_start_at_once_one_serves(start: Start, home: Path) -> None:
    start(home).ready().end(signal.SIGKILL)
    rivals = [start(home) for _ in range(6)]
    lines = [rival.process.stdout.readline() for rival in rivals if rival.process.stdout]
    assert len([line for line in lines if line]) == 1
    winner = rivals[next(place for place, line in enumerate(lines) if line)]
    winner.endpoint = json.loads(next(filter(None, lines)))
    assert winner.call("stats")["total_sessions"] == 0


def test_a_starting_server_waits_for_another_that_is_starting(home: Path) -> None:
    home.mkdir(mode=0o700)
    other = os.open(home, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    settled = threading.Event()

    def begin() -> None:
        with open_listener(str(home), None, None):
            settled.set()

    thread = threading.Thread(target=begin)
    thread.start()
    assert not settled.wait(0.5)
    os.close(other)
    thread.join()
    assert settled.is_set()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(("words", "trace"), [((), "engram.sock"), (("0",), "serve.json")])
def test_a_signal_ends_it_in_order_and_nothing_is_left(
    start: Start, home: Path, number: int, words: tuple[str, ...], trace: str
) -> None:
    server = start(home, *words).ready()
    assert (home / trace).exists()
    assert server.end(number) == 0
    key = ["dashboard.key"] if words else []  # a signed-in browser stays signed in
    assert sorted(path.name for path in home.iterdir()) == [*key, "engram.db"]
    assert server.process.communicate()[1] == ""


@pytest.mark.parametrize(("words", "trace"), [((), "engram.sock"), (("0",), "serve.json")])
def test_leftovers_of_a_killed_server_do_not_matter(
    start: Start, home: Path, words: tuple[str, ...], trace: str
) -> None:
    start(home, *words).ready().end(signal.SIGKILL)
    assert (home / trace).exists()
    server = start(home, *words).ready()
    headers = {"Authorization": f"Bearer {server.credentials['token']}"} if words else {}
    with server.client(**headers) as client:
        assert client.get("/api").status_code == 200


def test_a_file_that_others_wrote_since_is_left_to_them(start: Start, home: Path) -> None:
    server = start(home, "0").ready()
    (home / "serve.json").write_text('{"token": "theirs"}')
    assert server.end(signal.SIGTERM) == 0
    assert json.loads((home / "serve.json").read_text()) == {"token": "theirs"}


def test_a_socket_that_others_made_since_is_left_to_them(start: Start, home: Path) -> None:
    server = start(home).ready()
    (home / "engram.sock").unlink()
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(home / "engram.sock"))
        assert server.end(signal.SIGTERM) == 0
        assert (home / "engram.sock").exists()


def waiting(server: Running) -> list[str]:
    found: list[str] = server.call("list_locks")[0]["waiters"]
    return found


def test_a_stop_wakes_waiting_calls(start: Start, home: Path) -> None:
    server = start(home).ready()
    first, second = (server.call("register", session_type=t, summary="x", project="p") for t in "ab")
    server.call("lock_resource", session_id=first, resource="db:schema")
    answers: list[httpx.Response] = []

    def wait() -> None:
        with server.client() as client:
            wish = {"session_id": second, "resource": "db:schema", "wait": 60}
            answers.append(client.post("/api/lock_resource", json=wish))

    thread = threading.Thread(target=wait)
    thread.start()
    while waiting(server) != [second]:
        pass
    assert server.end(signal.SIGTERM) == 0
    thread.join()
    assert (answers[0].status_code, answers[0].json()["error"]) == (503, "interrupted")
    with Engram(home) as engram:
        assert [(lock.session_id, lock.waiters) for lock in engram.list_locks()] == [(first, ())]


def test_a_caller_that_gave_up_waiting_is_not_given_the_lock(start: Start, home: Path) -> None:
    server = start(home).ready()
    first, second = (server.call("register", session_type=t, summary="x", project="p") for t in "ab")
    server.call("lock_resource", session_id=first, resource="db:schema")
    wish = json.dumps({"session_id": second, "resource": "db:schema", "wait": 60})
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(server.endpoint["socket"])
        head = f"POST /api/lock_resource HTTP/1.1\r\nHost: x\r\nContent-Length: {len(wish)}\r\n"
        caller.sendall(f"{head}Content-Type: application/json\r\n\r\n{wish}".encode())
        while waiting(server) != [second]:
            pass
    while waiting(server):
        pass
    server.call("release_resource", session_id=first, resource="db:schema")
    assert server.call("list_locks") == []


def test_a_path_too_long_for_a_socket_is_named(home: Path) -> None:
    with pytest.raises(InvalidInput, match=r"107.*--socket|103.*--socket"):
        serve(load_settings(home=str(home / ("x" * 100))))


def test_a_file_that_is_not_a_socket_is_not_replaced(settings: Settings, home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "engram.sock").write_text("precious")
    with pytest.raises(InvalidInput, match="is not a socket"):
        serve(settings)
    assert (home / "engram.sock").read_text() == "precious"


@pytest.mark.parametrize("port", [None, 0])
def test_a_directory_others_may_enter_is_refused(settings: Settings, home: Path, port: int | None) -> None:
    home.mkdir(mode=0o755)
    with pytest.raises(InvalidInput, match="chmod 700"):
        serve(settings, port=port)


def test_a_socket_may_lie_elsewhere_in_a_private_directory(settings: Settings, home: Path) -> None:
    place = str(home / "run" / "one.sock")
    heard: list[ServerEndpoint] = []

    def hear(endpoint: ServerEndpoint) -> None:
        heard.append(endpoint)
        assert (mode(place), mode(home / "run")) == (0o600, 0o700)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        serve(settings, socket_path=place, announce=hear)
    assert heard == [ServerEndpoint(pid=os.getpid(), socket=place)]
    assert place in str(heard[0])
    assert not os.path.exists(place)


def test_a_socket_and_a_port_exclude_each_other(settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="cannot be combined"):
        serve(settings, socket_path="x.sock", port=0)


def test_a_port_that_is_taken_is_named(settings: Settings, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InvalidInput, match=str(port)):
            serve(settings, port=port)
    assert not (home / "serve.json").exists()


def test_a_live_socket_is_refused_even_if_nobody_answers_there(settings: Settings, home: Path) -> None:
    home.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(home / "engram.sock"))
        silent.listen()
        with pytest.raises(AlreadyServing, match=r"engram\.sock"):
            serve(settings)


def test_signals_are_given_back(settings: Settings) -> None:
    before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)]
    serve(settings, announce=lambda _: signal.raise_signal(signal.SIGTERM))
    assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)] == before


def test_a_missing_extra_is_named(settings: Settings, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtra, match=r"server needs the extra 'serve'.*\[serve\]"):
        serve(settings)
    assert not home.exists()
