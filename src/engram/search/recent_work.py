"""Where the work in a project stands: its most significant recent episodes, as facts. It runs in hooks."""

from __future__ import annotations

from math import exp

from engram.evidence.open_items import is_worth_listing
from engram.platform import plain_json, text
from engram.platform.value import value
from engram.store import captures, documents, episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row

_READ = 60  # episodes looked at
_SHOWN = 4
_DAY = 86_400_000_000
_FADES = 7  # days after which an episode counts a third
_OTHER_BRANCH = 0.5  # how much an episode on another branch counts
_STALE = 14  # days after which an open item is not shown any more
_TITLE, _PART = 90, 130  # characters
_SUMMARY = 90  # tokens
_QUOTED = "extract"  # who made a summary that only quotes
_WRITTEN = 6.0  # significance of a session with a summary
_LEAST = 2.0  # significance of an episode worth a line


@value
class WorkLine:
    """One line about an episode, and the session it belongs to."""

    session_id: str
    text: str


def list_recent_work(hub: Hub, project: str, branch: str | None, exclude: str, limit: int = _SHOWN) -> list[WorkLine]:
    """Return the recent episodes of a project that matter most: work done or left open, near in branch and time."""
    summarized = _list_summarized(hub, project, exclude)
    known = {row["session_id"] for row in summarized}
    rows = [row for row in episodes.list_recent(hub.engine, project, exclude, _READ) if row["ended_at"]]
    rows = [*summarized, *(row for row in rows if row["session_id"] not in known)]
    weighed = [(_weigh(row, branch, hub.now()), row) for row in rows]
    best = sorted((pair for pair in weighed if pair[0] > 0), key=lambda pair: -pair[0])
    chosen: dict[str, Row] = {}  # forks repeat their episodes
    for _, row in best:
        chosen.setdefault(row["title"], row)
    kept = sorted(list(chosen.values())[:limit], key=lambda row: -row["ended_at"])
    return [WorkLine(session_id=row["session_id"], text=_render(row, hub.now())) for row in kept]


def _list_summarized(hub: Hub, project: str, exclude: str) -> list[Row]:
    """Return the last sessions whose summary a model or a person wrote."""
    rows = []
    for row in captures.list_recent_work(hub.engine, project, exclude, _SHOWN):
        gist = documents.get_current(hub.engine, "gist", row["id"])
        if gist and not (gist["made_by"] or "").startswith(_QUOTED):
            rows.append(
                {
                    "session_id": row["id"], "branch": row["branch"], "title": row["summary"], "facts": "",
                    "ended_at": row["last_at"] or row["last_heartbeat"], "result": row["outcome"] or "unclear",
                    "summary": gist["content"].strip(),
                }
            )  # fmt: skip
    return rows


def _weigh(row: Row, branch: str | None, now: int) -> float:
    """Return how much an episode matters now; 0 if it came to nothing."""
    significance = _WRITTEN if row.get("summary") else _measure_significance(plain_json.loads(row["facts"]))
    if significance < _LEAST:
        return 0.0
    near = 1.0 if not branch or row["branch"] in (branch, None, "") else _OTHER_BRANCH
    return significance * near * (0.2 + exp(-max(0, now - row["ended_at"]) / (_FADES * _DAY)))


def _measure_significance(facts: dict[str, Any]) -> float:
    """Return how much an episode did and left open."""
    return (
        2.0 * min(len(facts["commits"]), 3) + 0.5 * min(len(facts["changed"]), 6) + 2.0 * bool(facts["decisions"])
        + 1.0 * bool(facts["causes"]) + 1.5 * bool(facts["open"])
    )  # fmt: skip


def _render(row: Row, now: int) -> str:
    age = now - row["ended_at"]
    branch = f" on {text.escape_inline(row['branch'], 40)}" if row["branch"] else ""
    summary, facts = row.get("summary"), plain_json.loads(row["facts"]) if row["facts"] else {}
    what = text.escape_inline(row["title"] if summary else _find_subject(row, facts), _TITLE)
    head = f"- {text.format_duration(age)} ago{branch}, {row['result']}: {what} [`{row['session_id']}`]"
    details = [text.cut_to_tokens(summary, _SUMMARY)] if summary else _list_details(facts, age < _STALE * _DAY)
    return f"{head}\n{text.quote_as_data(chr(10).join(details))}" if details else head


def _find_subject(row: Row, facts: dict[str, Any]) -> str:
    """Return what an episode came to: the subject of its last commit, else its title."""
    hash_, _, subject = (facts["commits"][-1] if facts["commits"] else "").partition(" ")
    return subject if subject and len(hash_) >= 7 else f"{hash_} {subject}".strip() or str(row["title"])


def _list_details(facts: dict[str, Any], is_recent: bool) -> list[str]:
    """Return what an episode decided and left open, a line each."""
    decided = [item["text"] for item in facts["decisions"] if not item.get("by")]
    unfinished = list(filter(is_worth_listing, facts["open"])) if is_recent else []
    parts = (("Decided", decided[-1:]), ("Open", unfinished[:1]))
    lines = [f"{name}: {text.to_one_line(item, _PART)}" for name, items in parts for item in items]
    return [*lines, "The last tests failed."] if facts["tests"] == "failed" and is_recent else lines
