"""What a user of memoria types and sets: `flush.py` is `engram flush`, `compile.py` is `engram compile`."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from engram import Engram
from engram.settings import load_settings
from engram.surfaces.hooks import hook_event
from engram.wiki.vault.vault import open_vault
from tests.conftest import ManualClock
from tests.surfaces.conftest import Run
from tests.wiki import shop
from tests.wiki.logs import entry, log, page

CONTEXT = """**User:** The zeppelin gateway must answer on port 8040, the old proxy keeps 8039. Please move it.

**Assistant:** Moved: the zeppelin gateway listens on port 8040 and the health check follows it.
"""


@pytest.fixture
def context_file(tmp_path: Path) -> Path:
    """A conversation memoria's hook has extracted for `flush.py`."""
    path = tmp_path / "scripts" / "session-flush-5f1c-20260401-101500.md"
    path.parent.mkdir()
    path.write_text(CONTEXT)
    return path


def daily(home: Path) -> str:
    return "\n".join(path.read_text() for path in sorted((home / "wiki" / "daily").glob("*.md")))


# ---- flush.py <context_file.md> <session_id>


def test_a_context_file_with_its_session_becomes_an_entry(run: Run, context_file: Path, tmp_path: Path) -> None:
    run("flush", str(context_file), "5f1c")
    assert "port 8040" in daily(tmp_path / "home")
    assert "zeppelin" in run("recall", "zeppelin gateway port").stdout
    assert not context_file.exists()


def test_flushing_the_same_context_twice_makes_one_entry(run: Run, context_file: Path, tmp_path: Path) -> None:
    run("flush", str(context_file), "5f1c")
    context_file.write_text(CONTEXT)
    run("flush", str(context_file), "5f1c")
    assert daily(tmp_path / "home").count("### Session") == 1


