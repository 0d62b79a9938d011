"""Captured messages are found, and shown with their place."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import Engram
from engram.errors import InvalidInput, TooLarge
from engram.platform.text import count_tokens
from engram.search import candidates
from tests.capture.transcripts import Claude
from tests.summaries.talking import said


def call(home: Path, given: Any) -> None:
    """Let an agent call a tool."""
    work = Claude(home)
    block = {"type": "tool_use", "id": "toolu_1", "name": "Patch", "input": given}
    work.write(work.record("assistant", message={"id": "msg_1", "role": "assistant", "content": [block]}))


@pytest.mark.parametrize(
    "arguments",
    [
        "mend the login form",
        ["mend", "the login form"],
        {"edits": [{"path": "a.py", "change": {"to": "mend the login form"}}], "again": None, "times": 3},
    ],
)
def test_a_call_is_shown_whatever_it_was_given(engram: Engram, home: Path, arguments: Any) -> None:
    call(home, arguments)
    engram.ingest()
    (hit,) = engram.recall("login")
    assert "the login form" in hit.snippet


# ---- Filters


@pytest.fixture
def two(engram: Engram, home: Path) -> Engram:
    """A store with two captured sessions and a remembered one."""
    billing = Claude(home, cwd="/home/me/billing")
    billing.says("Mend the redis cache of the invoices.")
    billing.edits("/home/me/billing/src/invoice.py")
    billing.runs("pytest -q", "4 passed in 0.1s")
    billing.answers("The redis cache of the invoices works again.")
    shop = Claude(home, cwd="/home/me/shop")
    shop.says("Why is the redis cache of the basket slow?")
    shop.answers("The redis cache of the basket has no index.")
    engram.ingest()
    engram.remember("notes", "user", "Our redis cache costs nine euros a month.")
    return engram


def sessions(hits: list[Any]) -> set[str]:
    return {hit.session_id for hit in hits}


def test_hits_can_be_asked_of_one_project_flavor_session_or_role(two: Engram) -> None:
    everything = two.recall("redis cache", k=20)
    assert len(sessions(everything)) == 3
    billing = two.recall("redis cache", k=20, project="/home/me/billing")
    assert {hit.project for hit in billing} == {"/home/me/billing"}
    assert {hit.flavor for hit in two.recall("redis cache", k=20, flavor="chat")} == {"chat"}
    (one,) = sessions(billing)
    assert sessions(two.recall("redis cache", k=20, session_id=one)) == {one}
    assert one not in sessions(two.recall("redis cache", k=20, exclude_session=one))
    assert sessions(two.recall("redis cache", k=20, session_id=one[:-3])) == {one}
    assert {hit.role for hit in two.recall("redis cache", k=20, role="assistant")} == {"assistant"}


def test_hits_can_be_asked_of_sessions_by_outcome_file_and_tool(two: Engram) -> None:
    (billing,) = sessions(two.recall("redis cache", k=20, project="/home/me/billing"))
    two.set_outcome(billing, "success")
    assert sessions(two.recall("redis cache", k=20, outcome="success")) == {billing}
    assert sessions(two.recall("redis cache", k=20, file="invoice.py")) == {billing}
    assert sessions(two.recall("redis cache", k=20, tool="Bash")) == {billing}
    assert two.recall("redis cache", k=20, tool="Nothing") == []
    assert two.recall("redis cache", k=20, session_id="nobody", file="invoice.py") == []


def test_hits_can_be_asked_of_tiers(two: Engram) -> None:
    two.summarize()
    assert {hit.tier for hit in two.recall("redis cache", k=30, tiers=["exchange"])} == {"exchange"}
    assert {hit.tier for hit in two.recall("redis cache", k=30, tiers=["gist", "digest"])} <= {"gist", "digest"}
    assert {hit.tier for hit in two.recall_summaries("redis cache")} == {"gist"}
    with pytest.raises(InvalidInput, match="Choose one of: exchange, gist"):
        two.recall("redis", tiers=["gists"])


MARCH, MAY = "2026-03-10T12:00:00+00:00", "2026-05-10T12:00:00+00:00"
ASKED = "2026-05-12T12:00:00+00:00"


@pytest.fixture
def dated(engram: Engram) -> Engram:
    said(engram, "march", MARCH, "The redis cache was moved in the morning.")
    said(engram, "may", MAY, "The redis cache was emptied in the evening.")
    return engram


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ({"since": "7d"}, {"may"}),
        ({"since": "72h"}, {"may"}),
        ({"since": "1w"}, {"may"}),
        ({"until": "7d"}, {"march"}),
        ({"since": "2026-05-01"}, {"may"}),
        ({"until": "2026-05-01"}, {"march"}),
        ({"since": "2026-05-10T11:59:59+00:00"}, {"may"}),
        ({"since": "2026-05-10T12:00:01+00:00"}, set()),
        ({"since": "2026-05-10T12:00:01"}, set()),
        ({"until": MAY}, {"march"}),
        ({"since": "last week"}, {"may"}),
        ({"since": "in March"}, {"march", "may"}),
        ({"since": "in March", "until": "in April"}, {"march"}),
        ({"since": "", "until": None}, {"march", "may"}),
    ],
)
def test_hits_can_be_asked_of_a_time(dated: Engram, edges: dict[str, Any], found: set[str]) -> None:
    assert sessions(dated.recall("redis cache", k=10, now=ASKED, **edges)) == found


@pytest.mark.parametrize("edge", ["soon", "999999w", "²d", "-3d", "7x", "2026-13-45", "  ", "\0"])
def test_what_is_no_time_is_refused(dated: Engram, edge: str) -> None:
    with pytest.raises(InvalidInput, match=r"Cannot read .* as a time"):
        dated.recall("redis", since=edge)


@pytest.mark.parametrize("now", ["soon", "", "0001-01-01", "9999-12-31T23:59:59"])
def test_nobody_asks_at_no_time(dated: Engram, now: str) -> None:
    with pytest.raises(InvalidInput, match=r"Cannot read .* as a time|out of range"):
        dated.recall("redis last week", now=now)


def test_words_of_time_raise_what_was_said_then(dated: Engram) -> None:
    assert dated.recall("redis cache", now=ASKED)[0].why.get("time") is None
    first = dated.recall("what about the redis cache in March", now=ASKED)[0]
    assert (first.session_id, first.why["time"]) == ("march", 1.0)
    assert dated.recall("what about the redis cache last week", now=ASKED)[0].session_id == "may"


@pytest.mark.parametrize(("wrong", "field"), [({"k": 0}, "k"), ({"by": "day"}, "by"), ({"budget": 0}, "budget")])
def test_a_wrong_wish_is_refused_with_its_name(engram: Engram, wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        engram.recall("redis", **wrong)


# ---- Queries


def test_a_phrase_is_found_only_as_it_stands(engram: Engram) -> None:
    engram.remember("a", "user", "The cache of redis was cleared.")
    engram.remember("b", "user", "We cleared the Redis\n  cache today.")
    assert sessions(engram.recall('"redis cache"')) == {"b"}
    assert sessions(engram.recall('cleared "the redis cache"')) == {"b"}
    assert engram.recall('"redis cleared"') == []
    assert engram.recall('"redis cache" "never said"') == []


def test_a_beginning_finds_every_word_that_begins_so(engram: Engram) -> None:
    engram.remember("a", "user", "The connection_pool is too small.")
    engram.remember("b", "user", "Connectors are made of brass.")
    engram.remember("c", "user", "We conceded the second goal.")
    assert sessions(engram.recall("conn*", k=10)) >= {"a", "b"}
    assert {hit.session_id for hit in engram.recall("conn*", k=10) if hit.why.get("doc")} == {"a", "b"}


def test_a_short_hash_finds_the_long_one(engram: Engram) -> None:
    engram.remember("a", "assistant", "Committed as 3f2a9c1d0be84f6c2a7e5b9d8c1f0a3e4d5b6c7a.")
    engram.remember("b", "assistant", "Committed as 9b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c.")
    assert engram.recall("3f2a9c1")[0].session_id == "a"
    assert engram.recall("what did 9b1c2d3e change?")[0].session_id == "b"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("retry count", "Set retry_count to 5 in the worker."),
        ("HTTPServer", "The http server answers 502."),
        ("E0308", "rustc says error[E0308]: mismatched types"),
        ("src/app/login.py", "I broke src/app/login.py again."),
        ("login.py", "I broke src/app/login.py again."),
        ("数据库", "我们修复了数据库连接的错误"),
        ("café", "We met in the Cafe Central."),
    ],
)
def test_names_in_code_and_other_scripts_are_found(engram: Engram, asked: str, text: str) -> None:
    engram.remember("a", "assistant", text)
    engram.remember("b", "user", "Lunch on friday is at the harbour.")
    assert engram.recall(asked)[0].session_id == "a"


QUERIES = st.one_of(
    st.text(st.characters(codec=None), max_size=80),
    st.text(st.sampled_from('"*()^:-+~<>{}[]\\/\'%_;,.?!& |\0\n\tabAB09éß数💥\u200d\U0010ffff\ud7ff'), max_size=60),
    st.lists(st.sampled_from(["AND", "OR", "NOT", "NEAR", "redis", '"redis cache"', "con*", "*", "last week"]))
    .map(" ".join),
)  # fmt: skip


def test_any_text_is_a_question(engram: Engram) -> None:
    engram.remember("a", "user", "We cleared the redis cache; it connects to 数据库 again in May.")

    @settings(max_examples=120, deadline=None)
    @given(QUERIES)
    def ask(query: str) -> None:
        for abstain in (True, False):
            assert len(engram.recall(query, abstain=abstain)) <= 5

    ask()


@pytest.mark.parametrize(
    "query",
    [
        "redis " * 17_000,
        "".join(f"word{n} " for n in range(12_000)),
        "".join(f"b{n}* " for n in range(15_000)),
        "".join(f"{n:06x}a1 " for n in range(11_000)),
        '"x y" ' * 17_000,
        "数" * 30_000,
        "a" * 100_000,
        "ab\U0010ffff* ab\ud7ff* \ud800* \0*",
    ],
    ids=["same", "words", "beginnings", "hashes", "phrases", "han", "blob", "edges"],
)
def test_a_hundred_kilobytes_are_a_question(engram: Engram, query: str) -> None:
    engram.remember("a", "user", "We cleared the redis cache, word7 and b7.")
    assert len(engram.recall(query, abstain=False)) <= 5


def test_a_question_larger_than_a_page_is_refused(engram: Engram) -> None:
    with pytest.raises(TooLarge):
        engram.recall("x" * 1_100_000)


# ---- Results


def test_nothing_comes_where_nobody_spoke_of_it(engram: Engram) -> None:
    talk = ["We cleared the redis cache.", "The invoices are sent on mondays.", "Deploys need two approvals."]
    for n, text in enumerate(talk):
        engram.remember(f"s{n}", "user", text)
    assert engram.recall("submarine periscope maintenance") == []
    nearest = engram.recall("submarine periscope maintenance", abstain=False, tiers=["exchange"])
    assert all(hit.why["cover"] == 0 for hit in nearest)
    assert engram.recall("redis cache")[0].session_id == "s0"


def test_a_hit_says_where_it_comes_from_and_why(engram: Engram) -> None:
    engram.ensure_session("billing", "The billing rework")
    said(engram, "billing", MARCH, "How do we cache invoices?", "With redis, for an hour.")
    hit = engram.recall("redis hour")[0]
    assert (hit.id, hit.tier, hit.session_id) == (f"x{hit.exchange}", "exchange", "billing")
    assert (hit.role, hit.origin, hit.turn, hit.flavor) == ("assistant", "assistant", 1, "chat")
    assert (hit.asked, hit.summary) == ("How do we cache invoices?", "The billing rework")
    assert (hit.state, hit.superseded_by, hit.copies) == ("current", None, 0)
    assert hit.at is not None
    assert hit.at.isoformat() == "2026-03-10T12:01:00+00:00"
    assert hit.snippet == "With redis, for an hour."
    assert {"doc", "turn", "cover", "near"} <= set(hit.why)
    assert 0 < hit.score <= 1.5


def test_a_captured_hit_names_its_event(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Mend the redis cache.")
    engram.ingest()
    hit = next(hit for hit in engram.recall("redis cache", messages=True) if hit.tier == "exchange")
    assert hit.event is not None
    assert (hit.flavor, hit.project, hit.origin) == ("claude", "/home/me/app", "user")


def test_a_newer_statement_stands_above_the_one_it_replaces(engram: Engram) -> None:
    said(engram, "old", MARCH, "The deploy key of billing lives in vault.")
    said(engram, "new", MAY, "The deploy key of billing lives in doppler now.")
    first, second = engram.recall("where does the deploy key of billing live", tiers=["exchange"])
    assert (first.session_id, first.state) == ("new", "current")
    assert (second.session_id, second.state, second.superseded_by) == ("old", "superseded", first.id)
    assert first.score > second.score


def test_statements_about_different_things_do_not_replace_each_other(engram: Engram) -> None:
    said(engram, "one", MARCH, "The staging server of billing has the address 10.0.0.7.")
    said(engram, "other", MAY, "The production server of billing has the address 10.0.0.9.")
    first = engram.recall("address of the staging server of billing", tiers=["exchange"])[0]
    assert (first.session_id, first.state) == ("one", "current")


def test_what_says_the_same_comes_once_with_a_count(engram: Engram) -> None:
    for n in range(4):
        engram.remember(f"s{n}", "user", "We cleared the redis cache." if n != 2 else "Redis has no password.")
    hits = engram.recall("redis cache", tiers=["exchange"])
    assert next((hit.snippet, hit.copies) for hit in hits) == ("We cleared the redis cache.", 2)
    assert len([hit for hit in hits if hit.snippet.startswith("We cleared")]) == 1


def test_sessions_can_be_asked_for_each_by_its_best(engram: Engram) -> None:
    said(engram, "much", MARCH, "We cleared the redis cache.", "Redis is empty.", "Clear redis again.", "Redis done.")
    said(engram, "little", MAY, "The redis password is in vault.")
    hits = engram.recall("redis", by="session", k=10)
    assert sorted(str(hit.session_id) for hit in hits) == ["little", "much"]


def test_no_more_come_than_are_asked_for(engram: Engram) -> None:
    for n in range(12):
        engram.remember(f"s{n}", "user", f"Redis number{n} serves region{n} with profile{n} and owner{n}.")
    for k in (1, 3, 12):
        assert len(engram.recall("redis serves", k=k, tiers=["exchange"])) == k
    assert len(engram.recall("redis serves")) == 5


def test_hits_stay_within_a_budget(engram: Engram) -> None:
    for n in range(8):
        engram.remember(f"s{n}", "user", f"Redis number{n} serves region{n}. " * (n + 1))
    whole = engram.recall("redis serves", k=8)
    for budget in (1, 20, 60, 150, 10_000):
        hits = engram.recall("redis serves", k=8, budget=budget)
        assert sum(count_tokens(hit.snippet) for hit in hits) <= budget
        assert hits == whole[: len(hits)]
    assert engram.recall("redis serves", k=8, budget=10_000) == whole


def test_the_order_is_always_the_same(engram: Engram) -> None:
    for n in range(10):
        engram.remember(f"s{n}", "user", f"Redis serves region{n} of the shop.")
    first = engram.recall("redis region", k=10)
    assert all(engram.recall("redis region", k=10) == first for _ in range(3))
    assert [hit.score for hit in first] == sorted((hit.score for hit in first), reverse=True)


def test_the_words_of_a_tool_result_are_found(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Run the tests.")
    work.runs("make check", "ORA-00942: table INVOICES does not exist", code=2)
    engram.ingest()
    hit = next(hit for hit in engram.recall("ORA-00942", messages=True) if hit.tier == "event")
    assert (hit.tier, hit.origin, hit.id) == ("event", "tool", f"e{hit.event}")
    assert "ORA-00942: table INVOICES does not exist" in hit.snippet
    assert [hit.tier for hit in engram.recall("ORA-00942", tiers=["event"])] == ["event"]
    assert "event" not in {hit.tier for hit in engram.recall("ORA-00942", tiers=["exchange"], abstain=False)}


def test_an_event_is_found_within_its_project_however_many_others_hold_its_words(
    engram: Engram, home: Path
) -> None:  # fmt: skip
    for n in range(25):
        work = Claude(home, cwd="/home/me/shop")
        work.runs("make check", f"ORA-00942: table number {n}")
    wanted = Claude(home, cwd="/home/me/billing")
    wanted.runs("make check", "a long log of many lines\n" * 20 + "ORA-00942: table INVOICES")
    engram.ingest()
    hits = engram.recall("ORA-00942", k=3, project="/home/me/billing", messages=True)
    assert [hit.project for hit in hits if hit.tier == "event"] == ["/home/me/billing"]


def test_everything_is_said_to_be_empty_in_an_empty_store(engram: Engram) -> None:
    """LY-048: an empty list for an empty store."""
    assert engram.recall("anything at all") == []
    assert engram.recall("anything", abstain=False, by="session") == []
    assert engram.recall_eras("anything") == engram.recall_summaries("anything") == []


def test_the_asking_session_can_be_left_out(engram: Engram) -> None:
    """LY-B13: otherwise the prompt just stored is its own best match."""
    engram.remember("now", "user", "Where is the deploy key of billing?")
    engram.remember("then", "user", "The deploy key of billing is in vault.")
    hits = engram.recall("Where is the deploy key of billing?", exclude_session="now")
    assert sessions(hits) == {"then"}


def test_a_large_store_is_answered_as_a_small_one(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(12):
        said(engram, f"s{n}", MARCH, f"Where does redis number{n} run?", f"In region{n}, under profile{n}.")
    asked = ["redis number7", "region3", "profile11", "where does redis run"]
    small = [engram.recall(query, k=3) for query in asked]
    monkeypatch.setattr(candidates, "_FEW", 0)
    assert [engram.recall(query, k=3) for query in asked] == small
    monkeypatch.setattr(candidates, "_BEST", 2)
    assert [engram.recall(query, k=1)[0].session_id for query in asked[:3]] == ["s7", "s3", "s11"]


def test_threads_of_one_process_ask_while_others_remember(engram: Engram) -> None:
    engram.remember("first", "user", "The hoopoe is a bird as well.")
    engram.recall("hoopoe")

    def remember(name: str) -> None:
        for n in range(25):
            engram.remember(name, "user", f"Message {n} of {name} speaks of region{n}.")
            engram.recall(f"region{n}")

    def ask(_: str) -> set[str]:
        return {hit.snippet for _ in range(25) for hit in engram.recall("hoopoe", k=1)}

    with ThreadPoolExecutor(4) as threads:
        written = [threads.submit(remember, name) for name in "ab"]
        asked = [threads.submit(ask, name) for name in "cd"]
        for each in written:
            each.result()
        assert [each.result() for each in asked] == [{"The hoopoe is a bird as well."}] * 2
