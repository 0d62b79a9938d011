"""The models that `engram init` offers, what it says about their cost, and `engram config`."""

from __future__ import annotations

import json
import tomllib
from datetime import datetime, timezone
from pathlib import Path

import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.models.speaking import says, speaking
from tests.surfaces.conftest import Run
from tests.surfaces.test_wiring_cli import at_a_terminal

NOWHERE = "127.0.0.1:1"  # where no server listens
TAGS = {"models": [
    {"name": "nomic-embed-text:latest", "size": 7_000_000_000}, {"name": "qwen3:4b", "size": 2_600_000_000},
    {"name": "smollm2:135m", "size": 270_000_000}, {"name": "llama3.3:70b", "size": 42_000_000_000},
]}  # fmt: skip


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with a Claude Code that was used today, without any login or key."""
    home = tmp_path / "user"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home / 'bin'}:/usr/bin:/bin")
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
                 "OPENAI_API_KEY", "ENGRAM_MODEL"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_HOST", NOWHERE)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    work = Claude(home)
    work.says("Mend the login form")
    work.answers("Done: the form works.")
    return home


@pytest.fixture
def busy(user: Path, tmp_path: Path) -> Path:
    """The same user, with two sessions today in the store."""
    with Engram(tmp_path / "home") as engram:
        for name in ("one", "two"):
            said_at = datetime.now(timezone.utc).isoformat()
            rows = [{"role": "user", "content": "Mend the login form. " * 100, "at": said_at}]
            engram.add_exchanges_bulk(name, rows)
    return user


def log_in(user: Path, agent: str) -> None:
    """Put a program on the PATH, with what its login leaves in the home directory."""
    (user / "bin").mkdir(exist_ok=True)
    (user / "bin" / agent).write_text("#!/bin/sh\nexit 1\n")
    (user / "bin" / agent).chmod(0o755)
    if agent == "claude":
        (user / ".claude.json").write_text(json.dumps({"oauthAccount": {"accountUuid": "u"}}))
        return
    (user / ".codex").mkdir()
    (user / ".codex" / "auth.json").write_text(json.dumps({"OPENAI_API_KEY": None, "tokens": {"id_token": "t"}}))
    offered = {"models": [{"slug": "gpt-6-sol"}, {"slug": "gpt-6-codex-mini"}]}
    (user / ".codex" / "models_cache.json").write_text(json.dumps(offered))


def read_config(tmp_path: Path) -> dict[str, object]:
    path = tmp_path / "home" / "config.toml"
    return tomllib.loads(path.read_text()) if path.exists() else {}


def init(typed: bytes, *words: str, **env: str) -> str:
    status, output = at_a_terminal("init", "--agent", "claude", "--no-history", *words, typed=typed, **env)
    assert status == 0, output
    return output


def test_a_plan_costs_nothing_extra_and_is_used_after_a_yes(busy: Path, tmp_path: Path) -> None:
    log_in(busy, "claude")
    output = init(b"y\ny\n")
    assert "Claude Code (haiku) could write your summaries: no extra cost, uses your plan." in output
    assert "with 2 sessions, takes" in output
    assert "is $1.00 a day" in output
    assert "go to Anthropic" in output
    assert "Turn it off with `engram config model none`" in output
    assert read_config(tmp_path) == {"model": "claude", "model_name": "haiku", "dream_cents": 20}
    assert "could write your summaries" not in init(b"")  # it is chosen already


@pytest.mark.parametrize("typed", [b"y\n\n", b"y\nn\n"])
def test_no_answer_is_a_no(user: Path, tmp_path: Path, typed: bytes) -> None:
    log_in(user, "claude")
    assert "Use it? Without it, summaries quote your sessions. [y/N]" in init(typed)
    assert read_config(tmp_path) == {}


def test_a_key_in_the_environment_is_what_claude_would_use(busy: Path) -> None:
    log_in(busy, "claude")
    output = init(b"y\n0\n", ANTHROPIC_API_KEY="sk-test")
    assert "1  Claude Code (haiku): about $" in output
    assert "2  Anthropic API (claude-haiku-" in output
    assert "uses your plan" not in output


def test_several_models_are_a_choice_and_what_is_free_comes_first(busy: Path, tmp_path: Path) -> None:
    log_in(busy, "codex")
    with speaking(says(TAGS)) as server:
        output = init(b"y\n2\n", OLLAMA_HOST=server.url.removeprefix("http://"), OPENAI_API_KEY="sk-test")
        assert "1  Codex (gpt-6-codex-mini): no extra cost, uses your plan" in output
        assert "2  Ollama on this machine (qwen3:4b): free, stays on this machine" in output
        assert "3  OpenAI API (gpt-" in output
        assert {each["path"] for each in server.asked} == {"/api/tags"}
        expected = {"model": "openai", "model_name": "qwen3:4b", "model_url": f"{server.url}/v1", "dream_cents": 20}
    assert read_config(tmp_path) == expected


def test_another_server_with_the_same_api_is_found_too(user: Path) -> None:
    models = {"object": "list", "data": [{"id": "gemma-3-4b-it"}]}
    with speaking(says({"error": "unknown"}, 404), says(models)) as server:
        assert "Model server on this machine (gemma-3-4b-it) could write" in init(b"y\nn\n", OLLAMA_HOST=server.url)


def test_a_server_elsewhere_is_not_asked(user: Path) -> None:
    assert "summaries" not in init(b"y\n", OLLAMA_HOST="http://192.0.2.7:11434")


def test_nobody_is_asked_with_yes_json_or_a_dry_run(run: Run, user: Path, tmp_path: Path) -> None:
    log_in(user, "claude")
    assert "`engram init` asks you." in run("init", "--dry-run").stdout
    output = run("init", "--yes", "--no-history").stdout
    assert "Models found for summaries: Claude Code (haiku). None is used; `engram init` asks you in a termin" in output
    assert json.loads(run("init", "--yes", "--json").stdout)["problems"] == []
    assert read_config(tmp_path) == {}


def test_nothing_found_is_not_mentioned(run: Run, user: Path) -> None:
    (user / "bin").mkdir()
    (user / "bin" / "claude").write_text("#!/bin/sh\n")  # installed, not logged in
    (user / "bin" / "claude").chmod(0o755)
    assert "ummaries" not in run("init", "--yes", "--no-history").stdout


def test_uninit_leaves_the_settings(run: Run, user: Path, tmp_path: Path) -> None:
    log_in(user, "claude")
    init(b"y\ny\n")
    run("uninit", "--yes")
    assert read_config(tmp_path)["model"] == "claude"


def test_config_changes_one_setting_and_keeps_the_rest_of_the_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "home" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text('# mine\nmodel = "claude" # for a while\nstale_minutes = 5\n')
    run("config", "model", "none")
    run("config", "dream_cents", "7")
    assert path.read_text() == '# mine\nmodel = "none" # for a while\nstale_minutes = 5\ndream_cents = 7\n'
    assert run("config", "dream_cents").stdout == "dream_cents = 7\n"
    assert json.loads(run("config", "model", "--json").stdout) == {"model": "none"}


def test_config_refuses_what_is_no_setting_and_what_it_cannot_replace(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "home" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text('timezone = """\nEurope/Berlin"""\n')
    assert "by hand" in run("config", "timezone", "Europe/Rome", status=1).stderr
    assert "Unknown setting modle" in run("config", "modle", "none", status=2).stderr
    assert "must be a whole number" in run("config", "dream_cents", "many", status=2).stderr
    assert "Europe/Berlin" in path.read_text()
