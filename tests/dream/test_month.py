"""A month of three agents in two projects, day by day; after each night the figures match a manual count.

PLAN lists the events, EXPECTED the figures. The sums were calculated by hand, not by our code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.store import documents, log_entries, patterns, session_gists, sessions
from engram.wiki.vault import vault
from tests.conftest import ManualClock
from tests.patterns.writers import Claude, Codex, Gemini
from tests.wiki.shop import RULES

Writer = Claude | Codex | Gemini
AGENTS: tuple[type[Writer], ...] = (Claude, Codex, Gemini)
FIRST = datetime(2027, 1, 1, tzinfo=UTC)
SHOP, TILL = "/home/me/shop", "/home/me/till"
LONG = "because the old table lost rows whenever two tills wrote at once"


class Month:
    """The user, the agents, and the nights."""

    def __init__(self, engram: Engram, clock: ManualClock, person: Path) -> None:
        self.engram, self.clock, self.person = engram, clock, person
        self.day = 0
        self.writers: dict[str, Writer] = {}

    def at(self, hour: int) -> datetime:
        return FIRST + timedelta(days=self.day - 1, hours=hour)

    def session(self, kind: type[Writer], name: str, project: str, hour: int = 10) -> Writer:
        """Start a session of four messages: two by the user, two by the agent."""
        writer = self.writers[name] = kind(self.person, name, project, self.at(hour))
        writer.says(f"Please keep the prices of {name} in one table, {LONG}. I always prefer small steps.")
        writer.answers(f"The prices of {name} lie in `src/price.py` now. We decided to keep one table {LONG}.")
        rule = RULES[len(self.writers) % len(RULES)].split(". ", 1)[1]
        writer.says(f"Good; now let the receipts of {name} follow in the same way. {rule}")
        writer.answers(f"The receipts of {name} follow in `src/receipt.py`. Open: who tells the courier about {name}?")
        return writer

    def resume(self, name: str, hour: int = 11) -> None:
        """Continue a session with one question and one answer."""
        writer = self.writers[name]
        writer.now = self.at(hour)
        writer.says(f"One more thing for {name}: the vouchers should follow the receipts in that table.")
        writer.answers(f"The vouchers of {name} follow the receipts in `src/voucher.py`.")

    def crash(self, name: str, project: str) -> None:
        """Let an agent die in the middle of a line."""
        writer = self.writers[name] = Claude(self.person, name, project, self.at(10))
        writer.says(f"Please move the stock of {name} to the new table, {LONG}.")
        with writer.path.open("a") as file:
            file.write('{"type": "assistant", "message": {"role": "assis')

    def stumble(self, kind: type[Writer], name: str, project: str) -> None:
        """Run the same failing command three times, then one that works."""
        writer = self.session(kind, name, project)
        for _ in range(3):
            writer.runs("make deploy", "make: *** [deploy] Error 2: DEPLOY_KEY is not set", 2)
        writer.runs("DEPLOY_KEY=test make deploy", "deployed to staging")
        writer.says(f"Good, {name} is deployed.")
        writer.answers(f"{name} is deployed; the key has to be set before `make deploy`.")

    def history(self) -> None:
        """Add sessions of last November, like an import of old files."""
        self.day, today = self.day - 60, self.day
        for number in (1, 2):
            self.session(Claude, f"old{number}", SHOP)
            self.day += 1
        self.day = today

    def delete(self, name: str) -> None:
        self.engram.delete_session(self.id(name))

    def id(self, name: str) -> str:
        writer = self.writers[name]
        row = sessions.find_by_native_id(self.engram.engine, writer.flavor, writer.session)
        assert row is not None
        return str(row["id"])


Play = Callable[[Month], object]


def _nothing(_: Month) -> None:
    """Do nothing."""


PLAN: dict[int, Play] = {
    1: lambda m: m.session(Claude, "a1", SHOP),
    # day 2: nothing happens
    3: lambda m: (m.session(Codex, "b1", TILL), m.session(Gemini, "g1", TILL, 14)),
    4: lambda m: m.crash("c1", SHOP),
    5: lambda m: m.resume("a1"),
    6: lambda m: m.history(),
    8: lambda m: m.stumble(Claude, "d1", SHOP),
    9: lambda m: m.stumble(Codex, "d2", TILL),
    12: lambda m: m.delete("b1"),
    15: lambda m: [m.session(kind, f"e{n}", (SHOP, TILL)[n % 2], 9 + n) for n, kind in enumerate(AGENTS)],
    20: lambda m: m.resume("e0"),
    28: lambda m: m.session(Gemini, "f1", SHOP),
    33: lambda m: m.session(Claude, "h1", SHOP),  # February has begun
}

# After the night of a day: sessions with a summary; sessions per month in the eras; entries of daily logs;
# candidate patterns of at least two sessions. Figures that are not named stay the same.
EXPECTED: dict[int, dict[str, object]] = {
    1: {"gists": 1, "eras": {"2027-01": 1}, "entries": 1, "patterns": 0},
    3: {"gists": 3, "eras": {"2027-01": 3}, "entries": 3},
    4: {"gists": 4, "eras": {"2027-01": 4}, "entries": 4},
    5: {"entries": 5},  # the same session again: a second entry, no other summary
    6: {"gists": 6, "eras": {"2026-11": 2, "2027-01": 4}, "entries": 7},
    8: {"gists": 7, "eras": {"2026-11": 2, "2027-01": 5}, "entries": 8},
    9: {"gists": 8, "eras": {"2026-11": 2, "2027-01": 6}, "entries": 9, "patterns": 1},
    12: {"gists": 7, "eras": {"2026-11": 2, "2027-01": 5}, "entries": 8},
    15: {"gists": 10, "eras": {"2026-11": 2, "2027-01": 8}, "entries": 11},
    20: {"entries": 12},
    28: {"gists": 11, "eras": {"2026-11": 2, "2027-01": 9}, "entries": 13},
    33: {"gists": 12, "eras": {"2026-11": 2, "2027-01": 9, "2027-02": 1}, "entries": 14},
}

# Before the night's pass: sessions to flush / 3 + sessions to summarize + new turns / 40, and 1 - 2 to the minus of it.
CONTINUITY = {
    1: 0.6298,  # 1/3 + 1 + 4/40 = 1.4333
    3: 0.8630,  # 2/3 + 2 + 8/40 = 2.8667
    4: 0.6099,  # 1/3 + 1 + 1/40 = 1.3583
    5: 0.6166,  # 1/3 + 1 + 2/40 = 1.3833: two turns of a session that ended again
    15: 0.9492,  # 3/3 + 3 + 12/40 = 4.3
}


@pytest.fixture
def month(tmp_path: Path, clock: ManualClock, bare_home: Path) -> Iterator[Month]:
    clock.wall = round(FIRST.timestamp() * 1_000_000)
    with Engram(tmp_path / "home", clock=clock, embedder="static", timezone="UTC") as engram:
        yield Month(engram, clock, bare_home)


def figures(engram: Engram) -> dict[str, object]:
    """Return the figures of the store."""
    days = [row["day"] for row in engram.engine.run("select distinct day from entries")]
    eras = {era.month: era.session_count for era in engram.list_eras()}
    return {
        "gists": session_gists.count(engram.engine), "eras": eras,
        "entries": sum(len(log_entries.list_by_day(engram.engine, day)) for day in days),
        "patterns": len(failing(engram)),
    }  # fmt: skip


def failing(engram: Engram) -> list[dict[str, Any]]:
    """Return the failing commands of several sessions."""
    return [row for row in patterns.list_frequent(engram.engine, 2, None, None) if row["kind"] == "failing-command"]


def test_a_month_comes_to_what_a_hand_computation_expects(month: Month) -> None:
    engram = month.engram
    expected: dict[str, object] = {"gists": 0, "eras": {}, "entries": 0, "patterns": 0}
    for day in range(1, 34):
        month.day = day
        PLAN.get(day, _nothing)(month)
        month.clock.wall = round(month.at(22).timestamp() * 1_000_000)
        engram.ingest()
        if day in CONTINUITY:
            assert engram.get_drives()[0].pressure == pytest.approx(CONTINUITY[day], abs=1e-4), day
        dream_pass = engram.dream()
        expected |= EXPECTED.get(day, {})
        assert figures(engram) == expected, day
        assert [done.failed for done in dream_pass.steps if done.failed] == [], day
        quiet = {name: drive.level for name, drive in dream_pass.drives.items() if name in ("continuity", "coherence")}
        assert quiet == {"continuity": 0, "coherence": 0}, (day, dream_pass.drives)
        if day not in PLAN:
            assert {done.step for done in dream_pass.steps if done.count} <= {
                "detect",
                "reflect",
                "lint",
                "rot",
                "embed",
            }, day
        _tiers_agree(month, int(str(expected["gists"])))
    _words_agree(month)


def _tiers_agree(month: Month, gists: int) -> None:
    """Check that the documents above the summaries include all of them."""
    engram = month.engram
    if gists:
        assert engram.profile_sessions_covered() == gists
        assert "small steps" in (engram.get_profile() or "")
        assert engram.get_narrative()


def _words_agree(month: Month) -> None:
    """Check what the documents contain at the end, and what they must not contain."""
    engram = month.engram
    a1, e0 = month.id("a1"), month.id("e0")
    assert [documents.list_version_numbers(engram.engine, "gist")[each] for each in (a1, e0)] == [2, 2]
    home = vault.open_vault(engram)
    pages = {target: home.read(target) or "" for target in home.iter_pages("concepts", "connections", "daily")}
    assert {"concepts/shop", "concepts/till"} & set(pages), sorted(pages)
    assert not [target for target, text in pages.items() if " b1" in text]
    everything = engram.engine.run("select content from documents union all select content from passages")
    assert not [row for row in everything if " b1" in row["content"]]
    (pattern,) = failing(engram)
    assert "make deploy" in pattern["title"]
    state = engram.get_self_state()
    assert state["drives"]["stability"]["level"] > 0.5
    assert state["reflection"]["narrative"].startswith("I reviewed")


def test_the_month_in_one_pass_comes_to_the_same_documents(month: Month, tmp_path: Path, clock: ManualClock) -> None:
    """A history imported in one batch, as after a late install, gives the same result as day by day."""
    for day in range(1, 34):
        month.day = day
        if day != 12:
            PLAN.get(day, _nothing)(month)
    clock.wall = round(month.at(22).timestamp() * 1_000_000)
    dream_pass = month.engram.dream(force=True)
    assert [done.failed for done in dream_pass.steps if done.failed] == []
    assert figures(month.engram) == {
        "gists": 13, "eras": {"2026-11": 2, "2027-01": 10, "2027-02": 1}, "entries": 13, "patterns": 1,
    }  # fmt: skip
