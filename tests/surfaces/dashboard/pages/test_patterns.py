"""The Patterns page: decisions apply to the text shown, and every one can be undone."""

from __future__ import annotations

import re

import pytest

from engram import Engram
from tests.patterns.planting import DAY, pattern, session, signal
from tests.surfaces.dashboard.looking import Looker

HOSTILE = '"><script>alert(1)</script>'


def planted(hub: Engram, *names: str, title: str = "The build fails.") -> list[str]:
    """Plant candidates, each seen in two sessions."""
    return [
        pattern(hub, name, title=f"{title} ({name})", seen=[session(hub, f"{name}-{n}") for n in range(2)])
        for name in names
    ]


def shown(page: str) -> str:
    """Return the candidate a page asks about."""
    match = re.search(r'action="/patterns/(\w+)/approve"', page)
    assert match is not None, page[-500:]
    return match[1]


def state(hub: Engram, id_: str) -> str:
    return str(hub.get_pattern(id_).pattern.state)


def decide(looker: Looker, id_: str, act: str, version: int = 0, **form: str) -> str:
    answer = looker.post(f"/patterns/{id_}/{act}", part=True, version=str(version), at="review", **form)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_an_empty_store_says_what_to_do(looker: Looker) -> None:
    assert "engram patterns detect" in looker.page("/patterns")
    assert "No decisions yet" in looker.page("/patterns/catalog")
    assert "engram patterns distribute" in looker.post("/patterns/effects", part=True).text


