"""`engram model` and `engram cost --engram`, for people and scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.models.conftest import KEY
from tests.models.speaking import chat, says, speaking
from tests.models.standing_in import install, printing
from tests.surfaces.conftest import Run, run  # noqa: F401  the fixture


def test_without_a_model_it_says_how_to_choose_one(run: Run) -> None:  # noqa: F811
    assert "ENGRAM_MODEL" in run("model").stdout
    assert json.loads(run("model", "--json").stdout)["provider"] == "none"
    assert json.loads(run("model", "--try", "--json").stdout)["tried"] is False


def test_a_try_is_one_small_call_that_counts(
    run: Run,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(tmp_path / "bin", "claude", printing(result="ready"), monkeypatch)
    output = run("model", "--try", ENGRAM_MODEL="claude").stdout
    assert "✓ answered" in output
    assert "1 call, <$0.01 of $1.00" in output
    assert " try " in run("cost", "--engram").stdout
    (cost,) = json.loads(run("cost", "--engram", "--json").stdout)
    assert (cost["answers"], cost["money"]) == (1, 0.0011)
    assert "by day and purpose only" in run("cost", "--engram", "--by", "model", status=2).stderr


def test_whether_an_api_can_be_reached_is_found_out_without_a_call(run: Run) -> None:  # noqa: F811
    with speaking(says({"data": []}), says({"error": KEY}, 401), chat("ready")) as api:
        env = {"ENGRAM_MODEL": "openai", "ENGRAM_MODEL_NAME": "m", "ENGRAM_MODEL_URL": api.url, "TEST_KEY": KEY}
        env["ENGRAM_MODEL_KEY_VARIABLE"] = "TEST_KEY"
        assert "✓ reachable" in run("model", **env).stdout
        refused = run("model", **env).stdout
        assert "Check the key in TEST_KEY" in refused
        assert KEY not in refused
        assert json.loads(run("model", "--try", "--json", **env).stdout)["ready"] is True
    assert [request["path"] for request in api.asked] == ["/models", "/models", "/chat/completions"]
