"""Failed flushes, as shown to people."""

from __future__ import annotations

from datetime import timedelta

from engram.clock import to_datetime
from tests.conftest import ManualClock
from tests.models.conftest import Opened
from tests.models.speaking import says, speaking
from tests.summaries.talking import said

TALK = (
    "Please make the export of invoices faster, it takes an hour.",
    "The export reads every row twice. I will use one query instead.",
    "We decided to keep the CSV format because accounting depends on it.",
    "Done: the export takes four minutes now. The archive is still to be moved.",
)


def test_a_failure_says_why_how_often_and_when_it_is_tried_again(opened: Opened, clock: ManualClock) -> None:
    with speaking(says({}, 529)) as api:
        hub = opened(model="openai", model_name="scripted", model_url=f"{api.url}/v1", clock=clock)
        said(hub, "talk", (to_datetime(hub.now()) - timedelta(hours=1)).isoformat(), *TALK)
        assert hub.list_failures() == []
        hub.flush()
        (found,) = hub.list_failures()
        assert (found.session_id, found.tries) == ("talk", 1)
        assert "529" in found.problem
        assert found.next_at > to_datetime(hub.now())
        hub.flush(session="talk")  # a manual retry does not wait
        assert hub.list_failures()[0].tries == 2


def test_what_succeeds_is_no_failure_any_more(opened: Opened, clock: ManualClock) -> None:
    with speaking(says({}, 529)) as api:
        hub = opened(model="openai", model_name="scripted", model_url=f"{api.url}/v1", clock=clock)
        said(hub, "talk", (to_datetime(hub.now()) - timedelta(hours=1)).isoformat(), *TALK)
        hub.flush()
        assert len(hub.list_failures()) == 1
    without = opened(clock=clock)
    without.flush(session="talk")
    assert without.list_failures() == []
