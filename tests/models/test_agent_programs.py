"""`claude` and `codex` as providers, with stand-ins: how they are called, what failures mean, how they end."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.capture.session_match import SessionRegister
from engram.errors import BudgetSpent, ModelInvalid, ModelRefused, ModelUnavailable
from engram.models.complete import complete
from engram.models.provider import Budget
from tests.models.conftest import calls
from tests.models.standing_in import codex, heard, install, printing

TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
ENDED = {"type": "turn.completed", "usage": {"input_tokens": 900, "cached_input_tokens": 100, "output_tokens": 40}}


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    return tmp_path / "bin"


def ask(tmp_path: Path, model: str, **more: Any) -> Any:
    with Engram(tmp_path / "home", model=model, model_seconds=more.pop("seconds", 30)) as hub:
        try:
            return complete(hub, "say hi, privately", purpose="test", **more), calls(hub)
        except Exception as problem:
            return problem, calls(hub)


def test_claude_is_called_lean_and_the_prompt_is_no_argument(
    tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-users-own")
    monkeypatch.setenv("CLAUDECODE", "1")
    log = install(bin_, "claude", printing(), monkeypatch)
    answer, rows = ask(tmp_path, "claude", system="be secretive")
    (given,) = heard(log)
    words = given["argv"]
    assert words[:7] == [
        "-p",
        "--safe-mode",
        "--no-session-persistence",
        "--tools",
        "",
        "--strict-mcp-config",
        "--settings",
    ]
    assert words[words.index("--model") + 1] == "haiku"
    assert "privately" not in str(words)
    assert "secretive" not in str(words)
    assert (given["prompt"], "be secretive" in given["files"].values()) == ("say hi, privately", True)
    assert (given["env"]["ENGRAM_INSIDE"], given["env"]["ANTHROPIC_API_KEY"]) == ("1", "sk-users-own")
    assert "CLAUDECODE" not in given["env"]
    assert (answer.text, answer.cost, answer.model) == ("hi there", 0.0011, "claude-haiku-4-5-20251001")
    assert (rows[0]["cost"], rows[0]["input"], rows[0]["output"]) == (0.0011, 900, 40)


def test_a_childs_place_is_one_that_capture_leaves_out(
    tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = install(bin_, "claude", printing(), monkeypatch)
    ask(tmp_path, "claude")
    (given,) = heard(log)
    with Engram(tmp_path / "home") as hub:
        assert SessionRegister(hub)._is_ours(given["cwd"])
    assert os.listdir(given["cwd"]) == []  # nothing is left behind
    assert Path(given["cwd"]).stat().st_mode & 0o777 == 0o700


def test_claude_answers_in_the_form_of_a_schema(tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = install(bin_, "claude", printing(structured_output={"title": "x"}, result="{}"), monkeypatch)
    answer, _ = ask(tmp_path, "claude", schema=TITLE)
    assert answer.data == {"title": "x"}
    assert "--json-schema" in heard(log)[0]["argv"]


@pytest.mark.parametrize(
    ("facts", "error", "tries"),
    [
        ({"is_error": True, "api_error_status": 401, "result": "Invalid API key"}, ModelRefused, 1),
        ({"is_error": True, "result": "Not logged in · Please run /login"}, ModelRefused, 1),
        (
            {"is_error": True, "api_error_status": 429, "result": "API Error: Request rejected (429)"},
            ModelUnavailable,
            3,
        ),
        ({"is_error": True, "api_error_status": 529, "result": "Overloaded"}, ModelUnavailable, 3),
        ({"is_error": True, "result": "Claude AI usage limit reached|1794800000"}, ModelUnavailable, 3),
        ({"is_error": True, "subtype": "error_max_structured_output_retries", "errors": ["no"]}, ModelInvalid, 2),
        ({"is_error": True, "result": "API Error: exceeded the 4096 output token maximum"}, ModelInvalid, 2),
        ({"result": ""}, ModelInvalid, 2),
    ],
)
def test_a_failure_of_claude_is_named_and_tried_again_only_if_it_can_heal(
    tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], error: type, tries: int
) -> None:
    cost = 0 if error in (ModelRefused, ModelUnavailable) else 0.001
    log = install(bin_, "claude", printing(total_cost_usd=cost, modelUsage={}, **facts), monkeypatch)
    problem, rows = ask(tmp_path, "claude")
    assert type(problem) is error
    assert (len(heard(log)), len(rows)) == (tries, tries)


def test_an_answer_over_its_budget_is_paid_for_and_not_asked_for_again(
    tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {"is_error": True, "subtype": "error_max_budget_usd", "total_cost_usd": 0.35, "result": None}
    log = install(bin_, "claude", printing(**facts), monkeypatch)
    problem, rows = ask(tmp_path, "claude", budget=Budget(max_dollars=0.05))
    assert isinstance(problem, BudgetSpent)
    assert (len(heard(log)), [row["cost"] for row in rows]) == (1, [0.35])
    words = heard(log)[0]["argv"]
    assert words[words.index("--max-budget-usd") + 1] == "0.0500"


@pytest.mark.parametrize(("name", "hint"), [("claude", "log in"), ("codex", "log in")])
def test_a_missing_program_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, hint: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    problem, rows = ask(tmp_path, name)
    assert isinstance(problem, ModelRefused)
    assert hint in str(problem)
    assert [row["cost"] for row in rows] == [0.0]


@pytest.mark.parametrize("body", ["print('{')", "print('3')", "sys.exit(7)", "os.kill(os.getpid(), 9)", "print('[]')"])
def test_a_program_that_says_nothing_sensible_is_an_error(
    tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    for name in ("claude", "codex"):
        install(bin_, name, body, monkeypatch)
        problem, _ = ask(tmp_path, name)
        assert isinstance(problem, ModelRefused), name


def test_when_time_is_up_everything_the_program_started_ends(
    tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grandchild = tmp_path / "grandchild"
    body = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(grandchild)!r}, 'w').write(str(child.pid))\ntime.sleep(600)"
    )
    install(bin_, "claude", body, monkeypatch)
    problem, rows = ask(tmp_path, "claude", budget=Budget(seconds=2))
    assert isinstance(problem, ModelUnavailable)
    assert rows[0]["cost"] > 0  # it may have been billed
    assert _gone(int(grandchild.read_text()))


def test_a_program_that_ends_takes_what_it_left_running_with_it(
    tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grandchild = tmp_path / "grandchild"
    body = f"child = subprocess.Popen(['sleep', '600'])\nopen({str(grandchild)!r}, 'w').write(str(child.pid))\n"
    install(bin_, "claude", body + printing(), monkeypatch)
    answer, _ = ask(tmp_path, "claude")
    assert answer.text == "hi there"
    assert _gone(int(grandchild.read_text()))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_of_words_is_ended(tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    install(bin_, "claude", f"while True: sys.{stream}.write('x' * 65536)", monkeypatch)
    problem, rows = ask(tmp_path, "claude")
    assert isinstance(problem, ModelInvalid)
    assert len(rows) == 1


def test_a_program_that_does_not_listen_is_still_heard(
    tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = install(bin_, "claude", printing(), monkeypatch)
    program = bin_ / "claude"
    program.write_text(program.read_text().replace("sys.stdin.read()", "''"))
    with Engram(tmp_path / "home", model="claude") as hub:
        assert complete(hub, "x" * 1_000_000, purpose="test").text == "hi there"
    assert heard(log)[0]["prompt"] == ""


def test_codex_is_called_lean_and_answers(tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = install(bin_, "codex", codex({"type": "thread.started"}, ENDED, answer='{"title": "x"}'), monkeypatch)
    answer, rows = ask(tmp_path, "codex", schema=TITLE, system="be secretive")
    (given,) = heard(log)
    words = given["argv"]
    assert words[:5] == ["exec", "--ephemeral", "--disable", "hooks", "--skip-git-repo-check"]
    assert words[-1] == "-"
    assert (words[5], words[6]) == ("--sandbox", "read-only")
    assert "features.shell_tool=false" in words
    assert "privately" not in str(words)
    assert "secretive" not in str(words)
    assert (given["prompt"], given["env"]["ENGRAM_INSIDE"]) == ("say hi, privately", "1")
    assert any('"title"' in text for text in given["files"].values())
    assert (answer.data, answer.input, answer.cache_read, answer.output) == ({"title": "x"}, 800, 100, 40)
    assert rows[0]["cost"] is None  # it does not name its model


@pytest.mark.parametrize(
    ("words", "error", "tries"),
    [
        ("unexpected status 401 Unauthorized: bad key", ModelRefused, 1),
        ("exceeded retry limit, last status: 429 Too Many Requests", ModelUnavailable, 3),
        ("You've hit your usage limit.", ModelUnavailable, 3),
        ("stream disconnected before completion", ModelUnavailable, 3),
        ("the model does not exist", ModelRefused, 1),
    ],
)
def test_a_failure_of_codex_is_named_and_tried_again_only_if_it_can_heal(
    tmp_path: Path, bin_: Path, monkeypatch: pytest.MonkeyPatch, words: str, error: type, tries: int
) -> None:
    log = install(bin_, "codex", codex({"type": "turn.failed", "error": {"message": words}}), monkeypatch)
    problem, _ = ask(tmp_path, "codex")
    assert (type(problem), len(heard(log))) == (error, tries)
    assert words in str(problem)


def _gone(pid: int) -> bool:
    """Return whether a process ends soon; a zombie has ended but was not reaped yet."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
