"""What a user of Helix Forge's session_memory types, sets and owns.

`python -m session_memory.ingest` is `engram ingest`, `python -m session_memory.detect` is `engram patterns detect`.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import apsw
import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.surfaces.conftest import Run

CONFIG = """
cadence = "daily"

[store]
path = ".store/session_memory.db"
blob_dir = ".store/blobs"

[retention]
raw_soft_cap_bytes = 1
raw_hard_cap_bytes = 2000000
raw_max_age_days = 90
distilled_cap_bytes = 1
color = "blue"

[sources]
claude = "{claude}"
grok = "/nowhere/grok"

[repo_domains]
app = "payments"
"""


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home with a session of Claude Code in the repository `app`."""
    home = tmp_path / "user"
    monkeypatch.setenv("HOME", str(home))
    work = Claude(home)
    work.says("Mend the login form")
    work.edits("/home/me/app/login.py")
    work.runs("pytest -q", "3 passed")
    work.answers("Done: the form works.", output=1000)
    return home


@pytest.fixture
def config(tmp_path: Path, user: Path) -> Path:
    path = tmp_path / "forge" / "config.toml"
    path.parent.mkdir()
    path.write_text(CONFIG.format(claude=user / ".claude" / "projects"))
    return path


# ---- Run a sweep


def test_a_sweep_reports_its_counts_and_the_retention_line(run: Run, user: Path) -> None:
    report = json.loads(run("ingest", "--json").stdout)
    assert {"discovered", "ingested", "skipped_unchanged", "analyzed"} <= set(report)
    assert {"freed", "final_usage"} <= set(report["retention"])
    assert json.loads(run("ingest", "--json").stdout)["skipped_unchanged"] == 1


def test_a_dry_run_writes_nothing(run: Run, user: Path) -> None:
    run("ingest", "--dry-run")
    assert json.loads(run("ingest", "--json").stdout)["ingested"] == 1


def test_a_sweep_keeps_to_the_caps_of_the_config(run: Run, config: Path) -> None:
    found = json.loads(run("ingest", "--config", str(config), "--json").stdout)
    assert (found["discovered"], found["ingested"], found["analyzed"]) == (1, 1, 1)
    assert found["retention"]["freed"] > 0
    assert found["retention"]["passes"]["soft"] == 1
    assert found["retention"]["distilled_over"] is True


def test_keys_that_mean_nothing_here_are_named_and_stop_nothing(run: Run, config: Path) -> None:
    told = run("ingest", "--config", str(config)).stderr
    for word in ("retention.color", "cadence", "store.path", "import session-memory", "/nowhere/grok"):
        assert word in told
    assert "raw_soft_cap_bytes" not in told


def test_a_dry_run_with_a_config_writes_nothing(run: Run, config: Path) -> None:
    assert "Would ingest 6 events of 1 session" in run("ingest", "--dry-run", "--config", str(config)).stdout
    assert "No sessions yet" in run("sessions").stdout


@pytest.mark.parametrize(
    "sources",
    [
        '[sources]\nclaude = ["{claude}"]',
        '[sources.claude]\nroot = "{claude}"\nglob = "**/*.jsonl"',
        '[[sources]]\nflavor = "claude"\npath = "{claude}"',
        '[sources]\nclaude = {{ path = "{claude}/**/*.jsonl" }}\ncodex = {{ enabled = false, path = "/x" }}',
    ],
)
def test_sources_are_read_in_whichever_shape_they_stand(run: Run, config: Path, user: Path, sources: str) -> None:
    (user / ".codex" / "sessions").mkdir(parents=True)
    config.write_text(sources.format(claude=user / ".claude" / "projects"))
    done = run("ingest", "--config", str(config), "--json")
    assert json.loads(done.stdout)["ingested"] == 1
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("content", "word"),
    [("[retention]\nraw_soft_cap_bytes = 'much'\n", "raw_soft_cap_bytes"), ("[retention\n", "config.toml")],
)
def test_a_config_that_cannot_be_meant_is_refused(run: Run, config: Path, content: str, word: str) -> None:
    config.write_text(content)
    assert word in run("ingest", "--config", str(config), status=2).stderr


def test_a_config_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    assert "nothing.toml" in run("ingest", "--config", str(tmp_path / "nothing.toml"), status=2).stderr


# ---- repo -> domain


def test_sessions_costs_and_patterns_are_filtered_by_domain(run: Run, config: Path) -> None:
    run("ingest", "--config", str(config))
    (found,) = json.loads(run("sessions", "--domain", "payments", "--json").stdout)
    assert found["domain"] == "payments"
    assert json.loads(run("sessions", "--domain", "shop", "--json").stdout) == []
    assert json.loads(run("cost", "--domain", "payments", "--days", "9999", "--json").stdout)
    assert json.loads(run("cost", "--domain", "shop", "--days", "9999", "--json").stdout) == []
    assert json.loads(run("patterns", "list", "--domain", "shop", "--json").stdout) == []
    assert "login" in run("recall", "login form", "--domain", "payments").stdout
    assert "login form" not in run("recall", "login form", "--domain", "shop").stdout


