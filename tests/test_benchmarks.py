"""Benchmarks and race run as a person runs them; never how fast, only that every figure is there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import coordination, hooks, install, patterns, race
from benchmarks.race.__main__ import main

ROOT = Path(race.__file__).parents[2]
RACE = ("-m", "benchmarks.race", "--processes", "2", "--rounds", "5")


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_quick_benchmark_fills_every_group_of_its_table() -> None:
    figures: list[dict[str, Any]] = json.loads(run("benchmarks/coordination.py", "--quick", "--json"))
    assert {figure["group"] for figure in figures} == {"lock + unlock", "one call", "growth", "start"}
    assert [figure["what"] for figure in figures if figure["p50"] is None and not figure["note"]] == []
    assert all(figure["naive"] > 0 for figure in figures if figure["group"] == "lock + unlock")
    assert set(coordination.COMMANDS) == {figure["what"] for figure in figures if figure["group"] == "start"}


def test_a_command_that_fails_is_skipped_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands: dict[str, tuple[tuple[str, ...], dict[str, object]]] = {
        "python": ((sys.executable, "-c", "pass"), {}),
        "failing": ((sys.executable, "-c", "raise SystemExit(4)"), {}),
        "missing": ((str(tmp_path / "nothing"),), {}),
    }
    monkeypatch.setattr(coordination, "COMMANDS", commands)
    found = list(coordination.start_figures(coordination.QUICK, str(tmp_path)))
    assert [figure.ratio for figure in found] == [1.0, None, None]
    assert "exit status 4" in found[1].note
    assert "skipped" in found[2].note


def test_the_table_shows_what_was_measured_and_leaves_the_rest_empty() -> None:
    figures = [
        coordination.Figure("locks", "one", 1234.5, 0.5, 2.25, naive=100.0, ratio=12.345, note="good"),
        coordination.Figure("start", "two", note="skipped: exit status 1"),
    ]
    shown = coordination.table(figures)
    for word in ("1,23", "0.50", "2.25", "100", "12.3", "good", "skipped: exit status 1"):
        assert word in shown


def test_a_short_race_ends_well_and_says_so() -> None:
    assert "violations: 0" in run(*RACE, "--no-nemesis")


def test_a_race_tells_its_figures_to_programs() -> None:
    summary = json.loads(run(*RACE, "--seed", "7", "--no-nemesis", "--json"))
    assert summary["violations"] == []
    assert (summary["processes"], summary["rounds"], summary["seed"], summary["store"]) == (2, 5, 7, "sqlite")
    assert summary["asks"] >= 10


def test_a_race_with_a_violation_exits_with_1_and_keeps_the_histories(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("benchmarks.race.summary.check", lambda _: ["double_grants: planted"])
    assert main(["--processes", "1", "--rounds", "1", "--no-nemesis"]) == 1
    said = capsys.readouterr()
    assert "double_grants: planted" in said.out
    assert len(list(tmp_path.glob("engram-race-*/histories/1-1.jsonl"))) == 1
    assert str(tmp_path) in said.err


def test_racers_start_from_any_directory_even_one_with_benchmarks_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "benchmarks.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    summary = race.hold_race(tmp_path / "race", processes=1, rounds=2, kills=0, stops=0)
    assert (summary.asks >= 2, summary.violations) == (True, [])


def test_the_capture_benchmark_tells_every_figure_and_names_who_did_not_run() -> None:
    if not (ROOT.parent / "shared" / "data").exists():
        pytest.skip("the transcripts the capture benchmark reads are not here (../shared)")
    told = run("-m", "benchmarks.capture", "--mb", "2", "--alone")
    for words in (
        "MB/CPU s",
        "of raw",
        "agentsview",
        "tokens",
        "nothing new among",
        "append one line",
        "one line of 50 MB",
    ):
        assert words in told


def test_the_recall_benchmark_tells_every_figure_and_names_who_did_not_run() -> None:
    if not (ROOT.parent / "shared" / "data" / "recall").exists():
        pytest.skip("the questions the recall benchmark asks are not here (../shared)")
    told = run("-m", "benchmarks.recall", "--quick")
    for words in (
        "longmemeval_s_dev.jsonl.gz  sha256 ",
        "nDCG@10",
        "pooled, sessions, all 2 questions",
        "locomo, turns",
        "abstains: right",
        "p95 ms",
        "mempalace                not run: --peers was not given",
        "latency by number of exchanges",
    ):
        assert words in told


def test_the_digest_benchmark_tells_recall_and_outcomes() -> None:
    if not (ROOT.parent / "shared" / "data").exists():
        pytest.skip("the labelled sessions the digest benchmark reads are not here (../shared)")
    told = run("benchmarks/digests.py")
    for words in ("files changed: recall", "friction", "open items", "balanced", "within 2048"):
        assert words in told


def test_the_hook_benchmark_measures_every_event_and_a_dead_server() -> None:
    rows: list[dict[str, Any]] = json.loads(run("-m", "benchmarks.hooks", "--quick", "--json"))
    full = {row["event"] for row in rows if row["store"] == "200 sessions"}
    assert full == set(hooks.EVENTS)
    assert {row["event"] for row in rows if row["store"] == "dead PostgreSQL"} == {"start", "before an edit"}
    assert all(row["ratio"] > 0 for row in rows)


def test_the_install_benchmark_weighs_what_the_base_needs_and_times_each_start() -> None:
    found: dict[str, Any] = json.loads(run("-m", "benchmarks.install", "--quick", "--json"))
    names = {each["package"] for each in found["packages"]}
    assert {"engram-agents", "apsw", "click", "numpy", "orjson"} <= names
    assert names.isdisjoint({"pip", "setuptools", "pytest", "onnxruntime", "starlette"})
    assert found["mb"] == pytest.approx(sum(each["mb"] for each in found["packages"]))
    assert all(each["mb"] > 0.05 for each in found["packages"])  # ours too, though its sources lie elsewhere
    kinds = ["python, bare", *(f"import {name}" for name in install.IMPORTS), "engram --help", install.FIRST]
    assert [each["what"] for each in found["starts"]] == kinds
    shown = install.table(found)
    for words in ("numpy", "packages", "aim below 60 MB", "wheel: not built", "engram --help", "ratio"):
        assert words in shown


def test_the_wiki_benchmark_measures_each_size_with_and_without_a_model() -> None:
    rows: list[dict[str, Any]] = json.loads(run("-m", "benchmarks.wiki", "--quick", "--json"))
    assert [row["articles"] for row in rows] == [10, 100]
    assert all(row[figure] > 0 for row in rows for figure in ("cpu", "files", "cpu_model", "files_model", "tokens"))
    assert rows[0]["files"] == rows[1]["files"]


def test_the_dream_benchmark_measures_a_new_day_in_stores_of_each_age() -> None:
    rows: list[dict[str, Any]] = json.loads(run("-m", "benchmarks.dream", "--quick", "--json"))
    assert [(row["months"], row["sessions"]) for row in rows] == [(1, 60), (2, 120)]
    assert all(row[figure] > 0 for row in rows for figure in ("cpu", "idle"))
    assert all({"ingest", "flush", "gist", "integrate", "compile"} <= set(row["steps"]) for row in rows)


def test_the_statistics_of_measure_are_simulated_from_end_to_end() -> None:
    found = json.loads(run("-m", "benchmarks.measure", "--quick", "--json"))
    assert set(found) == {"coverage", "false alarms", "power"}
    assert 0.93 <= found["coverage"]["mean"] <= 0.99
    assert found["false alarms"]["mean"] <= 0.05


def test_the_pattern_benchmark_measures_each_size_and_what_new_sessions_cost() -> None:
    rows: list[dict[str, Any]] = json.loads(run("-m", "benchmarks.patterns", "--quick", "--json"))
    assert [row["stored"] for row in rows] == list(patterns.QUICK[0])
    assert all(row[figure] > 0 for row in rows for figure in ("seconds", "cpu", "new_cpu", "candidates"))
    assert "aim: at most" in patterns.table(rows)


def test_the_dashboard_benchmark_asks_for_every_page_of_both_stores() -> None:
    found = json.loads(run("-m", "benchmarks.dashboard", "--quick", "--json"))
    small, large = found["pages"]
    assert {"Now", "Sessions", "Search", "Wiki", "Timeline", "Patterns", "Health"} <= set(large) & set(small)
    assert all(row["median"] > 0 and row["size"] > 500 for row in large.values())
