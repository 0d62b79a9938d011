"""Answer a question with episodes and commits: found by everything in them, shown by what settled them.

A session without episodes, such as a chat, is answered by its best message.
"""

from __future__ import annotations

import re
from math import log1p
from typing import TYPE_CHECKING, Any

from engram.clock import to_datetime
from engram.evidence import error_signature
from engram.evidence.content_words import measure_overlap
from engram.evidence.episodes import ABANDONED
from engram.evidence.open_items import waits_for_push
from engram.index.doc_kinds import EXCHANGES, KINDS
from engram.index.tokenizer import extract_terms
from engram.platform import plain_json, text
from engram.search import answer, case_search, command_answers, question_intent, work_list
from engram.search.episode_groups import CaseScope, Group, GroupedResult, find_episode_case
from engram.search.episode_text import LINE, fit_lines, list_settled, quote_best
from engram.search.filter import Filter, limit_to_window
from engram.search.named_project import find_named_project
from engram.search.narration import is_narration
from engram.search.query import Question, parse_question
from engram.search.resolution import Resolution, load_resolutions
from engram.search.snippet import extract_passage
from engram.store import cases, episodes, session_errors, sessions
from engram.types import Hit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engram.hub import Hub
    from engram.search.candidates import ScoredDoc, SearchResult
    from engram.search.case_search import CaseMatch
    from engram.store.engine import Row

ANSWERS, SESSIONS = 5, 20  # hits shown by default: of a question, and of one about a time
_READ = 200  # messages that are grouped
_CASES = 40  # cases that are grouped
_FULL = 2  # hits that are shown in full
_LONG, _SHORT = 260, 130  # tokens of a hit
_QUESTION, _ERROR = 6_000, 400  # characters of a question that are compared with cases, of an error
_TITLE = 140  # characters
_ERRORS, _PARTS, _SIGNATURE = 12, 4, 14  # lines of a question that may be an error, parts of one, characters
_SAME_REQUEST = 0.8  # share of the words of an abandoned request that one has which was made again
_LAST = 1 << 62
_DECIDED = re.compile(r"\b(?:decid\w*|decision\w*|agreed?|cho(?:se|ose|ice)|settled?)\b", re.IGNORECASE)
_LEAST_SHARE, _LEAST_CASE = 0.3, 0.25  # of the best match, and of the best case, to be shown beside it
_RANKED, _UNDECIDED = 15, 0.8  # groups that are ranked again, and the worth of one without a decision
# What an episode must reach for a question to count as answered: `words` of a case, or a message that matches better
# than chance does among sessions that all talk of tests, files and errors, or that has this many rare words of the
# question. Of questions asked of a store about something else, nine of ten get no answer; see benchmarks/recall.
_WORDS, _COVER = 2.0, 0.15
_EPISODE_ANSWERED, _RARE = 0.7, 2.2
_MANY = 1_000  # messages among which chance alone finds good matches; in a smaller store less is asked of a match


def answer_with_episodes(
    hub: Hub, query: str, filters: Filter, now: datetime, k: int | None, *, abstain: bool
) -> list[Hit]:  # fmt: skip
    """Return at most k hits, one for each episode, commit or session, best first."""
    question = parse_question(query, now)
    filters, name = _limit_to_project(hub, query, filters)
    if question_intent.asks_for_work(question, (name,)):
        return work_list.list_work(hub, limit_to_window(filters, question.window), now.tzinfo, k or SESSIONS)
    limit = k or ANSWERS
    special = _answer_by_intent(hub, question, filters, now, limit, name)
    return special if special is not None else _search(hub, question, filters, limit, abstain=abstain)


def _limit_to_project(hub: Hub, query: str, filters: Filter) -> tuple[Filter, str]:
    """Return the filter with the project that the question names, and that name."""
    if filters.project is not None:
        return filters, ""
    project, name = find_named_project(hub, query)
    return (filters, "") if project is None else (Filter(**{**vars(filters), "project": project}), name)


