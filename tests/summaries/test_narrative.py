"""The narrative: the current state of the work."""

from __future__ import annotations

from engram import Engram
from tests.summaries.talking import passages, said


def test_a_narrative_tells_the_last_sessions_what_is_open_and_how_it_goes(engram: Engram) -> None:
    said(engram, "one", "2026-03-10T10:00:00+00:00", "The importer drops every second line of a file.",
         "I fixed it. Next step: the exporter still needs to be ported.")  # fmt: skip
    said(engram, "two", "2026-04-10T10:00:00+00:00", "The exporter writes dates in the wrong order.")
    engram.summarize()
    engram.integrate()
    told = engram.get_narrative() or ""
    assert "Sessions by month: 2026-03: 1; 2026-04: 1." in told
    assert told.index("wrong order") < told.index("every second line")
    assert "the exporter still needs to be ported" in told.partition("Open:")[2]
    assert "wrong order" in passages(engram, "narrative")["current"]


def test_a_narrative_is_fresh_until_something_it_is_made_of_changes(engram: Engram) -> None:
    said(engram, "one", "2026-03-10T10:00:00+00:00", "The importer drops every second line of a file.")
    engram.summarize()
    assert engram.integrate().narrative == "made"
    assert engram.integrate().narrative == "fresh"
    engram.store_summary("one", "The importer was repaired.")
    assert engram.integrate().narrative == "made"


def test_a_given_narrative_is_kept_and_several_can_be(engram: Engram) -> None:
    said(engram, "one", "2026-03-10T10:00:00+00:00", "The importer drops every second line of a file.")
    engram.summarize()
    engram.integrate()
    assert engram.set_narrative("All is well.") == "All is well."
    engram.set_narrative("Another arc.", "other")
    assert engram.integrate().narrative == "fresh"
    engram.store_summary("one", "The importer was repaired.")
    assert engram.integrate().narrative == "kept"
    assert (engram.get_narrative(), engram.get_narrative("other")) == ("All is well.", "Another arc.")


def test_without_sessions_there_is_no_narrative(engram: Engram) -> None:
    assert engram.integrate().narrative == "none"
    assert engram.get_narrative() is None