def test_a_candidate_is_shown_with_its_evidence(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a", title=HOSTILE)
    hub.recommend_pattern(id_, "approve", f"It cost an hour. {HOSTILE}", "Look first.", who="claude 12")
    page = looker.page("/patterns")
    assert shown(page) == id_
    assert 'href="/sessions/a-0?at=e' in page
    assert "claude 12" in page
    assert "It cost an hour." in page
    assert "you decide" in page
    assert "<script>alert" not in page


def test_after_a_decision_the_next_one_is_shown(hub: Engram, looker: Looker) -> None:
    planted(hub, "a", "b", "c")
    first, second, third = (each.id for each in hub.list_patterns("candidate"))
    following = re.findall(r'name="next" value="(\w*)"', looker.page(f"/patterns?pattern={first}"))[0]
    assert following == second
    page = decide(looker, first, "reject", next=second)
    assert shown(page) == second
    assert shown(decide(looker, second, "reject", next=third)) == third
    assert "No candidates" in decide(looker, third, "reject")


def test_the_text_that_was_shown_is_what_is_approved(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a")
    page = looker.page("/patterns")
    words = {name: re.findall(rf'name="{name}" value="([^"]*)"', page)[0] for name in ("rule", "fix")}
    hub.engine.run("update patterns set proposed = 'Delete everything.', proposed_fix = 'rm -rf'")
    decide(looker, id_, "approve", scope="global", **words)
    found = hub.get_pattern(id_).pattern
    assert (found.state, found.rule, found.fix) == ("approved", "The build fails. (a)", "")


def test_a_decision_about_words_that_changed_is_refused_and_the_new_ones_shown(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a")
    hub.edit_pattern(id_, "Other words.", author="somebody")
    for act in ("approve", "reject", "edit"):
        page = decide(looker, id_, act, rule="Old words.", fix="", scope="global")
        assert "somebody" in page
        assert "Other words." in page
    assert state(hub, id_) == "candidate"
    answer = looker.post(f"/patterns/{id_}/approve", rule="Old words.", version="0")
    assert answer.status_code == 409


@pytest.mark.parametrize("at", ["review", "dossier"])
def test_words_typed_over_a_version_that_changed_stay_in_the_form(hub: Engram, looker: Looker, at: str) -> None:
    (id_,) = planted(hub, "a")
    hub.edit_pattern(id_, "Their words.", expected_version=0)
    form = {"version": "0", "rule": "My own words.", "fix": "", "scope": "global"}
    answer = looker.post(f"/patterns/{id_}/approve", part=True, at=at, **form)
    assert "My own words." in answer.text
    assert "Their words." in answer.text
    assert state(hub, id_) == "candidate"


@pytest.mark.parametrize("version", ["", "x", "-1", "9" * 20])
def test_a_form_without_a_version_decides_nothing(hub: Engram, looker: Looker, version: str) -> None:
    (id_,) = planted(hub, "a")
    assert looker.post(f"/patterns/{id_}/approve", version=version, rule="A rule.").status_code == 400
    assert state(hub, id_) == "candidate"


def test_a_rejection_is_taken_back(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a")
    page = decide(looker, id_, "reject", reason="not worth it")
    assert "<b>Rejected:</b>" in page
    assert re.search(rf'action="/patterns/{id_}/restore".*data-key="u"', page, re.DOTALL)
    assert hub.get_pattern(id_).versions[-1].reason == "not worth it"
    page = decide(looker, id_, "restore", version=1)
    assert "<b>Restored:</b>" in page
    assert shown(page) == id_


def test_an_approval_is_taken_back_and_waits_again(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a")
    page = decide(looker, id_, "approve", rule="A rule.", fix="", scope="global")
    assert re.search(rf'action="/patterns/{id_}/restore".*data-key="u"', page, re.DOTALL)
    assert shown(decide(looker, id_, "restore", version=1)) == id_
    assert state(hub, id_) == "candidate"


def test_edited_words_are_saved_or_approved(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a")
    page = decide(looker, id_, "edit", rule="Better\r\nwords.", fix="Look first.", scope="flavor:claude")
    assert "<b>Saved:</b>" in page
    assert shown(page) == id_
    found = hub.get_pattern(id_).pattern
    assert (found.rule, found.fix, found.scope) == ("Better\nwords.", "Look first.", "flavor:claude")
    decide(looker, id_, "approve", version=1, rule="Best words.", fix="", scope="global")
    assert hub.get_pattern(id_).pattern.rule == "Best words."


def test_words_that_are_refused_stay_in_the_form(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a")
    page = decide(looker, id_, "approve", rule="\n".join("abcdefgh"), fix="", scope="global")
    assert "Use at most 5 lines" in page
    assert ">a\nb\nc\nd\ne\nf\ng\nh</textarea>" in page
    assert state(hub, id_) == "candidate"


def test_the_author_is_the_user_of_this_machine(hub: Engram, looker: Looker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "mara")
    (id_,) = planted(hub, "a")
    decide(looker, id_, "reject", author="somebody else")
    assert hub.get_pattern(id_).versions[-1].author == "mara"


def test_a_form_without_our_secret_decides_nothing(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a")
    assert looker.post(f"/patterns/{id_}/reject", form="forged", version="0").status_code == 403
    assert state(hub, id_) == "candidate"


def test_a_decision_there_is_not_is_not_found(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a")
    assert looker.post(f"/patterns/{id_}/delete", version="0").status_code == 404
    assert looker.post("/patterns/nothing/reject", version="0").status_code == 404


def test_the_catalog_shows_decisions_by_state(hub: Engram, looker: Looker) -> None:
    kept, gone, waits = planted(hub, "a", "b", "c")
    hub.approve_pattern(kept, "Look first.")
    hub.reject_pattern(gone)
    page = looker.page("/patterns/catalog")
    assert (f"/patterns/{kept}" in page, f"/patterns/{gone}" in page, f"/patterns/{waits}" in page) == (
        True,
        True,
        False,
    )
    part = looker.page("/patterns/catalog?state=rejected", part=True)
    assert (f"/patterns/{kept}" in part, f"/patterns/{gone}" in part) == (False, True)
    assert looker.get("/patterns/catalog?state=odd").status_code == 400


def test_a_dossier_shows_versions_with_their_difference_and_places(hub: Engram, looker: Looker) -> None:
    (id_,) = planted(hub, "a")
    hub.approve_pattern(id_, f"Look first. {HOSTILE}", reason="it keeps coming up")
    hub.edit_pattern(id_, "Look twice.", reason="clearer")
    page = looker.page(f"/patterns/{id_}")
    assert "-Look first." in page
    assert "+Look twice." in page
    assert "it keeps coming up" in page
    assert "in the briefing of new sessions" in page
    assert "<script>alert" not in page
    assert looker.get("/patterns/nothing").status_code == 404


def test_from_its_dossier_a_pattern_is_retired_restored_and_merged(hub: Engram, looker: Looker) -> None:
    kept, same = planted(hub, "a", "b")
    hub.approve_pattern(kept, "Look first.")
    assert "Restore <kbd>" in looker.post(f"/patterns/{kept}/retire", part=True, version="1").text
    assert state(hub, kept) == "retired"
    looker.post(f"/patterns/{kept}/restore", part=True, version="2")
    assert state(hub, kept) == "approved"
    page = looker.post(f"/patterns/{same}/merge", part=True, into=kept).text
    assert f'into <a href="/patterns/{kept}"' in page
    assert "Nobody" not in looker.post(f"/patterns/{same}/restore", part=True, version="9").text
    assert state(hub, same) == "merged"  # decided elsewhere since the page was rendered
    looker.post(f"/patterns/{same}/restore", part=True, version=str(hub.get_pattern(same).pattern.version))
    assert state(hub, same) == "candidate"


def test_a_rule_that_helped_is_drawn_with_its_intervals(hub: Engram, looker: Looker) -> None:
    for n in range(60):
        made = session(hub, f"before-{n}", began=hub.now() - (100 - n) * DAY // 100)
        if n % 2 == 0:
            signal(hub, made, "a", at=hub.now())
    id_ = pattern(hub, "a")
    hub.approve_pattern(id_, "Look first.")
    for n in range(60):
        session(hub, f"after-{n}", began=hub.now() + (n + 1) * DAY // 100)
    effect = hub.get_pattern(id_).effect
    assert effect is not None
    assert (effect.verdict, effect.before.low < effect.before.rate < effect.before.high) == ("helped", True)
    assert hub.get_pattern(id_, effect=False).effect is None
    part = looker.page(f"/patterns/{id_}/effect", part=True)
    assert '<svg class="plot spans" role="img"' in part
    assert 'class="zero"' in part
    assert "It occurs less often since" in part
    every = looker.post("/patterns/effects", part=True).text
    assert f"/patterns/{id_}" in every
    assert ">helped<" in every


def test_without_a_script_a_decision_leads_to_the_next(hub: Engram, looker: Looker) -> None:
    first, second = planted(hub, "a", "b")
    answer = looker.post(f"/patterns/{first}/reject", version="0", at="review", next=second)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/patterns?decided={first}&pattern={second}")
    page = looker.page(answer.headers["location"])
    assert shown(page) == second
    assert "<b>Rejected:</b>" in page
