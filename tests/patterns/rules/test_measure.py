"""Whether a rule helped: planted histories with a known effect, on both engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.store import captures, event_words, rule_placements
from tests.capture.transcripts import Claude
from tests.conftest import ManualClock
from tests.patterns.planting import DAY, pattern, session, signal

NOW = 1_800_000_000_000_000  # the time of the manual clock


def history(
    engram: Engram, name: str, count: int, every: int, *, before: bool, flavor: str = "claude", project: str = "",
    kind: str = "known-fix", tests: bool = False,
) -> list[str]:  # fmt: skip
    """Add sessions on one side of now, with the signal in one of every few of them (0: in none)."""
    made = []
    for n in range(count):
        at = NOW - (count - n) * DAY // 100 if before else NOW + (n + 1) * DAY // 100
        side = "before" if before else "after"
        made.append(session(engram, f"{name}-{side}-{n}", began=at, flavor=flavor, project=project, tests=tests))
        if every and n % every == 0:
            signal(engram, made[-1], name, kind=kind, at=at, flavor=flavor, project=project)
    return made


def judged(engram: Engram, id_: str) -> tuple[str, str]:
    found = engram.measure(id_)[0]
    return found.verdict, found.why


def test_nothing_is_measured_before_it_is_distributed(timed: Engram) -> None:
    pattern(timed, "x", seen=[session(timed, "s")])
    assert timed.measure() == []


@pytest.mark.parametrize(
    ("rate_before", "rate_after", "verdict"), [(2, 0, "helped"), (10, 1, "hurt"), (2, 2, "no effect")]
)
def test_a_history_with_a_known_effect_gets_its_verdict(
    timed: Engram, rate_before: int, rate_after: int, verdict: str
) -> None:
    history(timed, "err", 200, rate_before, before=True)
    id_ = pattern(timed, "err")
    timed.approve_pattern(id_, "a rule")
    history(timed, "err", 200, rate_after, before=False)
    found = timed.measure(id_)[0]
    assert found.verdict == verdict
    assert found.after.sessions == 200
    assert found.before.sessions < 200  # without the sessions in which it was found
    assert found.change is not None
    assert found.change.low <= found.change.value <= found.change.high


def test_few_sessions_are_too_early(timed: Engram) -> None:
    history(timed, "err", 40, 2, before=True)
    id_ = pattern(timed, "err")
    timed.approve_pattern(id_, "a rule")
    history(timed, "err", 5, 0, before=False)
    assert judged(timed, id_)[0] == "too early"


def test_what_hurts_is_proposed_for_retirement_and_stays_a_persons_decision(timed: Engram) -> None:
    history(timed, "err", 60, 20, before=True)
    id_ = pattern(timed, "err")
    timed.approve_pattern(id_, "a rule")
    history(timed, "err", 60, 1, before=False)
    assert judged(timed, id_)[0] == "hurt"
    result = timed.get_pattern(id_)
    assert result.pattern.recommended is not None
    assert (result.pattern.state, result.pattern.recommended.what) == ("approved", "retire")
    assert result.effect is not None
    assert result.effect.verdict == "hurt"


def test_more_of_a_success_is_a_help(timed: Engram) -> None:
    history(timed, "path", 60, 20, before=True, kind="short-path")
    id_ = pattern(timed, "path", kind="short-path")
    timed.approve_pattern(id_, "a rule")
    history(timed, "path", 60, 1, before=False, kind="short-path")
    assert judged(timed, id_)[0] == "helped"


def test_saved_tokens_and_minutes_come_with_an_interval(timed: Engram) -> None:
    history(timed, "err", 100, 2, before=True)
    id_ = pattern(timed, "err")
    timed.approve_pattern(id_, "a rule")
    history(timed, "err", 100, 0, before=False)
    found = timed.measure(id_)[0]
    assert 35_000 < found.tokens.low < found.tokens.value < found.tokens.high < 65_000
    assert 40 < found.minutes.value < 60
    assert timed.measure(id_)[0] == found


def test_only_sessions_in_scope_count(timed: Engram) -> None:
    history(timed, "err", 40, 2, before=True)
    history(timed, "other", 40, 0, before=True, flavor="codex")
    id_ = pattern(timed, "err")
    timed.approve_pattern(id_, "a rule", scope="flavor:claude")
    history(timed, "err", 30, 0, before=False)
    history(timed, "other", 30, 0, before=False, flavor="codex")
    found = timed.measure(id_)[0]
    assert (found.all_after.sessions, found.after.sessions) == (30, 30)


def test_a_test_loop_could_only_come_where_tests_ran(timed: Engram) -> None:
    history(timed, "pytest", 60, 2, before=True, kind="test-loop", tests=True)
    id_ = pattern(timed, "pytest", kind="test-loop")
    timed.approve_pattern(id_, "a rule")
    history(timed, "pytest", 30, 0, before=False, kind="test-loop", tests=True)
    history(timed, "idle", 30, 0, before=False)
    found = timed.measure(id_)[0]
    assert (found.applies, found.after.sessions, found.all_after.sessions) == ("ran tests", 30, 60)


def test_sessions_nobody_looked_through_yet_do_not_count_as_free_of_it(timed: Engram) -> None:
    history(timed, "err", 40, 2, before=True)
    id_ = pattern(timed, "err")
    timed.approve_pattern(id_, "a rule")
    late = history(timed, "err", 12, 0, before=False)
    timed.engine.run("insert into news (step, key, at) values ('detect', :key, 1)", key=late[0])
    assert timed.measure(id_)[0].after.sessions == 11


def test_told_and_untold_sessions_are_told_apart(engram: Engram) -> None:
    sessions = [session(engram, f"s{n}", began=engram.now() + (n + 1) * DAY) for n in range(6)]
    id_ = pattern(engram, "err", seen=[session(engram, "old", began=1)])
    engram.approve_pattern(id_, "a rule")
    with engram.engine.transaction():
        for each in sessions[:2]:
            rule_placements.record_exposures(engram.engine, each, [(id_, 1)], engram.now())
    found = engram.measure(id_)[0]
    assert (found.told.sessions, found.untold.sessions) == (2, 4)


def test_a_file_reaches_the_sessions_of_its_agent_while_it_stands(timed: Engram, clock: ManualClock) -> None:
    id_ = pattern(timed, "err", seen=[session(timed, "old", began=1)])
    timed.approve_pattern(id_, "a rule")
    row = {"pattern": id_, "version": 1, "flavor": "codex", "project": "", "place": "AGENTS.md", "host": "here"}
    rule_placements.add_placements(timed.engine, [row], NOW + DAY)
    number = rule_placements.list_by_pattern(timed.engine, id_)[-1]["id"]
    rule_placements.mark_removed(timed.engine, [number], NOW + 3 * DAY)
    for day in range(5):
        session(timed, f"codex-{day}", began=NOW + day * DAY + 1, flavor="codex")
        session(timed, f"claude-{day}", began=NOW + day * DAY + 1)
    assert timed.measure(id_)[0].told.sessions == 2


def test_a_command_could_only_fail_where_its_program_was_called(timed: Engram) -> None:
    from engram.patterns.rules.exposure import find_exposed_sessions as could

    one, two = session(timed, "ran"), session(timed, "idle")
    row = {"kind": "failing-command", "seed": "npm run build: cannot find module"}
    inside = [{**each, "whole": 1} for each in rule_placements.list_comparable_sessions(timed.engine)]
    assert could(timed, row, inside, {one}) == ("called npm", {one})
    assert captures.find_by_session(timed.engine, two) is not None
    gone = [{**each, "whole": 0} for each in inside]
    assert could(timed, row, gone, {one})[1] == set()


def test_a_program_is_known_by_the_calls_of_a_captured_session(
    engram: Engram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    ran, said = Claude(tmp_path / "user"), Claude(tmp_path / "user")
    ran.says("build it")
    ran.runs("npm run build", "done")
    said.says("what is npm?")
    engram.ingest()
    found = {each.session.id: each.session.native_id for each in engram.list_sessions()}
    called = event_words.find_calling_captures(engram.engine, "npm")
    assert [found[captures.get(engram.engine, num)["session_id"]] for num in called] == [ran.session]
    assert event_words.find_calling_captures(engram.engine, "<>") == set()


def test_many_rules_at_once_are_judged_with_more_care(timed: Engram) -> None:
    ids = []
    history(timed, "e", 30, 0, before=True)
    for n in range(12):
        ids.append(pattern(timed, f"e{n}"))
        for m in range(0, 30, 3):
            signal(timed, f"e-before-{m}", f"e{n}")
    alone, *_ = ids
    timed.approve_pattern(alone, "a rule")
    history(timed, "e", 25, 0, before=False)
    one = timed.measure(alone)[0]
    for each in ids[1:]:
        timed.approve_pattern(each, "a rule")
    among = timed.measure(alone)[0]
    assert one.change == among.change
    assert among.chance > one.chance
