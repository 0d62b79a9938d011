"""The summary of a captured session, told from its episodes: what was wanted, decided, done and left open."""

from __future__ import annotations

from engram.capture.digests.episodes import list_episodes
from engram.platform.text import to_one_line
from engram.sessions import lifecycle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.evidence.records import Episode
    from engram.hub import Hub

WORDS = 120
_REQUESTS, _DECISIONS, _FILES, _COMMITS, _OPEN = 2, 3, 4, 2, 2
_REPEATS_TITLE = "Not finished: "
_GOAL, _ITEM, _ANSWER = 160, 130, 240  # characters
UNFINISHED = ("partly", "not done", "abandoned")


def describe_session(hub: Hub, session_id: str) -> str:
    """Return what a session came to, in at most 120 words; "" for a chat that belongs to no project."""
    found = list_episodes(hub, session_id)
    worked = any(episode.decisions or episode.changed or episode.commits or episode.errors for episode in found)
    if not found or not (worked or lifecycle.require_session(hub, session_id)["project"]):
        return ""
    decided = [item.text for episode in found for item in episode.decisions if not item.superseded_by]
    open_items = [item for episode in found for item in episode.open if not item.startswith(_REPEATS_TITLE)]
    done = [line for line in (_describe_done(found), _quote_answer(found, worked)) if line]
    return _fit(
        [found[0].title, *_list_requests(found)], decided[-_DECISIONS:],
        [*done, f"Result: {describe_result(found)}."], open_items[-_OPEN:],
    )  # fmt: skip


def _quote_answer(found: Sequence[Episode], worked: bool) -> str:
    """Return the beginning of the agent's last report, if nothing else tells what came of the session."""
    report = found[-1].report
    return f"Answer: {to_one_line(report, _ANSWER)}" if report and not worked else ""


def _list_requests(found: Sequence[Episode]) -> list[str]:
    title, goal = found[0].title, to_one_line(found[0].request, _GOAL)
    says_more = goal.rstrip("….").casefold() not in title.casefold()
    later = list(dict.fromkeys(episode.title for episode in found[1:]))
    more = f"; and {len(later) - _REQUESTS} more" if len(later) > _REQUESTS else ""
    then = [f"Then: {'; '.join(later[:_REQUESTS])}{more}"] if later else []
    return [*([f"Wanted: {goal}"] if says_more else []), *then]


def _list_items(heading: str, items: Sequence[str]) -> list[str]:
    return [f"{heading}:", *(f"- {to_one_line(item, _ITEM)}" for item in items)] if items else []


def _describe_done(found: Sequence[Episode]) -> str:
    """Return the files changed, the commits and the last tests in one line."""
    names = [path.replace("\\", "/").rpartition("/")[2] for episode in found for path in episode.changed]
    commits = [drop_hash(commit) for episode in found for commit in episode.commits]
    verdicts = [episode.tests for episode in found if episode.tests]
    parts = [
        f"changed {join_some(list(dict.fromkeys(names)), _FILES)}" if names else "",
        f"committed {join_some([f'“{commit}”' for commit in dict.fromkeys(commits)], _COMMITS)}" if commits else "",
        f"tests {verdicts[-1]}" if verdicts else "",
    ]
    done = "; ".join(part for part in parts if part)
    return f"Done: {done}." if done else ""


def describe_result(found: Sequence[Episode]) -> str:
    """Return how the episodes of a session ended."""
    if len(found) == 1:
        return found[0].result
    unfinished = [episode for episode in found if episode.result in UNFINISHED]
    if not unfinished:
        return "all done" if len({episode.result for episode in found}) > 1 else found[0].result
    return f"{len(found) - len(unfinished)} of {len(found)} requests done, last one {found[-1].result}"


def drop_hash(commit: str) -> str:
    """Return the subject of a commit without its hash."""
    first, _, rest = commit.partition(" ")
    is_hash = len(first) >= 7 and all(character in "0123456789abcdef" for character in first)
    return rest if is_hash and rest else commit


def join_some(items: Sequence[str], most: int) -> str:
    """Return the first items in one line, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _fit(requests: list[str], decided: list[str], done: list[str], open_items: list[str]) -> str:
    """Return the parts as one text; of the lists only as many items as fit, at least one of each."""
    while True:
        lines = [*requests, *_list_items("Decided", decided), *done, *_list_items("Open", open_items)]
        longer = max(decided, open_items, key=len)
        if sum(len(line.split()) for line in lines) <= WORDS or len(longer) <= 1:
            return "\n".join(lines)
        del (decided if longer is decided else open_items)[0]
