"""Group what a search found by episode: messages, events, and the cases whose problem is like the question."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from engram.index.doc_kinds import EXCHANGES, KINDS
from engram.platform.value import value
from engram.search import fuse
from engram.store import cases, episodes
from engram.summaries.exchanges import NOTES_SESSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engram.hub import Hub
    from engram.search.candidates import ScoredDoc
    from engram.search.case_search import CaseMatch
    from engram.store.engine import Row
    from engram.types import Hit

Key = tuple[Any, ...]

CASE = 0.6  # worth of the best case, relative to a message that is best in every part
_ENOUGH = 5.0  # words of its own that the best case shares with the question; with fewer, cases count less
_SURE_WORDS, _SURE_COVER, _LEAD = 5.5, 0.2, 1.5  # what makes a case the same problem; see `push`
_SAME_PROBLEM = 1.0  # how much higher it ranks then
_REPEATED = 0.8  # worth of a further episode of a session, relative to its first
_RETOLD = ("gist", "digest", "daily")  # kinds that restate a session
_WEIGHTS = fuse.ScoreWeights()


@value
class CaseScope:
    """Which cases a search may find."""

    allowed: frozenset[str] | None = None  # sessions; None for all, with commits
    exclude: str | None = None  # a session
    since: int = 0
    until: int = 1 << 62

    def includes(self, case: Row, episode: Row | None) -> bool:
        """Return whether a case is in scope; an episode is given with its case."""
        if not self.since <= case["at"] < self.until:
            return False
        if episode is None:
            return bool(case["kind"] == "commit") and self.allowed is None
        return episode["session_id"] != self.exclude and (self.allowed is None or episode["session_id"] in self.allowed)


class Group:
    """An episode, a commit, or a session without episodes, with what was found of it."""

    def __init__(self, key: Key, session_id: str | None, episode: Row | None = None) -> None:
        self.key, self.session_id, self.episode = key, session_id, episode
        self.case: int | None = episode["case_id"] if episode else None
        self.hash = ""  # of a commit
        self.at = 0
        self.found: list[tuple[ScoredDoc, Row]] = []  # messages and passages, best first
        self.events: list[Hit] = []
        self.case_score = 0.0
        self.fix = ""  # what ended the error that the question quotes
        self.match: CaseMatch | None = None
        self.is_same_problem = False

    @property
    def is_case(self) -> bool:
        """Whether what settled it can be shown."""
        return self.case is not None

    @property
    def message_score(self) -> float:
        """How well the best messages answer; the score of their session counts once."""
        priors = [_WEIGHTS.session * doc.why.get("session", 0.0) / _WEIGHTS.total for doc, _ in self.found[:1]]
        pooled = sum(
            weight * (doc.score - prior)
            for weight, (doc, _) in zip(_WEIGHTS.pool, self.found, strict=False)
            for prior in priors
        )
        best_event = max((event.score for event in self.events), default=0.0)
        return max(pooled + sum(priors), best_event)

    @property
    def score(self) -> float:
        """How well it answers, from 0 to 1."""
        return (self.message_score + CASE * self.case_score) / (1 + CASE if self.is_case else 1.0)

    @property
    def rank_score(self) -> float:
        """How it ranks among all groups."""
        return self.message_score + CASE * self.case_score + (_SAME_PROBLEM if self.is_same_problem else 0.0)


class GroupedResult:
    """Everything found, by group."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.groups: dict[Key, Group] = {}
        self.starts: dict[str, list[int]] = {}
        self.episodes: dict[str, list[Row]] = {}

    def add_messages(self, found: Sequence[tuple[ScoredDoc, Row]]) -> None:
        """Add messages and passages, best first."""
        self._load_episodes({row["session_id"] for _, row in found} - {None})
        for doc, row in found:
            if doc.kind not in _RETOLD or not self.episodes.get(row["session_id"]):
                self._place(row["session_id"], row["at"], row["id"], doc.kind).found.append((doc, row))

    def add_events(self, events: Sequence[Hit]) -> None:
        """Add calls and results that contain all words of the question."""
        self._load_episodes({event.session_id for event in events if event.session_id})
        for event in events:
            at = round(event.at.timestamp() * 1_000_000) if event.at else 0
            self._place(event.session_id, at, event.id, "event").events.append(event)

    def add_cases(self, matches: Sequence[CaseMatch], scope: CaseScope) -> None:
        """Add the cases that match, if they are in scope."""
        if not matches:
            return
        found = cases.fetch(self.hub.engine, [match.case for match in matches])
        rows = {row["case_id"]: row for row in episodes.list_by_cases(self.hub.engine, list(found))}
        best = max(match.score for match in matches) or 1.0
        certainty = min(1.0, max(match.words for match in matches) / _ENOUGH)
        for match in matches:
            case = found.get(match.case)
            episode = rows.get(match.case)
            if case is None or not scope.includes(case, episode):
                continue
            group = self._get_episode_group(episode) if episode else self._get_commit_group(case)
            group.case_score = max(group.case_score, certainty * match.score / best)
            group.match = group.match or match
        self._mark_same_problem()

    def _mark_same_problem(self) -> None:
        """Mark the group whose problem is clearly that of the question: by many words, and far before the next."""
        matched = [(group.match.words, group) for group in self.groups.values() if group.match]
        matched.sort(key=lambda item: -item[0])
        words = [*(words for words, _ in matched), 0.0, 0.0]
        if words[0] >= _SURE_WORDS and words[0] >= _LEAD * words[1]:
            first = matched[0][1]
            first.is_same_problem = bool(first.match and first.match.cover >= _SURE_COVER)

    def rank(self) -> list[Group]:
        """Return the groups, best first; of a session that has several, the later ones count less."""
        ordered = sorted(self.groups.values(), key=lambda group: (-group.rank_score, -group.at))
        seen: dict[str, int] = {}
        worth: list[tuple[float, int, Group]] = []
        for place, group in enumerate(ordered):
            repeated = seen.get(group.session_id or "", 0) if group.session_id else 0
            seen[group.session_id or ""] = repeated + 1
            worth.append((-group.rank_score * _REPEATED**repeated, place, group))
        return [group for _, _, group in sorted(worth, key=lambda item: item[:2])]

    def _load_episodes(self, session_ids: Iterable[str]) -> None:
        missing = [session_id for session_id in session_ids if session_id not in self.episodes]
        self.episodes |= {session_id: [] for session_id in missing}
        for row in episodes.list_by_sessions(self.hub.engine, missing):
            self.episodes[row["session_id"]].append(row)
        for session_id in missing:
            self.starts[session_id] = [row["started_at"] or 0 for row in self.episodes[session_id]]

    def _place(self, session_id: str | None, at: int, number: object, kind: str) -> Group:
        """Return the group of something found: its episode, its session, or its own."""
        is_document = kind not in (*KINDS[:EXCHANGES], "event", *_RETOLD)
        if session_id is None or is_document or session_id == NOTES_SESSION:
            return self.groups.setdefault(("own", kind, number), Group(("own", kind, number), None))
        own = self.episodes.get(session_id) or []
        if own and kind not in _RETOLD:
            place = max(bisect_right(self.starts[session_id], at) - 1, 0)
            return self._get_episode_group(own[place])
        key = ("session", session_id)
        return self.groups.setdefault(key, Group(key, session_id))

    def _get_episode_group(self, episode: Row) -> Group:
        """Return the group of an episode; a fork repeats those of the session it comes from."""
        key = ("episode", episode["started_at"] or 0, episode["title"])
        group = self.groups.setdefault(key, Group(key, episode["session_id"], episode))
        group.at = episode["started_at"] or 0
        if group.episode and group.episode["relation"] and not episode["relation"]:
            group.episode, group.case, group.session_id = episode, episode["case_id"], episode["session_id"]
        return group

    def _get_commit_group(self, case: Row) -> Group:
        key = ("commit", case["project"], case["hash"])
        group = self.groups.setdefault(key, Group(key, None))
        group.case, group.hash, group.at = case["id"], case["hash"], case["at"]
        return group


def find_episode_case(hub: Hub, case_ids: Sequence[int]) -> dict[int, Row]:
    """Return the episodes of cases, with their facts, by case."""
    return {row["case_id"]: row for row in episodes.list_by_cases(hub.engine, case_ids)}