def _answer_by_intent(
    hub: Hub, question: Question, filters: Filter, now: datetime, limit: int, name: str
) -> list[Hit] | None:
    """Return the answer to a question about a command, a file or what is open; None if it is about something else."""
    purpose = question_intent.find_purpose(question, (name,))
    parts = question_intent.list_parts(question, (name,))
    if purpose and (hits := command_answers.find_commands(hub, purpose, parts, filters, now.tzinfo)):
        return hits[:limit]
    if question_intent.asks_for_open_items(question, (name,)):
        return _answer_with_open_items(hub, question, filters, limit) or None
    file = question_intent.find_file(question)
    if file and (hits := _answer_with_cases(hub, question, filters, _find_file_cases(hub, file, filters), limit)):
        return hits
    return None


def _find_open_cases(hub: Hub, filters: Filter) -> list[int]:
    """Return the cases of the newest open items."""
    rows = episodes.list_items(
        hub.engine,
        "open",
        4 * _CASES,
        project=filters.project,
        session_id=filters.session,
        since=filters.since,
        at_end=filters.session is None,
    )
    numbers = {(row["capture"], row["episode"]) for row in rows}
    sessions_found = list(dict.fromkeys(row["session_id"] for row in rows))
    found = [
        row
        for row in episodes.list_by_sessions(hub.engine, sessions_found)
        if (row["capture"], row["number"]) in numbers
    ]
    return [row["case_id"] for row in sorted(found, key=lambda row: -(row["started_at"] or 0))]


def _find_file_cases(hub: Hub, file: str, filters: Filter) -> list[int]:
    """Return the cases that changed a file or settled something about it, newest first."""
    from engram.evidence import anchors

    rows = cases.list_anchored(hub.engine, filters.project, "file", anchors.get_leaf(file), 4 * _CASES)
    found = {row["id"]: row["at"] for row in rows if anchors.is_same_file(file, row["name"])}
    return sorted(found, key=lambda case: -found[case])[:_CASES]


def _answer_with_cases(hub: Hub, question: Question, filters: Filter, case_ids: Sequence[int], limit: int) -> list[Hit]:
    """Return hits for cases in the order given."""
    grouped = GroupedResult(hub)
    total = len(case_ids)
    matches = [
        case_search.CaseMatch(case=case, score=float(total - place), words=9.0, cover=1.0, names=(), lead=1.0)
        for place, case in enumerate(case_ids)
    ]
    grouped.add_cases(matches, _build_scope(hub, filters))
    ranked = sorted(grouped.groups.values(), key=lambda group: -group.at)
    return _build_hits(hub, question, ranked, limit)


def _answer_with_open_items(hub: Hub, question: Question, filters: Filter, limit: int) -> list[Hit]:
    """Return the newest episodes that left something open, with what it is."""
    found = _find_open_cases(hub, filters)
    rows = find_episode_case(hub, found)
    hits = _answer_with_cases(hub, question, filters, found, limit)
    return [Hit(**{**vars(hit), "snippet": _list_open(rows.get(int(hit.id[1:])) or {}) or hit.snippet}) for hit in hits]


def _list_open(episode: Row) -> str:
    """Return what an episode left open, a line each."""
    items = plain_json.loads(episode["facts"])["open"] if episode else []
    wanted = [item for item in items if not waits_for_push(item)]
    return "\n".join(
        "Not finished." if item.startswith("Not finished: ") else f"Open: {text.to_one_line(item, LINE)}"
        for item in wanted
    )


# ---- Search


def _search(hub: Hub, question: Question, filters: Filter, limit: int, *, abstain: bool) -> list[Hit]:
    result = answer.search_messages(hub, question, filters)
    matches = _find_matches(hub, question, filters)
    events = answer.find_event_hits(hub, question, filters, limit) if answer.wants_events(filters, question) else []
    found = answer.load_rows(hub, question, result, result.scores, max(_READ, 6 * limit))
    grouped = GroupedResult(hub)
    grouped.add_messages(found)
    if abstain and not (events or _is_answered(grouped, result, question) or any(map(_is_match, matches))):
        return []
    grouped.add_events(events)
    if not question.phrases:
        grouped.add_cases(matches, _build_scope(hub, filters))
    ranked = _drop_copies(_put_errors_first(hub, question, grouped, filters))
    ranked = _put_decisions_first(hub, ranked) if _DECIDED.search(question.text[:_QUESTION]) else ranked
    ranked = ranked if question.phrases else _drop_weak(ranked, result)
    hits = _build_hits(hub, question, ranked, limit)
    return hits + _fill(hub, question, ranked, hits, limit)


