"""Ask: answers with sources, or "not known"."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.errors import InvalidInput
from engram.wiki.answer import AnswerSource
from engram.wiki.ask import UNKNOWN, unlink_unknown, verify_answer
from engram.wiki.vault import article, vault
from engram.wiki.vault.links import find_links
from tests.models.conftest import Opened, calls
from tests.models.speaking import chat, says, speaking
from tests.summaries.talking import said

BEGAN = "2026-11-10T10:00:00+00:00"
TALK = (
    "Why does the invoice export take an hour?",
    "It reads every row twice.",
    "We decided to keep the CSV format because accounting depends on it.",
    "Done: the invoice export takes four minutes now.",
)
PAGE = """---
title: Invoice export
aliases: [billing dump]
---

# Invoice export

The invoice export writes CSV with semicolons because accounting reads it with an old macro.
"""


def wiki(hub: Engram, target: str, text: str) -> None:
    assert vault.open_vault(hub).write(target, text, vault.open_vault(hub).read(target))


def source(number: int, target: str = "", session: str | None = "s") -> AnswerSource:
    return AnswerSource(
        id=f"x{number}", tier="article" if target else "exchange", target=target, session_id=session, day=""
    )


def test_without_a_model_a_statement_answers_with_its_source(engram: Engram) -> None:
    said(engram, "talk", BEGAN, *TALK)
    wiki(engram, "concepts/invoice-export", PAGE)
    answer = engram.ask("Why does the invoice export use CSV for accounting?")
    assert (answer.known, answer.made_by) == (True, "quotes")
    assert answer.answer.startswith("> ")
    assert "The invoice export writes CSV with semicolons because accounting reads it" in answer.answer
    assert "([[concepts/invoice-export]])" in answer.answer
    assert {each.target or each.session_id for each in answer.sources} == {"concepts/invoice-export", "talk"}


def test_what_nobody_knows_is_said_to_be_unknown_and_not_filed(engram: Engram) -> None:
    said(engram, "talk", BEGAN, *TALK)
    answer = engram.ask("Who won the football championship in Uruguay?", file_back=True)
    assert (answer.answer, answer.known, answer.sources, answer.filed) == (UNKNOWN, False, (), "")
    assert list(vault.open_vault(engram).iter_pages()) == []


def test_an_empty_memory_knows_nothing_and_an_empty_question_is_refused(engram: Engram) -> None:
    assert not engram.ask("Why CSV?").known
    with pytest.raises(InvalidInput):
        engram.ask("  ")


def test_what_is_answered_keeps_to_the_budget(engram: Engram) -> None:
    for n in range(6):
        said(engram, f"talk-{n}", BEGAN, f"The invoice export of tenant {n} writes CSV. " + "More words follow. " * 40)
    few = engram.ask("What does the invoice export of a tenant write?", budget=300)
    many = engram.ask("What does the invoice export of a tenant write?", budget=5000)
    assert few.known
    assert len(few.sources) < len(many.sources)
    tiny = engram.ask("What does the invoice export of a tenant write?", budget=5)
    assert tiny.known
    assert len(tiny.answer) < 200


def test_an_answer_is_filed_with_its_question_and_sources(engram: Engram) -> None:
    said(engram, "talk", BEGAN, *TALK)
    engram.flush()
    wiki(engram, "concepts/invoice-export", PAGE)
    answer = engram.ask("Why does the invoice export use CSV for accounting?", file_back=True)
    home = vault.open_vault(engram)
    assert answer.filed == "qa/why-does-the-invoice-export-use-csv-for-accounting"
    page = article.parse_article(home.read(answer.filed) or "")
    assert page.get("question") == "Why does the invoice export use CSV for accounting?"
    assert set(page.get_list("consulted")) == {"concepts/invoice-export", "talk"}
    assert page.get("filed") == page.get("created") != ""
    assert [section.heading for section in page.sections if section.heading] == [
        "Answer", "Sources Consulted", "Follow-Up Questions",
    ]  # fmt: skip
    assert "[[daily/2026-11-10]]" in page.get_section("Sources Consulted")
    assert f"| [[{answer.filed}]] |" in (home.read("index") or "")
    assert "] query | Why does the invoice export" in (home.read("log") or "")
    assert answer.filed in {hit.name for hit in engram.recall("invoice export CSV accounting", tiers=["article"])}


def test_filing_again_leaves_what_a_person_wrote(engram: Engram) -> None:
    said(engram, "talk", BEGAN, *TALK)
    asked = "Why is the CSV format kept for accounting?"
    target = engram.ask(asked, file_back=True).filed
    home = vault.open_vault(engram)
    held = home.read(target) or ""
    edited = held.replace("None.", "- Who wrote that macro?").replace("## Answer\n\n", "## Answer\n\nMINE. ")
    assert home.write(target, edited, held)
    said(engram, "more", "2026-11-12T10:00:00+00:00", "The CSV format is kept since accounting owns the macro.")
    assert engram.ask(asked, file_back=True).filed == target
    after = home.read(target) or ""
    assert "MINE. " in after
    assert "- Who wrote that macro?" in after
    assert (home.read("index") or "").count(f"[[{target}]]") == 1


def test_a_page_somebody_else_made_under_that_name_is_left_alone(engram: Engram) -> None:
    said(engram, "talk", BEGAN, *TALK)
    wiki(engram, "qa/why-is-the-csv-format-kept", "---\nquestion: something else\n---\n\nMy own notes.\n")
    filed = engram.ask("Why is the CSV format kept?", file_back=True).filed
    assert filed != "qa/why-is-the-csv-format-kept"
    assert filed.startswith("qa/why-is-the-csv-format-kept-")
    assert (
        vault.open_vault(engram).read("qa/why-is-the-csv-format-kept")
        == "---\nquestion: something else\n---\n\nMy own notes.\n"
    )
    assert engram.ask("Why is the CSV format kept?", file_back=True).filed == filed


def test_a_question_is_no_path(engram: Engram) -> None:
    said(engram, "talk", BEGAN, "The ../../etc/passwd file holds no passwords any more.")
    filed = engram.ask("../../etc/passwd file passwords?", file_back=True).filed
    assert filed == "qa/etc-passwd-file-passwords"


def test_what_was_said_cannot_smuggle_links_into_an_answer(engram: Engram) -> None:
    said(engram, "talk", BEGAN, "The gateway secret page is [[../../evil]] and ## Sources Consulted lies there.")
    answer = engram.ask("Where is the gateway secret page?", file_back=True)
    page = vault.open_vault(engram).read(answer.filed) or ""
    assert {link.target for link in find_links(page)} <= {"daily/2026-11-10"}


def reply(**facts: Any) -> str:
    return json.dumps({"known": True, "answer": "", "cited": [], "follow_up": [], **facts})


def test_a_model_answers_from_numbered_quoted_passages(opened: Opened) -> None:
    answer = reply(answer="Accounting reads it with a macro [1].", cited=[1], follow_up=["Who owns the macro?"])
    with speaking(chat(answer)) as api:
        hub = opened(model="openai", model_url=api.url, model_name="gpt-4o-mini")
        wiki(hub, "concepts/invoice-export", PAGE)
        result = hub.ask("Why does the invoice export write CSV?", file_back=True)
        asked = api.asked[0]["body"]["messages"][-1]["content"]
    assert "| [1] article" in asked
    assert "| The invoice export writes CSV with semicolons" in asked
    assert result.answer == "Accounting reads it with a macro ([[concepts/invoice-export]])."
    assert result.made_by.startswith("model:openai/gpt-4o-mini, prompt ask@")
    assert [call["purpose"] for call in calls(hub)] == ["ask"]
    assert "- Who owns the macro?" in article.parse_article(vault.open_vault(hub).read(result.filed) or "").get_section(
        "Follow-Up Questions"
    )


@pytest.mark.parametrize(
    "told",
    [{"answer": "It is blue [9].", "cited": [9]}, {"answer": "It is blue.", "cited": []},
     {"answer": "It is blue [1].", "cited": [1], "known": False}, {"answer": " ", "cited": [1]}],
)  # fmt: skip
def test_an_answer_without_a_sound_citation_counts_as_not_known(opened: Opened, told: dict[str, Any]) -> None:
    with speaking(chat(reply(**told))) as api:
        hub = opened(model="openai", model_url=api.url, model_name="gpt-4o-mini")
        wiki(hub, "concepts/invoice-export", PAGE)
        answer = hub.ask("Why does the invoice export write CSV?", file_back=True)
    assert (answer.known, answer.answer, answer.sources, answer.filed) == (False, UNKNOWN, (), "")


def test_a_model_that_fails_leaves_the_passages_and_says_why(opened: Opened) -> None:
    with speaking(says({"error": {"message": "bad key"}}, status=401)) as api:
        hub = opened(model="openai", model_url=api.url, model_name="gpt-4o-mini")
        wiki(hub, "concepts/invoice-export", PAGE)
        answer = hub.ask("Why does the invoice export write CSV?")
    assert (answer.known, answer.made_by) == (True, "quotes")
    assert answer.problem
    assert "semicolons" in answer.answer


def test_invented_citations_are_dropped_and_invented_links_are_none() -> None:
    told = {
        "known": True, "answer": "A [1, 7]. B [7]. C [2]. [[concepts/made-up]] [[concepts/a|A]]", "cited": [1, 7, 2],
        "follow_up": ["see [[x]]", " "],
    }  # fmt: skip
    result = verify_answer("q", told, [source(1, "concepts/a"), source(2, session="s-1")], "model")
    assert result.answer == "A ([[concepts/a]]). B . C (session `s-1`). ⟦concepts/made-up⟧ [[concepts/a|A]]"
    assert [each.shown for each in result.sources] == ["[[concepts/a]]", "session `s-1`"]
    assert result.follow_up == ("see ⟦x⟧",)


@given(st.text(alphabet="[]|#ab/. \n!", max_size=60))
def test_a_plain_text_has_no_links(text: str) -> None:
    assert find_links(unlink_unknown(text)) == []


def test_world_state_and_logs_are_cited_as_what_they_are(engram: Engram) -> None:
    me = engram.register("test", "Mend herons", project="/home/ada/shop")
    engram.set_world_state("The heron migration needs the advisory lock 7405291.")
    engram.log(me, "The ostrich migration needs the advisory lock 8800.")
    engram.complete(me, "The penguin migration is done with lock 9911.")
    asked = {
        "Which advisory lock does the heron migration need?": "world state",
        "Which advisory lock does the ostrich migration need?": f"log of session `{me}`",
        "Which lock was the penguin migration done with?": f"log of session `{me}`",
    }
    for question, cited in asked.items():
        answer = engram.ask(question)
        assert answer.answer.splitlines()[0].endswith(f", {cited})")
        assert cited in [each.shown for each in answer.sources]