def test_domains_filter_in_python_and_over_http_too(engram: Engram, config: Path) -> None:
    from engram.compat import session_memory
    from tests.surfaces.http.calling import Caller

    session_memory.ingest(engram, session_memory.read_config(str(config)))
    call = Caller(engram)
    for domain, found in (("payments", 1), ("shop", 0)):
        assert len(engram.list_sessions(domain=domain)) == found
        assert len(engram.cost(domain=domain, days=9999)) == found
        assert bool(engram.recall("login form", domain=domain)) == bool(found)
        assert engram.list_patterns(domain=domain) == []
        assert len(call.post("list_sessions", domain=domain).json()) == found
        assert len(call.post("cost", domain=domain, days=9999).json()) == found
        assert bool(call.post("recall", query="login form", domain=domain).json()) == bool(found)


@pytest.mark.parametrize(
    "table",
    ['[domains]\napp = "payments"', '[domains]\npayments = ["app"]', '[repos.app]\ndomain = "payments"',
     '[repo_domains]\n"/home/me/app" = "payments"\napp = "other"'],
)  # fmt: skip
def test_the_map_is_read_in_whichever_shape_it_stands(run: Run, config: Path, table: str) -> None:
    config.write_text(table)
    run("ingest", "--config", str(config))
    assert len(json.loads(run("sessions", "--domain", "payments", "--json").stdout)) == 1


def test_what_is_captured_later_gets_its_domain_without_the_config(run: Run, config: Path, user: Path) -> None:
    run("ingest", "--config", str(config))
    later = Claude(user, "later")
    later.says("Mend the logout button as well")
    later.answers("Done.", output=10)
    run("ingest")
    assert len(json.loads(run("sessions", "--domain", "payments", "--json").stdout)) == 2


# ---- Detect candidate patterns


@pytest.mark.parametrize("words", [(), ("--json",), ("--min-frequency", "3")])
def test_patterns_are_detected_as_the_readme_says(run: Run, user: Path, words: tuple[str, ...]) -> None:
    run("ingest")
    run("patterns", "detect", *words)


def test_detecting_takes_the_config_too(run: Run, config: Path) -> None:
    run("patterns", "detect", "--config", str(config), "--json")
    assert len(json.loads(run("sessions", "--captured", "--json").stdout)) == 0


# ---- Session / SessionEvent / Cost


def test_the_names_of_its_schema_are_ours() -> None:
    from engram.compat.session_memory import Cost, Session, SessionEvent

    assert SessionEvent(session="s", key="k", kind="message").kind == "message"
    assert {"id", "flavor", "project", "domain"} <= set(Session.__annotations__)
    assert {"input", "output", "money"} <= set(Cost.__annotations__)


# ---- The store it leaves behind


def forge(root: Path) -> Path:
    """Write a store as session_memory may: rows in SQLite, bodies as files named by their hash, one of them packed."""
    store = root / ".store"
    (store / "blobs" / "ab").mkdir(parents=True)
    (store / "blobs" / "ab" / "abc1.txt").write_text("Why does the turbine report stall at noon?")
    told = {"text": "The cron job locks the table; I moved it to midnight."}
    (store / "blobs" / "ab" / "abc2.json.gz").write_bytes(gzip.compress(json.dumps(told).encode()))
    (store / "blobs" / "ab" / "stray.txt").write_text("nobody points here")
    with apsw.Connection(str(store / "session_memory.db")) as db:
        db.execute(
            """
            create table sessions (session_uid text primary key, flavor text, repo text, domain text, started_at text,
              ended_at text, cost text);
            create table session_events (session_uid text, seq integer, ts text, kind text, role text, tool_name text,
              call_id text, body_ref text);
            create table digests (session_uid text primary key, outcome text, summary text, lessons text);
            create table cursors (path text, offset integer);
            """
        )
        at = "2026-06-01T10:0{}:00+00:00"
        cost = json.dumps({"model": "claude-sonnet-4-5", "input_tokens": 1200, "output_tokens": 300, "usd": 0.25})
        db.execute(
            "insert into sessions values ('claude:aaa', 'claude', '/srv/turbine', 'energy', ?, ?, ?)",
            (at.format(0), at.format(4), cost),
        )
        for seq, kind, role, tool, call, body in (
            (1, "message", "user", None, None, "abc1"),
            (2, "tool_call", "assistant", "Bash", "c1", None),
            (3, "tool_result", "tool", "Bash", "c1", "gone9"),
            (4, "message", "assistant", None, None, "abc2"),
        ):
            row = ("claude:aaa", seq, at.format(seq), kind, role, tool, call, body)
            db.execute("insert into session_events values (?, ?, ?, ?, ?, ?, ?, ?)", row)
        lessons = json.dumps(["Never schedule the windmill export at noon"])
        db.execute("insert into digests values ('claude:aaa', 'success', 'Moved the turbine report', ?)", (lessons,))
        db.execute("insert into cursors values ('x', 1)")
    return store


