"""Compile: what is new becomes pages, only that costs anything, and people's text is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import CompileRunning, InvalidInput, NotFound
from engram.store import dream_inbox, passages
from engram.wiki.compiler.compile import compile_logs
from engram.wiki.vault import article, history, state
from engram.wiki.vault.links import find_links
from engram.wiki.vault.vault import open_vault
from tests.conftest import ManualClock
from tests.wiki.logs import entry, log, page
from tests.wiki.shop import DECISIONS, FAILURE, PAGE, PRICES, SHOP, read, work, work_a_week

DAYS = ("2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04")
PAGES = (PAGE, DECISIONS, PRICES, FAILURE)


def list_pages(hub: Engram) -> dict[str, str]:
    return {target: page(hub, target) for target in open_vault(hub).iter_pages("concepts", "connections")}


def test_every_link_of_every_page_leads_to_something(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    vault = open_vault(engram)
    for target in [*vault.iter_pages(), "index", "log"]:
        for found in find_links(page(engram, target)):
            assert vault.read(found.target) is not None, (target, found)
            if found.heading:
                assert f"### {found.heading}" in page(engram, found.target)


def test_every_page_names_its_sources_and_is_in_the_index(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    done = engram.compile()
    assert set(done.created) == set(PAGES)
    assert done.logs == DAYS
    assert done.projects == (SHOP,)
    index = page(engram, "index")
    for target in done.created:
        result = article.parse_article(page(engram, target))
        assert result.get_list("sources") == tuple(f"daily/{day}" for day in reversed(DAYS))
        assert result.title
        assert index.count(f"| [[{target}]] |") == 1
    assert f"] compile | project {SHOP}" in page(engram, "log")


def test_pages_of_a_project_link_to_each_other(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    edges = set(engram.link_graph(PAGE).edges)
    assert {(PAGE, DECISIONS), (PAGE, PRICES), (PAGE, FAILURE)} <= edges
    assert {(DECISIONS, PAGE), (PRICES, PAGE), (FAILURE, PAGE), (PRICES, DECISIONS), (DECISIONS, PRICES)} <= edges


def test_pages_are_found_by_recall_and_what_people_change_as_well(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    hits = engram.recall("semicolons as separators", tiers=["article"])
    assert hits[0].name in PAGES
    tea = Path(open_vault(engram).root) / "concepts" / "tea.md"
    tea.write_text("# Tea\n\nDarjeeling is drunk at four o'clock.\n")
    engram.compile()
    assert engram.recall("when is Darjeeling drunk", tiers=["article"])[0].name == "concepts/tea"
    tea.unlink()
    engram.compile(everything=True)
    assert passages.list_documents(engram.engine, "article").get("concepts/tea") is None


def test_compiling_again_changes_nothing(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    before = list_pages(engram)
    again = engram.compile()
    assert again.logs == again.projects == again.created == again.updated == ()
    assert dream_inbox.count_waiting(engram.engine, dream_inbox.COMPILE) == 0
    engram.compile(everything=True)
    assert list_pages(engram) == before


def test_only_the_pages_of_projects_with_new_evidence_are_built(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    for day in range(3):
        work(tmp_path, f"k{day}", day, f"Change kettle number {day} of the kitchen.", "/home/me/kitchen")
    read(engram, tmp_path)
    engram.compile()
    work(tmp_path, "later", 9, "Sort the price labels by their weight.")
    read(engram, tmp_path)
    done = engram.compile()
    assert done.projects == (SHOP,)
    assert all(target.startswith("concepts/shop") for target in done.updated)
    assert "Sort the price labels by their weight" in page(engram, PRICES)


def test_a_page_whose_evidence_says_the_same_is_not_written_again(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    writer = work(tmp_path, "later", 9, "Sort the price labels by their weight.")
    writer.answers("They are sorted.")
    read(engram, tmp_path)
    done = engram.compile()
    assert PRICES in done.updated
    assert DECISIONS not in done.updated


def test_what_a_person_wrote_survives_whatever_is_compiled(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    path = Path(open_vault(engram).root) / f"{PRICES}.md"
    mine = path.read_text().replace("tags:\n", "cssclasses:   [wide,  'tall']   # mine\ntags:\n")
    mine = mine.replace(
        "## What was done\n", "## My Notes\n\nNever on Sundays.\n\n## What was done\n\nAn edit of mine.\n"
    )
    path.write_text(mine)
    work(tmp_path, "later", 9, "Sort the price labels by their weight.")
    read(engram, tmp_path)
    done = engram.compile()
    prices = path.read_text()
    assert done.kept == {PRICES: ["What was done"]}
    assert "cssclasses:   [wide,  'tall']   # mine\n" in prices
    assert "## My Notes\n\nNever on Sundays.\n\n## What was done\n\nAn edit of mine.\n" in prices
    assert "changed in 5 sessions" in prices
    engram.compile(everything=True)
    assert "An edit of mine." in path.read_text()


def test_a_page_somebody_removed_stays_removed_until_all_is_compiled(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    path = Path(open_vault(engram).root) / f"{PRICES}.md"
    path.unlink()
    work(tmp_path, "later", 9, "Sort the price labels by their weight.")
    read(engram, tmp_path)
    engram.compile()
    assert not path.exists()
    assert f"[[{PRICES}]]" not in page(engram, "index")
    engram.compile(everything=True)
    assert path.exists()


def test_a_page_of_a_person_by_the_same_name_is_added_to_and_not_replaced(engram: Engram, tmp_path: Path) -> None:
    path = Path(open_vault(engram).root) / f"{PAGE}.md"
    path.parent.mkdir(parents=True)
    path.write_text("My own words about the shop.\n\n## Rent\n\n300 a month\n")
    work_a_week(engram, tmp_path)
    engram.compile()
    assert "My own words about the shop." in path.read_text()
    assert "## Rent\n\n300 a month\n" in path.read_text()
    assert "## Conventions" in path.read_text()


def test_projects_of_one_name_have_pages_of_their_own(engram: Engram, tmp_path: Path) -> None:
    for project in ("/home/ada/shop", "/home/bob/shop"):
        for day in range(3):
            work(tmp_path, f"{project}{day}", day, f"Change price number {day} of the shop.", project)
    read(engram, tmp_path)
    assert {"concepts/ada-shop", "concepts/bob-shop"} <= set(engram.compile().created)


def test_pages_of_older_rules_are_removed_but_not_those_of_people_and_models(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    vault = open_vault(engram)
    made = {"claude": "rules/2", "shop-cart-py": "rules/2", "shop": "rules/2", "edited": "rules/2", "model": "model:m"}
    for name, made_by in made.items():
        text = f"# {name}\n\n4 entries.\n\n## Mentions\n\n- a word\n"
        path = Path(vault.root, "concepts", f"{name}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        record = {"kind": "term", "key": f"term {name}", "made_by": made_by, **state_of(text)}
        state.write_file(vault, state.page_record_path(f"concepts/{name}"), record)
    Path(vault.root, "concepts", "edited.md").write_text("# edited\n\n4 entries.\n\n## Mentions\n\n- my word\n")
    shown = engram.compile(dry_run=True).diff
    assert "+++ /dev/null" in shown or "-- a word" in shown
    done = engram.compile()
    assert done.removed == ("concepts/claude", "concepts/shop-cart-py")
    assert "## Mentions" not in page(engram, PAGE)
    assert "my word" in page(engram, "concepts/edited")
    assert page(engram, "concepts/model")
    assert [version.made_by for version in history.list_versions(vault, "concepts/claude")] == ["rules"]
    version = history.list_versions(vault, "concepts/claude")[0].version
    assert engram.restore_page("concepts/claude", version).created
    assert engram.compile().removed == ()


def state_of(text: str) -> dict[str, object]:
    """Return what a record keeps of a page as it was written."""
    from engram.wiki.vault.merge import LastWrite, merge

    known = merge(text, None, LastWrite.empty()).known
    return {"sections": known.sections, "front": known.front}


def test_a_page_without_evidence_goes_and_keeps_its_history(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    engram.compile()
    assert page(engram, FAILURE)
    sessions = [item.session.id for item in engram.list_sessions(project=SHOP, limit=10)]
    for session in sessions[:3]:
        engram.delete_session(session)
    assert page(engram, FAILURE) == page(engram, PRICES) == ""
    assert FAILURE not in page(engram, "index")
    assert engram.compile().removed == ()


@pytest.mark.parametrize(
    "project", ["/x/../../etc", "/x/a|b]] [[log", "/x/ü ß/日本語", "/x/" + "n" * 200, "C:\\shop\\till"]
)
def test_no_name_leads_out_of_the_vault(engram: Engram, tmp_path: Path, project: str) -> None:
    for day in range(3):
        writer = work(tmp_path, f"s{day}", day, f"Change price number {day} of the shop.", "/home/me/place")
        writer.path.write_text(writer.path.read_text().replace("/home/me/place", json.dumps(project)[1:-1]))
        for path in ("../../../outside.md", "a/../../b.md", "/etc/passwd"):
            writer.edits(path, "a", "b")
    read(engram, tmp_path)
    before = set(Path(open_vault(engram).root).parent.rglob("*.md"))
    done = engram.compile()
    assert done.failed == {}
    new = set(Path(open_vault(engram).root).parent.rglob("*.md")) - before
    root = Path(open_vault(engram).root)
    assert all(each.parent in (root, root / "concepts") for each in new)
    for target in open_vault(engram).iter_pages("concepts"):
        for found in find_links(page(engram, target)):
            assert open_vault(engram).read(found.target) is not None


def test_orders_in_a_transcript_are_quoted_and_nothing_else(engram: Engram, tmp_path: Path) -> None:
    order = (
        "Order exports must always use [[../../evil]] and `[[evil]]` and ## Heading --- and <!-- engram entry=x --> "
        "and <script>alert(1)</script> and [a link](http://evil.example) as separators."
    )
    for day in range(3):
        work(tmp_path, f"s{day}", day, order)
    work_a_week(engram, tmp_path)
    engram.compile()
    text = page(engram, DECISIONS)
    assert "as separators" in text
    for sign in ("<!--", "<script", "http://evil", "[[evil", "[[../"):
        assert sign not in text
    assert [section.heading for section in article.parse_article(text).sections] == [
        "", "November 2026", "Related Concepts", "Sources",
    ]  # fmt: skip


def test_a_project_at_work_is_built_once_per_interval(timed: Engram, clock: ManualClock, tmp_path: Path) -> None:
    work_a_week(timed, tmp_path)
    assert compile_logs(timed).projects == (SHOP,)
    work(tmp_path, "later", 9, "Sort the price labels by their weight.")
    read(timed, tmp_path)
    clock.pass_(59 * 60)
    waits = compile_logs(timed)
    assert waits.projects == ()
    assert "59 min ago" in waits.waiting[SHOP]
    clock.pass_(60)
    assert compile_logs(timed).projects == (SHOP,)


def test_todays_log_waits_for_the_interval_and_the_tail_of_a_past_day_does_not(
    timed: Engram, clock: ManualClock
) -> None:  # fmt: skip
    from engram.wiki.vault.daily_log import local_day

    today = local_day(clock.now(), "")
    log(timed, today, entry(1))
    assert compile_logs(timed).logs == (today,)
    log(timed, today, entry(1), entry(2))
    clock.pass_(59 * 60)
    waits = compile_logs(timed)
    assert waits.logs == ()
    assert "59 min ago" in waits.waiting[today]
    assert timed.compile(file=today).logs == (today,)
    log(timed, today, entry(1), entry(2), entry(3))
    clock.pass_(60 * 60)
    assert compile_logs(timed).logs == (today,)
    log(timed, today, entry(1), entry(2), entry(3), entry(4))
    clock.pass_(24 * 3600)
    clock.step(-24 * 3600 + 60 * 5)
    assert compile_logs(timed).logs == ()
    clock.step(24 * 3600)
    assert compile_logs(timed).logs == (today,)


def test_a_project_that_cannot_be_compiled_stops_no_other_and_is_tried_again_later(
    timed: Engram, clock: ManualClock, tmp_path: Path
) -> None:  # fmt: skip
    for name in ("barn", "shop"):
        for day in range(3):
            work(tmp_path, f"{name}{day}", day, f"Change price number {day} of it.", f"/home/me/{name}")
    read(timed, tmp_path)
    blocked = Path(open_vault(timed).root) / "concepts" / "barn.md"
    blocked.mkdir(parents=True)
    done = timed.compile()
    assert list(done.failed) == ["/home/me/barn"]
    assert done.projects == (SHOP,)
    assert "failed 1 times" in compile_logs(timed).waiting["/home/me/barn"]
    blocked.rmdir()
    clock.pass_(5 * 60 + 1)
    assert "/home/me/barn" in timed.compile().projects
    assert state.load_state(open_vault(timed))["projects"]["/home/me/barn"].get("tries") is None


def test_a_dry_run_shows_a_diff_and_writes_nothing(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    shown = engram.compile(dry_run=True)
    assert f"+++ b/{PAGE}.md" in shown.diff
    assert "+## Conventions" in shown.diff
    assert not (Path(open_vault(engram).root) / "concepts").exists()
    engram.compile()
    assert engram.compile(dry_run=True).diff == ""
    assert engram.compile(dry_run=True, everything=True).diff == "No page would change."


def test_one_log_by_its_name_and_none_that_is_not_there(engram: Engram) -> None:
    for number, day in enumerate(DAYS):
        log(engram, day, entry(number))
    assert engram.compile(file=f"daily/{DAYS[1]}.md").logs == (DAYS[1],)
    with pytest.raises(NotFound):
        engram.compile(file="../../etc/passwd")
    with pytest.raises(InvalidInput):
        engram.compile(file=DAYS[0], everything=True)


def test_progress_is_told_step_by_step(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    told: list[tuple[str, int, int]] = []
    done = compile_logs(engram, report_progress=lambda *step: told.append(step))
    assert done.projects == (SHOP,)
    assert told == [("compiled", number, 5) for number in range(6)]


def test_a_second_compiler_is_told_who_compiles(engram: Engram, tmp_path: Path) -> None:
    work_a_week(engram, tmp_path)
    holder = (
        "import sys, time\nfrom engram.capture.sweep_lock import SweepLock\n"
        f"with SweepLock({open_vault(engram).own_dir!r}, 'compile.lock'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(CompileRunning, match=str(other.pid)):
            engram.compile()
        assert not (Path(open_vault(engram).root) / "concepts").exists()
    finally:
        other.kill()
        other.wait()
    assert engram.compile().logs == DAYS


def test_the_command_line_compiles_shows_and_says_when_there_is_nothing(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from engram.surfaces.cli.root_group import build_command_line

    with Engram(tmp_path / "home") as hub:
        work_a_week(hub, tmp_path)
    run = CliRunner().invoke
    assert f"+++ b/{PAGE}.md" in run(build_command_line(), ["compile", "--dry-run"]).output
    assert "Compiled 1 project and 4 logs with 4 new entries." in run(build_command_line(), ["compile"]).output
    assert run(build_command_line(), ["compile"]).output == "Nothing to compile.\n"
    data = json.loads(run(build_command_line(), ["compile", "--all", "--json"]).output)
    assert data["logs"] == list(DAYS)
    assert data["projects"] == [SHOP]
    assert run(build_command_line(), ["compile", "--file", "2001-01-01"]).exit_code == 1