def test_a_file_that_is_not_named_as_memoria_names_them_is_read_and_left(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text(CONTEXT)
    run("flush", str(notes), "5f1c")
    assert "port 8040" in daily(tmp_path / "home")
    assert notes.exists()


def test_a_context_file_that_is_not_there_fails(run: Run, tmp_path: Path) -> None:
    assert "gone.md" in run("flush", str(tmp_path / "gone.md"), "5f1c", status=1).stderr


def test_an_empty_context_is_skipped_and_removed(run: Run, context_file: Path, tmp_path: Path) -> None:
    context_file.write_text(" \n")
    run("flush", str(context_file), "5f1c")
    assert not context_file.exists()
    assert not (tmp_path / "home" / "wiki" / "daily").exists()


def test_a_flush_whose_model_fails_ends_with_1_says_why_and_keeps_the_file(run: Run, context_file: Path) -> None:
    now = time.time()
    fresh = context_file.with_name(time.strftime("session-flush-5f1c-%Y%m%d-%H%M%S.md", time.localtime(now)))
    context_file.rename(fresh)
    broken = {
        "ENGRAM_MODEL": "openai", "ENGRAM_MODEL_URL": "http://127.0.0.1:9/v1", "ENGRAM_MODEL_NAME": "x",
        "ENGRAM_MODEL_SECONDS": "1",
    }  # fmt: skip
    done = run("flush", str(fresh), "5f1c", status=1, **broken)
    assert "Connection refused" in done.stdout
    assert fresh.exists()
    run("flush", str(fresh), "5f1c")
    assert not fresh.exists()


def test_a_flush_of_all_sessions_that_fails_ends_with_1(run: Run) -> None:
    run("remember", "--session", "talk", CONTEXT)
    broken = {
        "ENGRAM_MODEL": "openai", "ENGRAM_MODEL_URL": "http://127.0.0.1:9/v1", "ENGRAM_MODEL_NAME": "x",
        "ENGRAM_MODEL_SECONDS": "1",
    }  # fmt: skip
    assert "talk" in run("flush", status=1, **broken).stdout


# ---- The context files memoria preserved when its model failed


@pytest.mark.parametrize("name", ["session-flush-5f1c-20260401-101500.md", "flush-context-5f1c-20260401-101500.md"])
def test_preserved_contexts_are_taken_in_with_the_wiki(engram: Engram, tmp_path: Path, name: str) -> None:
    tree = tmp_path / "memoria"
    (tree / "scripts").mkdir(parents=True)
    (tree / "daily").mkdir()
    (tree / "scripts" / name).write_text(CONTEXT)
    assert engram.import_memoria(str(tree), dry_run=True).contexts == 1
    assert engram.import_memoria(str(tree)).contexts == 1
    assert "port 8040" in page(engram, "daily/2026-04-01")
    again = engram.import_memoria(str(tree))
    assert (again.contexts, again.already_here) == (0, 1)
    assert (tree / "scripts" / name).exists()


def test_a_preserved_context_of_a_captured_session_adds_nothing(engram: Engram, tmp_path: Path) -> None:
    known = engram.register("claude", "move the gateway", flavor="claude", native_id="5f1c")
    user, assistant = (part.partition(":** ")[2].strip() for part in CONTEXT.strip().split("\n\n"))
    engram.remember(known, "user", user)
    engram.remember(known, "assistant", assistant)
    (tmp_path / "memoria" / "daily").mkdir(parents=True)
    (tmp_path / "memoria" / "session-flush-5f1c-20260401-101500.md").write_text(CONTEXT)
    engram.import_memoria(str(tmp_path / "memoria"))
    assert len(engram.history(known)) == 2


# ---- MEMORIA_TZ, MEMORIA_COMPILE_INTERVAL_MIN


def test_memorias_variables_hold_until_ours_are_set(tmp_path: Path) -> None:
    env = {"ENGRAM_HOME": str(tmp_path), "MEMORIA_TZ": "Asia/Tokyo", "MEMORIA_COMPILE_INTERVAL_MIN": "15"}
    assert (load_settings(env).timezone, load_settings(env).compile_interval_minutes) == ("Asia/Tokyo", 15)
    (tmp_path / "config.toml").write_text("compile_interval_minutes = 30\n")
    assert load_settings(env | {"ENGRAM_TZ": "Europe/Berlin"}).timezone == "Europe/Berlin"
    assert load_settings(env).compile_interval_minutes == 30


@pytest.mark.parametrize("given", ["soon", "-5", ""])
def test_an_interval_of_memoria_that_is_none_breaks_nothing(tmp_path: Path, given: str) -> None:
    env = {"ENGRAM_HOME": str(tmp_path), "MEMORIA_COMPILE_INTERVAL_MIN": given}
    assert load_settings(env).compile_interval_minutes == 60


def test_the_command_line_names_our_setting_once(run: Run) -> None:
    run("stats")  # makes the home
    told = [run("stats", MEMORIA_TZ="Asia/Tokyo").stderr for _ in range(2)]
    assert ["ENGRAM_TIMEZONE" in each for each in told] == [True, False]
    findings = json.loads(run("doctor", "--quick", "--json", MEMORIA_TZ="Asia/Tokyo").stdout)
    assert [each for each in findings if "MEMORIA_TZ" in each["text"] and "ENGRAM_TIMEZONE" in each["text"]]


# ---- compile.py


def test_compiling_by_hand_does_not_wait_for_the_interval(timed: Engram, clock: ManualClock) -> None:
    from engram.wiki.vault.daily_log import local_day

    today = local_day(clock.now(), "")
    log(timed, today, entry(1))
    assert timed.compile().logs == (today,)
    log(timed, today, entry(1), entry(2))
    clock.pass_(60)
    assert timed.compile().logs == (today,)


def test_compiling_by_hand_tries_again_what_failed(timed: Engram, tmp_path: Path) -> None:
    shop.work_a_week(timed, tmp_path)
    blocked = Path(open_vault(timed).root) / "concepts" / "shop.md"
    blocked.mkdir(parents=True)
    assert timed.compile().failed
    blocked.rmdir()
    again = timed.compile()
    assert (again.failed, "concepts/shop" in again.created) == ({}, True)


def test_a_compilation_that_fails_ends_with_1_and_says_why(run: Run, tmp_path: Path) -> None:
    run("stats")
    with Engram(tmp_path / "home") as engram:
        shop.work_a_week(engram, tmp_path)
        (Path(open_vault(engram).root) / "concepts" / "shop.md").mkdir(parents=True)
    assert " failed" in run("compile", status=1).stdout


# ---- One page for a project, however it is spelt

# ---- Hook input with unescaped Windows backslashes


@pytest.mark.parametrize("cwd", [r"C:\Users\x", r"C:\new\users", r"C:\temp\Über\.claude", r"\\server\share\x y"])
def test_hook_input_with_lone_backslashes_is_read(cwd: str) -> None:
    raw = f'{{"hook_event_name":"UserPromptSubmit","session_id":"5f1c","cwd":"{cwd}",'
    raw += r'"transcript_path":"C:\Users\x\.claude\a.jsonl","prompt":"first\nsecond \"quoted\""}'
    met = hook_event.read_hook_event(raw.encode(), [], {})
    assert met is not None
    assert met.cwd == cwd
    assert met.transcript == r"C:\Users\x\.claude\a.jsonl"
    assert met.prompt == 'first\nsecond "quoted"'


def test_hook_input_that_is_sound_is_read_as_it_is() -> None:
    raw = json.dumps({"hook_event_name": "Stop", "session_id": "5f1c", "cwd": "C:\\Users\\x"})
    met = hook_event.read_hook_event(raw.encode(), [], {})
    assert met is not None
    assert met.cwd == r"C:\Users\x"


@pytest.mark.parametrize("raw", [b'{"session_id": ', b"{'a': 1}", b'{"a": "\\', b"\xff\xfe"])
def test_hook_input_that_nothing_can_repair_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        hook_event.read_hook_event(raw, [], {})