def _find_matches(hub: Hub, question: Question, filters: Filter) -> list[CaseMatch]:
    if question.phrases:
        return []
    return case_search.find_cases(hub, question.text[:_QUESTION], filters.project, limit=_CASES)


def _is_match(match: CaseMatch) -> bool:
    """Return whether a case by itself answers a question."""
    return match.cover >= _COVER and (bool(match.names) or match.words >= _WORDS)


def _is_answered(grouped: GroupedResult, result: SearchResult, question: Question) -> bool:
    """Return whether a message answers: one of an episode must match better, as episodes share many words."""
    if question.phrases:
        return True
    least_message = answer.ANSWERED if result.by_meaning else answer.WORDS
    chance = min(log1p(len(result.docs)) / log1p(_MANY), 1.0)
    least_episode = least_message + chance * (_EPISODE_ANSWERED - least_message)
    for group in grouped.groups.values():
        least = least_episode if group.is_case else least_message
        for doc, _ in group.found:
            match = answer.measure_doc(doc, by_meaning=result.by_meaning)
            if match >= least or (group.is_case and doc.rare >= _RARE):
                return True
    return False


def _build_scope(hub: Hub, filters: Filter) -> CaseScope:
    """Return which cases pass the filter; of a project alone, its commits too."""
    is_limited = set(filters.session_criteria) - {"project"}
    found = sessions.find_matching_ids(hub.engine, **filters.session_criteria) if is_limited else None
    return CaseScope(
        allowed=None if found is None else frozenset(found), exclude=filters.exclude,
        since=filters.since or 0, until=_LAST if filters.until is None else filters.until,
    )  # fmt: skip


def _put_errors_first(hub: Hub, question: Question, grouped: GroupedResult, filters: Filter) -> list[Group]:
    """Return the groups, best first; if the question quotes an error, first the episodes that ended it."""
    ranked = grouped.rank()
    lines = [line.strip() for line in question.text[:_QUESTION].splitlines() if line.strip()][:_ERRORS]
    signatures = {signature for line in lines for signature in _list_signatures(line)}
    rows = session_errors.list_by_endings(hub.engine, sorted(signatures), _CASES)
    for row in reversed([row for row in rows if row["fix"] and filters.project in (None, row["project"])][:2]):
        ranked = _move_first(hub, grouped, ranked, row, filters)
    return ranked


def _list_signatures(line: str) -> list[str]:
    """Return the signatures that a line may have as an error, also without what stands before its message."""
    if len(line) > _ERROR:
        return []
    parts = line.split(": ")
    rests = [": ".join(parts[place:]) for place in range(min(len(parts), _PARTS))]
    found = [error_signature.make_signature(line), *(error_signature.abstract_line(rest) for rest in rests)]
    return [signature for signature in dict.fromkeys(found) if len(signature) >= _SIGNATURE]


def _put_decisions_first(hub: Hub, ranked: list[Group]) -> list[Group]:
    """Return the groups for a question about a decision: those that decided nothing rank a little lower."""
    best = ranked[:_RANKED]
    found = find_episode_case(hub, [group.case for group in best if group.case is not None])

    def weigh(group: Group) -> float:
        row = found.get(group.case or 0)
        decided = bool(group.hash) or (row is not None and bool(plain_json.loads(row["facts"])["decisions"]))
        return -group.rank_score * (1.0 if decided or not group.is_case else _UNDECIDED)

    return sorted(best, key=weigh) + ranked[_RANKED:]


def _move_first(hub: Hub, grouped: GroupedResult, ranked: list[Group], error: Row, filters: Filter) -> list[Group]:
    case = error["case_id"]
    known = next((group for group in ranked if group.case == case), None)
    if known is None:
        grouped.add_cases([case_search.CaseMatch(case, 1.0, 9.0, 1.0, (), 1.0)], _build_scope(hub, filters))
        known = next((group for group in grouped.groups.values() if group.case == case), None)
    if known is None:
        return ranked
    known.fix = text.to_one_line(f"{error['line']} → {error['fix']}", LINE)
    return [known, *(group for group in ranked if group is not known)]


