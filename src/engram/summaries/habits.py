"""Habits of a user, counted over their last sessions: agents, languages, hours, tests and commits."""

from __future__ import annotations

from collections import Counter

from engram.clock import load_timezone, to_datetime
from engram.evidence.episodes import TEMPORARY
from engram.platform import plain_json
from engram.store import episodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.hub import Hub
    from engram.store.engine import Row

_EPISODES = 400  # the last ones
_LEAST_SESSIONS = 10
_LANGUAGES = 4
_LEAST_SHARE = 0.1  # of the sessions, for a language or an agent
_MOST_HOURS = 0.8  # share of the requests in the hours named
_WIDEST = 14  # hours of a span that says something
_NAMES = {
    "py": "Python", "go": "Go", "rs": "Rust", "ts": "TypeScript", "tsx": "TypeScript", "js": "JavaScript",
    "jsx": "JavaScript", "java": "Java", "kt": "Kotlin", "rb": "Ruby", "php": "PHP", "cs": "C#", "c": "C", "h": "C",
    "cpp": "C++", "hpp": "C++", "swift": "Swift", "ex": "Elixir", "exs": "Elixir", "lua": "Lua", "sh": "shell",
    "ps1": "PowerShell", "sql": "SQL", "html": "HTML", "css": "CSS", "vue": "Vue", "svelte": "Svelte", "dart": "Dart",
    "tf": "Terraform", "md": "Markdown", "mdx": "Markdown", "zig": "Zig", "hs": "Haskell", "ml": "OCaml",
    "scala": "Scala", "clj": "Clojure", "r": "R", "jl": "Julia",
}  # fmt: skip


def list_habits(hub: Hub) -> list[str]:
    """Return what the last sessions show of how a user works; nothing if there are few."""
    rows = episodes.list_last(hub.engine, _EPISODES)
    sessions = {row["session_id"] for row in rows}
    if len(sessions) < _LEAST_SESSIONS:
        return []
    facts = [(row, plain_json.loads(row["facts"])) for row in rows]
    languages = {(row["session_id"], name) for row, item in facts for name in _list_languages(item["changed"])}
    agents = {(row["session_id"], row["flavor"]) for row in rows}
    tested = {row["session_id"] for row, item in facts if item["tests"]}
    committed = {row["session_id"] for row, item in facts if item["commits"]}
    lines = [
        _name_shares("Agents", agents, len(sessions)), _name_shares("Languages", languages, len(sessions)),
        f"Agents ran tests in {len(tested)} of {len(sessions)} sessions and committed in {len(committed)}.",
        _name_hours(hub, rows),
    ]  # fmt: skip
    return [line for line in lines if line]


def _list_languages(paths: Sequence[str]) -> set[str]:
    endings = (path.rpartition(".")[2].lower() for path in paths if not TEMPORARY.search(path))
    return {_NAMES[ending] for ending in endings if ending in _NAMES}


def _name_shares(heading: str, pairs: set[tuple[str, str]], total: int) -> str:
    """Return in how many sessions each name was met, most frequent first."""
    counts = Counter(name for _, name in pairs)
    often = [(name, count) for name, count in counts.most_common(_LANGUAGES) if count >= _LEAST_SHARE * total]
    named = ", ".join(f"{name} ({count} of {total} sessions)" for name, count in often)
    return f"{heading}: {named}." if named else ""


def _name_hours(hub: Hub, rows: Sequence[Row]) -> str:
    """Return the shortest span of hours in which most requests were made."""
    zone = load_timezone(hub.settings.timezone)
    hours = Counter(to_datetime(row["started_at"]).astimezone(zone).hour for row in rows if row["started_at"])
    needed = _MOST_HOURS * sum(hours.values())
    for length in range(1, _WIDEST + 1):
        for first in range(24):
            count = sum(hours[(first + step) % 24] for step in range(length))
            if count >= needed > 0:
                return (
                    f"Works mostly between {first:02}:00 and {(first + length) % 24:02}:00 "
                    f"({100 * count // sum(hours.values())} % of requests)."
                )
    return ""
