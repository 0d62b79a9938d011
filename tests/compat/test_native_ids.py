"""The id an agent gave its session stands for ours wherever a session is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, InvalidInput, NotFound
from engram.operation import list_operations
from engram.surfaces import signature
from tests.surfaces.conftest import Run, run
from tests.surfaces.http.calling import Caller
from tests.wiki.test_import_memoria import CONCEPT

__all__ = ["run"]

NATIVE = "8f14e45f-ceea-467f-a8f0-3c1d5b2e9a10"
ROUTER = "/data/router.py"
NAMES = ("session_id", "session", "sender", "to", "updated_by", "exclude_session", "made_of")

# Each operation that names a session: how it is called, and what shows that the right session was meant.
CALLS: dict[str, Callable[[Engram, str], Any]] = {
    "heartbeat": lambda e, s: e.heartbeat(s, "on"),
    "log": lambda e, s: e.log(s, "an entry"),
    "get_session_logs": lambda e, s: e.get_session_logs(s),
    "get_session": lambda e, s: e.get_session(s),
    "lock_resource": lambda e, s: e.lock_resource(s, ROUTER),
    "lock_resources": lambda e, s: e.lock_resources(s, [ROUTER]),
    "check_locks": lambda e, s: e.check_locks(ROUTER, s),
    "check_edit": lambda e, s: e.check_edit(s, ROUTER),
    "release_resource": lambda e, s: e.release_resource(s, ROUTER),
    "release_all": lambda e, s: e.release_all(s),
    "send": lambda e, s: (e.send(s, s, "to myself"), e.send(s, "all", "to all", project="/p")),
    "inbox": lambda e, s: (e.inbox(s, peek=True), e.inbox(s, everything=True), e.inbox(s)),
    "situation": lambda e, s: e.situation(s),
    "get_situation_report": lambda e, s: e.get_situation_report(s),
    "set_world_state": lambda e, s: e.set_world_state("The state", s),
    "remember": lambda e, s: e.remember(s, "user", "The gateway listens on port 8040."),
    "add_exchanges_bulk": lambda e, s: e.add_exchanges_bulk(s, [{"role": "user", "content": "a", "at": 1}]),
    "ensure_session": lambda e, s: e.ensure_session(s),
    "recent": lambda e, s: e.recent(s),
    "history": lambda e, s: e.history(s),
    "recall": lambda e, s: (e.recall("gateway", session_id=s), e.recall("gateway", exclude_session=s)),
    "recall_summaries": lambda e, s: e.recall_summaries("gateway", exclude_session=s),
    "context": lambda e, s: (e.context(session_id=s), e.context("Which port has the gateway?", session_id=s)),
    "store_summary": lambda e, s: e.store_summary(s, "The gist"),
    "get_summary": lambda e, s: e.get_summary(s),
    "unsummarized_count": lambda e, s: e.unsummarized_count(s),
    "summarize": lambda e, s: e.summarize(s, force=True),
    "set_profile": lambda e, s: e.set_profile("A fact", made_of=[s]),
    "set_narrative": lambda e, s: e.set_narrative("An arc", made_of=[s]),
    "cost": lambda e, s: e.cost(session=s),
    "list_episodes": lambda e, s: e.list_episodes(s),
    "list_decisions": lambda e, s: e.list_decisions(session=s),
    "list_open_items": lambda e, s: e.list_open_items(session=s),
    "list_pushed": lambda e, s: e.list_pushed(session=s),
    "flush": lambda e, s: e.flush(s),
    "get_mentions": lambda e, s: e.get_mentions(s),
    "get_children": lambda e, s: e.get_children(s),
    "complete": lambda e, s: e.complete(s, "Done"),
    "delete_session": lambda e, s: e.delete_session(s),
}
CAPTURED = {"get_digest", "set_outcome", "get_capture", "get_events", "get_outline", "locate_event"}


def test_the_table_names_every_operation_that_takes_a_session() -> None:
    taking = {each.name for each in list_operations() if any(p.name in NAMES for p in signature.list_parameters(each))}
    assert taking - CAPTURED - {"merge_patterns"} == set(CALLS)


def test_every_operation_takes_the_agents_own_id(engram: Engram) -> None:
    ours = engram.register("claude-code", "Working", flavor="claude", native_id=NATIVE, project="/p")
    for name, call in CALLS.items():
        answer = call(engram, NATIVE)
        assert f"session_id='{NATIVE}'" not in repr(answer), name
    assert ours not in [each.id for each in engram.get_active_sessions()]
    with pytest.raises(NotFound):
        engram.get_session(ours)


def test_what_is_done_under_the_agents_id_is_done_by_our_session(engram: Engram) -> None:
    ours = engram.register("codex", "Working", flavor="codex", native_id=NATIVE)
    engram.log(NATIVE, "an entry")
    engram.lock_resource(NATIVE, ROUTER)
    engram.remember(NATIVE, "user", "The gateway listens on port 8040.")
    assert [each.entry for each in engram.get_session_logs(ours)] == ["an entry"]
    assert [each.session_id for each in engram.check_locks(ROUTER)] == [ours]
    assert [each.session_id for each in engram.history(ours)] == [ours]
    assert engram.set_world_state("State", NATIVE).updated_by == ours
    engram.complete(NATIVE, "Done")
    assert (engram.get_session(ours).status, engram.check_locks(ROUTER)) == ("completed", [])
    assert engram.get_session(NATIVE[:13]).id == ours


def test_an_id_that_two_agents_use_is_refused_with_both(engram: Engram) -> None:
    one = engram.register("claude-code", "One", flavor="claude", native_id=NATIVE)
    two = engram.register("codex", "Two", flavor="codex", native_id=NATIVE)
    for call in (engram.get_session, lambda s: engram.log(s, "x"), engram.release_all):
        with pytest.raises(InvalidInput) as caught:
            call(NATIVE)
        assert one in str(caught.value)
        assert two in str(caught.value)
    with pytest.raises(InvalidInput):
        engram.get_session(NATIVE[:8])


def test_an_unknown_id_is_still_not_found_and_our_own_id_comes_first(engram: Engram) -> None:
    ours = engram.register("claude-code", "One", flavor="claude")
    engram.register("codex", "Two", flavor="codex", native_id=ours)
    assert engram.get_session(ours).summary == "One"
    with pytest.raises(NotFound):
        engram.log(NATIVE, "x")
    with pytest.raises(NotFound):
        engram.get_session("nothing")


def test_the_command_line_and_http_take_it_too(tmp_path: Path, run: Run) -> None:
    with Engram() as engram:
        ours = engram.register("claude-code", "Working", flavor="claude", native_id=NATIVE)
        run("log", "an entry", "-s", NATIVE)
        run("lock", ROUTER, ENGRAM_SESSION=NATIVE)
        run("remember", "The gateway listens on 8040.", "-s", NATIVE)
        assert ours in run("show", NATIVE).stdout
        assert [each.entry for each in engram.get_session_logs(ours)] == ["an entry"]
        caller = Caller(engram)
        assert caller.post("get_session", session_id=NATIVE).json()["id"] == ours
        assert caller.post("log", session_id=NATIVE, entry="another").json()["session_id"] == ours
        assert len(engram.history(ours)) == 1


def test_recall_over_an_imported_wiki_answers_and_never_says_that_nothing_is_remembered(
    tmp_path: Path, run: Run
) -> None:
    page = tmp_path / "memoria" / "knowledge" / "concepts" / "zeppelin-gateway.md"
    page.parent.mkdir(parents=True)
    page.write_text(CONCEPT)
    run("import", "memoria", str(tmp_path / "memoria"))
    hits = json.loads(run("recall", "zeppelin gateway port", "--json").stdout)
    assert [hit["tier"] for hit in hits] == ["article"]
    assert "8040" in run("recall", "zeppelin gateway port").stdout
    assert "Nothing is remembered" not in run("recall", "quantum chromodynamics lattice").stdout
