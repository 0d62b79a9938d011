"""What a model writes is kept only where its names and numbers stand in what it was shown."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.summaries.grounding import keep_grounded
from tests.models.conftest import Opened
from tests.models.speaking import chat, speaking
from tests.summaries.talking import said

SOURCE = (
    "On 2026-11-01 Ada asked to move src/flour.py to Postgres 16.2; 12 of 1,204 tests failed, then passed in 3 s. "
    "Commit 4f0c2d1 on the branch fix/flour-dust uses `open_cursor()` of FlourStore. See D:\\mill\\notes.md."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Ada moved `src/flour.py` to Postgres 16.2.",
        "All 12 tests passed since November 1.",
        "It came down to 1204 tests.",
        "The work is on fix/flour-dust, commit 4f0c2d1.",
        "FlourStore opens its cursor once.",
        "They found the reason and went on.",
        "See D:/mill/notes.md for more.",
    ],
)
def test_what_the_source_says_is_kept(sentence: str) -> None:
    assert keep_grounded(sentence, SOURCE).text == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "It now uses Redis for the queue.",
        "Then 15 tests failed.",
        "The fix is in src/dough.py.",
        "Later Grace reviewed it.",
        "They call `close_cursor()` at the end.",
        "Postgres 17 is required.",
        "See commit 9e8d7c6b5a.",
    ],
)
def test_what_it_does_not_say_is_dropped(sentence: str) -> None:
    kept = keep_grounded(f"Ada asked for it. {sentence}", SOURCE)
    assert (kept.text, kept.kept, kept.dropped) == ("Ada asked for it.", 1, 1)


def test_headings_stay_and_a_list_loses_only_the_items_that_are_made_up() -> None:
    text = "### State\n\n- Ada asked for it.\n- Grace wrote 7 pages.\n\nDone."
    assert keep_grounded(text, SOURCE).text == "### State\n\n- Ada asked for it.\n\nDone."


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_checked_and_checking_twice_changes_nothing(text: str, source: str) -> None:
    once = keep_grounded(text, source)
    assert keep_grounded(once.text, source).text == once.text


def test_an_answer_without_a_supported_sentence_is_no_answer(opened: Opened) -> None:
    made_up = json.dumps({"summary": "Grace sold 7 mills to Ferdinand.", "decisions": [], "open": []})
    with speaking(chat(made_up)) as api:
        engram = opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1")
        said(engram, "one", "2026-03-01T10:00:00+00:00", "Please mend the mill.", "The mill runs again.")
        engram.summarize()
    gist = engram.get_summary("one")
    assert gist is not None
    assert not gist.made_by.startswith("model:")
    assert "Ferdinand" not in gist.content
