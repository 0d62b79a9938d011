"""A pass: probes, steps in causal order, follow-up steps, budgets, and its result."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.clock import SECOND
from engram.dream import steps
from engram.dream.cycle import run_pass
from engram.store import documents, dream_inbox, dream_passes
from engram.summaries.eras import run_integration
from tests.conftest import ManualClock
from tests.models.conftest import Opened, calls
from tests.models.speaking import Api, chat, says, speaking
from tests.summaries.talking import said

ORDER = [step.name for step in steps.STEPS]
THOUGHTS: dict[str, dict[str, Any]] = {
    "gist": {"summary": "Moved the billing code to Rust.", "decisions": ["Rust it is"], "open": []},
    "flush": {"verdict": "keep", "context": "Billing in Rust.", "exchanges": [], "decisions": ["Rust"], "lessons": [],
              "actions": []},
    "era": {"era": "A month of Rust."},
    "profile": {"facts": ["Prefers Rust."]},
    "narrative": {"narrative": "The move to Rust goes on.", "threads": ["the tests"]},
    "reflect": {"narrative": "I saw one session.", "went_well": [], "keeps_failing": [], "open": [], "questions": []},
    "compile": {"articles": []},
}  # fmt: skip


def talk(engram: Engram, session: str = "s1", began: str = "2026-11-02T10:00:00+00:00") -> None:
    said(
        engram, session, began, "Please move the billing code to Rust; I always prefer Rust over Go.",
        "I moved billing.go to billing.rs and all 12 tests pass. We decided to keep the old API.",
        "Next we should port the invoices module.", "I will port invoices next; the open question is the date format.",
    )  # fmt: skip


def model_of(opened: Opened, api: Api, **choices: Any) -> Engram:
    return opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1", dream_cents=100, **choices)


def by_schema(api: Api) -> Callable[[BaseHTTPRequestHandler], None]:
    """Return an answer for any prompt, from the fields of its schema."""

    def act(handler: BaseHTTPRequestHandler) -> None:
        asked = json.dumps(api.asked[-1]["body"])
        for thought in THOUGHTS.values():
            if all(f'"{name}"' in asked or f'\\"{name}\\"' in asked for name in thought):
                return chat(json.dumps(thought))(handler)
        return chat("{}")(handler)

    return act


def test_a_forced_pass_without_any_model_makes_everything_there_is_to_make(engram: Engram) -> None:
    talk(engram)
    dream_pass = engram.dream(force=True)
    ran = [done.step for done in dream_pass.steps]
    assert ran == [name for name in ORDER if name in ran]
    assert {"flush", "gist", "integrate", "compile", "embed"} <= set(ran)
    assert dream_pass.calls == 0
    assert [done.failed for done in dream_pass.steps if done.failed] == []
    assert engram.get_summary("s1") is not None
    assert [era.month for era in engram.list_eras()] == ["2026-11"]
    assert "Rust over Go" in (engram.get_profile() or "")
    assert "invoices" in (engram.get_narrative() or "")
    assert dream_pass.changes["gist"] == 1
    assert dream_pass.changes["entry"] == 1


def test_a_gist_made_in_a_pass_makes_its_era_in_the_same_pass(engram: Engram) -> None:
    talk(engram)
    dream_pass = engram.dream()
    assert dream_pass.before["coherence"].level == 0
    assert [done.step for done in dream_pass.steps if done.count][:3] == ["flush", "gist", "integrate"]


def test_after_a_pass_the_next_has_nothing_to_do_and_leaves_no_trace(engram: Engram) -> None:
    talk(engram)
    first = engram.dream(force=True)
    again = engram.dream()
    assert (again.id, again.steps) == (0, ())
    assert [dream_pass.id for dream_pass in engram.dream_log()] == [first.id]
    assert again.drives["stability"].level == 1.0


def test_a_little_below_the_threshold_waits_and_acts_in_the_end(timed: Engram, clock: ManualClock) -> None:
    timed.dream(force=True)
    talk(timed)
    timed.dream()
    clock.pass_(2 * 3600)
    timed.remember("s1", "user", "One more thing.")
    early = timed.dream()
    assert "gist" not in [done.step for done in early.steps]
    assert 0 < early.drives["continuity"].level < 0.5
    clock.pass_(24 * 3600)
    late = timed.dream()
    assert "gist" in [done.step for done in late.steps]
    assert late.drives["continuity"].level == 0


def test_drives_persist_in_the_self_state_beside_what_else_it_holds(timed: Engram, clock: ManualClock) -> None:
    timed.set_self_state({"mood": "calm"})
    talk(timed)
    timed.dream()
    clock.pass_(1)
    timed.remember("s1", "user", "One more thing.")
    timed.dream()
    state = timed.get_self_state()
    assert state["mood"] == "calm"
    assert state["drives"]["continuity"]["level"] > 0
    assert "1 new turn" in state["drives"]["continuity"]["why"]
    assert state["drives"]["continuity"]["since"]


def test_a_threshold_of_nobody_can_reach_keeps_a_step_from_running(opened: Opened) -> None:
    engram = opened(continuity_threshold=101, coherence_threshold=101)
    talk(engram)
    assert {"flush", "gist", "integrate"}.isdisjoint(done.step for done in engram.dream().steps)
    assert "gist" in [done.step for done in engram.dream(force=True).steps]


def test_one_bad_session_stops_no_other(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    from engram.summaries import gist

    for session in ("good", "bad", "fine"):
        talk(engram, session)
    made = gist.make_gist

    def sometimes(hub: Engram, session_id: str, *rest: Any, **more: Any) -> Any:
        if session_id == "bad":
            raise ValueError("this one is cursed")
        return made(hub, session_id, *rest, **more)

    monkeypatch.setattr(gist, "make_gist", sometimes)
    done = next(each for each in engram.dream(force=True).steps if each.step == "gist")
    assert done.count == 2
    assert "cursed" in done.failed["bad"]
    monkeypatch.undo()
    assert next(each for each in engram.dream(force=True).steps if each.step == "gist").count == 1


def test_a_step_that_breaks_does_not_stop_the_others(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    from engram.summaries import eras

    monkeypatch.setattr(eras, "run_integration", lambda *_, **__: 1 / 0)
    talk(engram)
    dream_pass = engram.dream(force=True)
    assert (
        "ZeroDivisionError" in next(each for each in dream_pass.steps if each.step == "integrate").failed["integrate"]
    )
    assert "embed" in [each.step for each in dream_pass.steps]
    assert dream_pass.drives["coherence"].level > 0


def test_time_that_is_out_leaves_the_rest_for_the_next_pass(timed: Engram, clock: ManualClock) -> None:
    for number in range(5):
        talk(timed, f"s{number}")
    from engram.summaries import gist

    made = gist.make_gist

    def slow(*given: Any, **more: Any) -> Any:
        clock.pass_(40)
        return made(*given, **more)

    gist.make_gist = slow
    try:
        result = run_pass(timed, force=True, limits=_limits(timed, "100s"))
    finally:
        gist.make_gist = made
    by_step = {done.step: done for done in result.steps}
    assert (by_step["gist"].count, by_step["gist"].left) == (3, 2)
    assert by_step["integrate"].did == "out of time"
    assert next(each for each in timed.dream(force=True).steps if each.step == "gist").count == 2


def _limits(engram: Engram, given: str) -> Any:
    from engram.dream.budget import parse_limits

    return parse_limits(engram, given)


def test_a_scripted_model_words_what_a_pass_makes(opened: Opened) -> None:
    with speaking() as api:
        api.acts.append(by_schema(api))
        engram = model_of(opened, api)
        talk(engram)
        dream_pass = engram.dream(force=True)
        summary = engram.get_summary("s1")
        assert summary is not None
        assert summary.content.startswith("Moved the billing code to Rust.")
        assert engram.get_profile() == "- Prefers Rust."
        assert engram.list_eras()[0].content == "A month of Rust."
        assert dream_pass.calls >= 4
        assert dream_pass.tokens > 0
        count = len(api.asked)
        assert engram.dream(force=True).calls == 0
        assert len(api.asked) == count


def test_without_money_no_model_is_asked_though_one_is_chosen(opened: Opened) -> None:
    with speaking(chat("{}")) as api:
        engram = opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1")
        talk(engram)
        dream_pass = engram.dream(force=True)
        assert (dream_pass.calls, api.asked) == (0, [])
        assert [each.failed for each in dream_pass.steps if each.failed] == []
        assert engram.get_summary("s1") is not None
        again = engram.dream(force=True)
        assert [done.step for done in again.steps if done.count] == []


def test_a_budget_that_is_spent_ends_the_asking_and_quotes_do(opened: Opened) -> None:
    with speaking() as api:
        api.acts.append(by_schema(api))
        engram = model_of(opened, api)
        for number in range(4):
            talk(engram, f"s{number}")
        dream_pass = engram.dream(force=True, budget="6000t")
        assert 0 < dream_pass.tokens <= 6000
        assert all(engram.get_summary(f"s{number}") for number in range(4))
        assert any(gist.made_by.startswith("extract/") for gist in engram.list_summaries())


@pytest.mark.parametrize(
    "act",
    [chat("I would rather talk about the weather."), chat("{}"), says({"error": "no"}, 400), says({"error": "x"}, 500)],
    ids=["nonsense", "empty", "refuses", "broken"],
)
def test_a_model_that_is_no_use_leaves_valid_documents(opened: Opened, act: Any) -> None:
    with speaking(act) as api:
        engram = model_of(opened, api, model_seconds=2)
        talk(engram)
        engram.dream(force=True)
        gist = engram.get_summary("s1")
        assert gist is not None
        assert "billing" in gist.content
        assert [era.month for era in engram.list_eras()] == ["2026-11"]
        assert "weather" not in (engram.get_profile() or "") + (engram.get_narrative() or "")


def test_what_a_model_said_in_vain_is_kept_for_inspection(opened: Opened) -> None:
    with speaking(chat("I would rather talk about the weather.")) as api:
        engram = model_of(opened, api)
        talk(engram)
        engram.dream(force=True)
        assert any("weather" in (row["reply"] or "") for row in calls(engram))


def test_a_model_that_never_answers_costs_a_pass_its_time_and_nothing_else(opened: Opened) -> None:
    def silent(_: BaseHTTPRequestHandler) -> None:
        time.sleep(5)

    with speaking(silent) as api:
        engram = model_of(opened, api, model_seconds=1)
        talk(engram)
        engram.dream(force=True)
        assert engram.get_summary("s1") is not None


def test_a_pass_is_written_down_with_why_and_what(engram: Engram) -> None:
    talk(engram)
    engram.dream(force=True)
    (found,) = engram.dream_log()
    assert found.why == "forced"
    assert "1 session to summarize" in found.before["continuity"].why
    assert found.ended_at is not None
    assert {done.step for done in found.steps} >= {"flush", "gist"}
    assert found.rot is not None


def test_what_was_deleted_is_forgotten_by_the_dream_as_well(timed: Engram, clock: ManualClock) -> None:
    talk(timed, "kept", "2026-11-02T10:00:00+00:00")
    said(timed, "secret", "2026-11-03T10:00:00+00:00", "My cat is called Zebedee.", "Noted, Zebedee it is.",
         "Always feed Zebedee at noon.", "We decided that Zebedee eats at noon.")  # fmt: skip
    timed.dream(force=True)
    timed.delete_session("secret")
    clock.pass_(3600)
    timed.dream(force=True)
    rows = timed.engine.run("select content from documents")
    rows += timed.engine.run("select content from passages")
    rows += timed.engine.run("select readout as content from passes")
    assert not [row for row in rows if "Zebedee" in (row["content"] or "")]


def test_a_session_still_talking_is_not_flushed_under_its_agent(timed: Engram, clock: ManualClock) -> None:
    session = timed.register("agent", "talking", flavor="claude", project="/p")
    timed.remember(session, "user", "Please move the billing code to Rust, we are in the middle of it.")
    assert "flush" not in [done.step for done in timed.dream(force=True).steps]
    clock.pass_(31 * 60)
    assert "flush" in [done.step for done in timed.dream(force=True).steps]


def test_changes_are_attributed_to_the_pass_that_made_them(engram: Engram) -> None:
    talk(engram)
    engram.summarize()
    dream_pass = engram.dream(force=True)
    kinds = {row["kind"] for row in dream_passes.list_changes(engram.engine, dream_pass.id)}
    assert "gist" not in kinds
    assert {"era", "profile", "narrative", "entry", "self"} <= kinds


def test_times_of_the_journal_are_the_stores(timed: Engram, clock: ManualClock) -> None:
    talk(timed)
    timed.dream(force=True)
    (found,) = timed.dream_log()
    assert int(found.began_at.timestamp()) == clock.now() // SECOND


def test_a_place_that_cannot_be_looked_at_silences_one_drive_and_is_named(timed: Engram, clock: ManualClock) -> None:
    home = Path(timed.settings.home, "wiki")
    home.mkdir(parents=True)
    (home / "daily").write_text("not a directory")
    talk(timed)
    dream_pass = timed.dream(force=True)
    assert any(done.failed for done in dream_pass.steps)
    assert timed.get_summary("s1") is not None
    assert "cannot be measured" in dream_pass.drives["coherence"].why


def test_waiting_alone_does_not_fill_the_self_state_with_versions(timed: Engram, clock: ManualClock) -> None:
    talk(timed)
    timed.dream(force=True)
    clock.pass_(60)
    timed.remember("s1", "user", "One more thing.")
    for _ in range(2):  # the second scans the transcripts again and indexes new messages
        clock.pass_(600)
        timed.dream()
    before = documents.count_versions(timed.engine, "self")
    for _ in range(7):
        clock.pass_(300)
        timed.dream()
    assert documents.count_versions(timed.engine, "self") == before


def test_time_that_is_out_between_eras_leaves_the_others_for_next_time(timed: Engram, clock: ManualClock) -> None:
    for month in (8, 9, 10):
        talk(timed, f"m{month}", f"2026-{month:02}-02T10:00:00+00:00")
    timed.summarize()
    looks = iter([False, True, True, True, True])
    made = run_integration(timed, stop=lambda: next(looks))
    assert (made.eras, made.profile) == (("2026-08",), "left")
    assert dream_inbox.count_waiting(timed.engine, dream_inbox.INTEGRATE) == 3
    assert len(run_integration(timed).eras) == 2
    assert dream_inbox.count_waiting(timed.engine, dream_inbox.INTEGRATE) == 0