def test_events_and_bodies_come_with_their_sessions(engram: Engram, tmp_path: Path) -> None:
    taken = engram.import_session_memory(str(forge(tmp_path)))
    assert (taken.sessions, taken.digests, taken.events, taken.bodies) == (1, 1, 4, 2)
    events = engram.get_events("aaa")
    assert [each.kind for each in events] == ["message", "call", "result", "message"]
    assert "turbine report stall" in events[0].text
    assert [each.role for each in engram.history("aaa")] == ["user", "assistant"]
    assert engram.get_session("aaa").domain == "energy"
    assert engram.cost("session", "aaa")[0].money == pytest.approx(0.25)


def test_what_is_left_behind_is_named_with_the_reason(engram: Engram, tmp_path: Path) -> None:
    left = "\n".join(engram.import_session_memory(str(forge(tmp_path))).left)
    assert "cursors: 1 row" in left
    assert "gone9" in left
    assert "stray.txt" in left


def test_importing_again_brings_nothing_twice(engram: Engram, tmp_path: Path) -> None:
    store = forge(tmp_path)
    engram.import_session_memory(str(store))
    again = engram.import_session_memory(str(store))
    assert (again.sessions, again.digests, again.events) == (0, 0, 0)
    assert len(engram.get_events("aaa")) == 4


def test_a_dry_run_counts_the_same_and_writes_nothing(engram: Engram, tmp_path: Path) -> None:
    found = engram.import_session_memory(str(forge(tmp_path)), dry_run=True)
    assert (found.sessions, found.digests, found.events) == (1, 1, 4)
    assert engram.list_sessions() == []


@pytest.mark.parametrize("sweep", [False, True])
def test_imported_digests_are_recalled_also_after_a_sweep(engram: Engram, tmp_path: Path, sweep: bool) -> None:
    engram.import_session_memory(str(forge(tmp_path)))
    if sweep:
        engram.ingest([str(tmp_path / ".store")])
    assert any("windmill" in each.snippet for each in engram.recall("windmill export at noon", tiers=["digest"]))
    digest = engram.get_digest("aaa")
    assert (digest.outcome, digest.facts["goal"]) == ("success", "Moved the turbine report")


def test_a_session_whose_body_is_one_file_of_lines_is_read(engram: Engram, tmp_path: Path) -> None:
    store = tmp_path / ".store"
    (store / "blobs").mkdir(parents=True)
    lines = [
        {"role": "user", "content": "Where is the flux capacitor wired?"},
        {"role": "assistant", "content": "Bay 4."},
    ]
    (store / "blobs" / "grok_bbb.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with apsw.Connection(str(store / "memory.db")) as db:
        db.execute("create table sessions (id text, flavor text, repo text); create table digests (session_id text)")
        db.execute("insert into sessions values ('grok:bbb', 'grok', '/srv/car')")
    taken = engram.import_session_memory(str(store))
    assert (taken.events, taken.bodies) == (2, 1)
    assert [each.content for each in engram.history("bbb")][1] == "Bay 4."
    again = engram.import_session_memory(str(store))
    assert (again.events, again.bodies) == (0, 0)


def test_no_body_is_read_from_outside_of_the_store(engram: Engram, tmp_path: Path) -> None:
    store = forge(tmp_path)
    (tmp_path / "secret.txt").write_text("the crown jewels")
    (store / "blobs" / "link.txt").symlink_to(tmp_path / "secret.txt")
    with apsw.Connection(str(store / "session_memory.db")) as db:
        db.execute("update session_events set body_ref = '../../secret.txt' where seq = 1")
        db.execute("update session_events set body_ref = 'link.txt' where seq = 4")
    engram.import_session_memory(str(store))
    assert not any("jewels" in each.text for each in engram.get_events("aaa"))


def test_secrets_in_bodies_stay_behind(engram: Engram, tmp_path: Path) -> None:
    store = forge(tmp_path)
    key = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
    (store / "blobs" / "ab" / "abc1.txt").write_text(f"use {key} for the push")
    engram.import_session_memory(str(store))
    assert not any(key in each.text for each in engram.get_events("aaa"))


def test_a_long_import_tells_how_far_it_is(engram: Engram, tmp_path: Path) -> None:
    from engram.importers.session_memory_store import import_store

    store, told = forge(tmp_path), list[tuple[int, int, str]]()
    import_store(engram, str(store), progress=lambda *far: told.append(far))
    assert told == [(4, 4, str(store / "session_memory.db"))]


def test_the_command_says_what_came_and_what_stayed(run: Run, tmp_path: Path) -> None:
    told = run("import", "session-memory", str(forge(tmp_path).parent)).stdout
    assert "1 session, 1 digest, 4 events with 2 bodies" in told
    assert "left behind: cursors: 1 row" in told
    assert "turbine report" in run("recall", "turbine report stall").stdout