def _drop_weak(ranked: list[Group], result: SearchResult) -> list[Group]:
    """Return the groups without those that match far worse than the best one."""
    matches = [
        max((answer.measure_doc(doc, by_meaning=result.by_meaning) for doc, _ in group.found), default=0.0)
        for group in ranked
    ]
    least = _LEAST_SHARE * max(matches, default=0.0)
    return [
        group
        for group, match in zip(ranked, matches, strict=True)
        if match >= least or group.events or group.fix or group.case_score >= _LEAST_CASE
    ]


def _drop_copies(ranked: list[Group]) -> list[Group]:
    """Return the groups without chats whose best message is the same one as of another, as in a fork of it.

    A request that was abandoned and made again goes too.
    """
    kept: list[Group] = []
    titles = [group.episode["title"] for group in ranked if group.episode and group.episode["result"] != ABANDONED]
    seen: set[tuple[int, str]] = set()
    for group in ranked:
        if group.episode and group.episode["result"] == ABANDONED and _is_asked_again(group.episode["title"], titles):
            continue
        if not group.is_case and group.found:
            row = group.found[0][1]
            mark = (row["at"], row["content"])
            if mark in seen:
                continue
            seen.add(mark)
        kept.append(group)
    return kept


def _is_asked_again(title: str, titles: list[str]) -> bool:
    return any(measure_overlap(title, other) >= _SAME_REQUEST for other in titles)


# ---- Hits


def _build_hits(hub: Hub, question: Question, ranked: list[Group], limit: int) -> list[Hit]:
    """Return hits for the first groups; the newest version stands for what it replaced."""
    hits: list[Hit] = []
    shown: set[int] = set()
    hashes: set[str] = set()
    for group in ranked:
        if len(hits) >= limit:
            break
        if not group.is_case:
            hits += _build_message_hit(hub, question, group)
            continue
        for resolution in _load_versions(hub, question, group):
            if resolution.case in shown or len(hits) >= limit:
                continue
            episode = find_episode_case(hub, [resolution.case]).get(resolution.case) if not resolution.hash else None
            if resolution.hash and resolution.hash[:7] in hashes:
                continue
            shown.add(resolution.case)
            hashes |= _list_hashes(episode)
            budget = _LONG if len(hits) < _FULL else _SHORT
            hits.append(_build_case_hit(hub, question, group, resolution, episode, budget))
    return hits


def _load_versions(hub: Hub, question: Question, group: Group) -> list[Resolution]:
    """Return how a case was settled, after a newer version that is still about the question."""
    found = load_resolutions(hub, [group.case or 0])
    own = next((resolution for resolution in found if resolution.case == group.case), None)
    if own is None:
        return []
    terms = frozenset(question.words)
    shared = len(_list_terms(own) & terms)
    newer = [item for item in found if item is not own and 2 * len(_list_terms(item) & terms) >= max(shared, 1)]
    return newer if newer and own.superseded else [*newer, _drop_state(own)]


def _find_event(group: Group, best: Row | None) -> int | None:
    """Return the event of the best message, or of the best call or result."""
    if best is not None:
        return int(best["event"]) if best["event"] else None
    return group.events[0].event if group.events else None


def _drop_state(resolution: Resolution) -> Resolution:
    return Resolution(**{**vars(resolution), "superseded": False})


def _list_terms(resolution: Resolution) -> set[str]:
    return set(extract_terms(" ".join((resolution.title, *resolution.decided, *resolution.causes))))


def _list_hashes(episode: Row | None) -> set[str]:
    """Return the short hashes of the commits that an episode made."""
    facts = plain_json.loads(episode["facts"]) if episode else {"commits": []}
    return {line.split(" ")[0][:7] for line in facts["commits"]}


def _build_message_hit(hub: Hub, question: Question, group: Group) -> list[Hit]:
    """Return the hit of a chat or a document: its best message."""
    if not group.found:
        return group.events[:1]
    said = [(doc, row) for doc, row in group.found if not is_narration(doc.kind, row["content"])]
    first_hand = [(doc, row) for doc, row in said if doc.kind in KINDS[:EXCHANGES]]
    doc, row = (first_hand or said or group.found)[0]
    return [answer.build_message_hit(hub, question, doc, row, {"score": round(group.score, 3)})]


def _build_case_hit(
    hub: Hub, question: Question, group: Group, resolution: Resolution, episode: Row | None, budget: int
) -> Hit:
    lines = _list_lines(question, group, resolution, episode)
    best = group.found[0][1] if group.found and group.found[0][0].kind in KINDS[:EXCHANGES] else None
    session = sessions.get(hub.engine, resolution.session_id) if resolution.session_id else None
    is_commit = bool(resolution.hash)
    why = {name: part for name, part in group.found[0][0].why.items() if part} if group.found else {}
    return Hit(
        id=f"c{resolution.case}", tier="commit" if is_commit else "episode",
        session_id=resolution.session_id or None, role="", at=to_datetime(resolution.at),
        snippet=fit_lines(lines, budget), score=round(min(group.score, 1.0), 3),
        why={**why, "message": round(group.message_score, 3), "case": round(group.case_score, 3)},
        exchange=best["id"] if best else None, event=_find_event(group, best),
        name=text.to_one_line(_get_request(episode) or resolution.title, _TITLE),
        flavor=(session or {}).get("flavor") or "",
        project=(session or {}).get("project") or (group.key[1] if is_commit else ""),
        summary=(session or {}).get("summary") or "", origin="derived", outcome=resolution.result,
        state="superseded" if resolution.superseded else "current",
        read_on=f"git show {resolution.hash[:10]}" if is_commit else f"engram get c{resolution.case}",
    )  # fmt: skip


def _get_request(episode: Row | None) -> str:
    """Return what an episode was asked to do; its title may be cut short."""
    return str(plain_json.loads(episode["facts"])["request"]) if episode else ""


def _list_lines(question: Question, group: Group, resolution: Resolution, episode: Row | None) -> list[str]:
    """Return what settled a case, the most useful first; if nothing did, what was reported and said."""
    lines = [f"Fixed: {group.fix}"] if group.fix else []
    lines += [line for line in list_settled(resolution) if line != f"Fixed: {group.fix}"]
    if resolution.hash:
        return lines
    facts: dict[str, Any] = plain_json.loads(episode["facts"]) if episode else {}
    terms = frozenset((*question.words, *question.beginnings))
    if facts.get("report") and not resolution.decided and not is_narration("assistant", facts["report"]):
        lines.append(f"Result: {extract_passage(facts['report'], terms, LINE)}")
    is_own = resolution.case == group.case
    said = (
        ""
        if not is_own
        else quote_best(group, terms, facts.get("request") or resolution.title, " ".join([resolution.title, *lines]))
    )
    lines += [said] if said else []
    named = [commit for commit in facts.get("commits") or [] if " " in commit]  # `git commit -q` says nothing of it
    lines += [f"Commit: {commit}" for commit in named[-2:]]
    lines += [f"Open: {item}" for item in resolution.open if not waits_for_push(item)]
    return lines or [f"Asked: {text.to_one_line(facts.get('request') or resolution.title, LINE)}"]


def _fill(hub: Hub, question: Question, ranked: list[Group], hits: list[Hit], limit: int) -> list[Hit]:
    """Return further messages of the chats shown, if there is room: those that match by themselves."""
    room, shown = limit - len(hits), {hit.id for hit in hits}
    chats = [group for group in ranked if not group.is_case]
    rest = [
        (doc, row) for group in chats for doc, row in group.found if _is_worth_adding(question, doc, row, shown)
    ]  # fmt: skip
    rest.sort(key=lambda item: -item[0].score)
    return [
        answer.build_message_hit(hub, question, doc, row, {"score": round(doc.score, 3)})
        for doc, row in rest[: max(room, 0)]
    ]


def _is_worth_adding(question: Question, doc: ScoredDoc, row: Row, shown: set[str]) -> bool:
    if doc.kind not in KINDS[:EXCHANGES] or f"x{row['id']}" in shown or is_narration(doc.kind, row["content"]):
        return False
    return bool(question.phrases) or doc.cover + 0.5 * doc.why.get("sentence", 0.0) >= answer.WORDS
