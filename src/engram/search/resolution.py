"""What settled a case: decisions, what was rejected, cause and fix, what is open. It runs in hooks."""

from __future__ import annotations

import os
import re

from engram.clock import to_datetime
from engram.evidence import anchors
from engram.evidence.commit_messages import strip_trailers
from engram.evidence.decision_text import choose_sentences, is_put_as_question
from engram.evidence.open_items import is_worth_listing
from engram.platform import plain_json, text
from engram.platform.file_below import read_file_below
from engram.platform.sentences import split_sentences
from engram.platform.value import value
from engram.store import captures, cases, commits, episodes, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row

_TITLE = 90  # characters
_REJECTED, _CAUSE, _OPEN = 160, 240, 140
_MOST_CHECKED = 6  # symbols whose code is compared
_MOST_CODE = 400_000  # bytes of a file in which symbols are looked up
_CAUSE_LABEL = re.compile(r"^(?:\W*(?:the )?(?:root )?cause(?: is| was)?:\s*)+", re.IGNORECASE)  # shown with a label
_JOINS = re.compile(r"\s*\n\s*")


@value
class Resolution:
    """How an episode or a commit settled its problem."""

    case: int
    kind: str  # episode, commit
    at: int
    title: str
    session_id: str  # "" for a commit
    native_id: str
    number: int  # of the episode in its session
    hash: str  # "" for an episode
    decided: tuple[str, ...]  # sentences, the most telling first
    rejected: tuple[str, ...]
    causes: tuple[str, ...]
    fixes: tuple[str, ...]
    open: tuple[str, ...]
    result: str
    notes: tuple[str, ...]  # what no longer holds
    superseded: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether it says anything that helps with the problem."""
        return bool(self.decided or self.causes or self.fixes)


def load_resolutions(hub: Hub, case_ids: list[int], characters: int = 1_200) -> list[Resolution]:
    """Return how cases were settled, the newest version in place of one that it supersedes; in the order given."""
    loaded: dict[int, Resolution] = {}
    for case_id in case_ids:
        for row in _follow_superseding(hub, case_id):
            if row["id"] not in loaded:
                resolution = _load(hub, row, characters)
                if resolution is not None:
                    loaded[row["id"]] = resolution
    return list(loaded.values())


def _follow_superseding(hub: Hub, case_id: int) -> list[Row]:
    """Return the cases whose decisions replace those of a case, newest first, and the case itself."""
    row = cases.fetch(hub.engine, [case_id]).get(case_id)
    if row is None:
        return []
    newer = cases.list_superseding(hub.engine, row["capture"], row["number"]) if row["capture"] else []
    return [*newer, row]


def _load(hub: Hub, row: Row, characters: int) -> Resolution | None:
    return _load_commit(hub, row, characters) if row["kind"] == "commit" else _load_episode(hub, row, characters)


def _load_commit(hub: Hub, row: Row, characters: int) -> Resolution | None:
    commit = commits.get(hub.engine, row["project"], row["hash"])
    if commit is None or commit["reverted_by"]:
        return None
    reasons = _take(split_sentences(_JOINS.sub(" ", strip_trailers(commit["body"]))), characters)
    return Resolution(
        case=row["id"], kind="commit", at=commit["at"], title=commit["subject"], session_id="", native_id="", number=0,
        hash=commit["hash"], decided=tuple(reasons), rejected=(), causes=(), fixes=(), open=(), result="",
        notes=_find_notes(hub, row, " ".join(reasons)),
    )  # fmt: skip


def _take(sentences: list[str], characters: int) -> list[str]:
    """Return the first sentences that fit."""
    taken: list[str] = []
    for sentence in sentences:
        characters -= len(sentence) + 1
        if characters < 0:
            break
        taken.append(sentence)
    return taken or [text.to_one_line(" ".join(sentences), max(characters, 200))]


def _load_episode(hub: Hub, row: Row, characters: int) -> Resolution | None:
    capture = captures.get(hub.engine, row["capture"])
    session = sessions.get(hub.engine, capture["session_id"])
    episode = episodes.get(hub.engine, row["capture"], row["number"])
    if session is None or episode is None:
        return None
    facts = plain_json.loads(episode["facts"])
    decided, superseded = _list_decided(hub, row, facts, characters)
    return Resolution(
        case=row["id"], kind="episode", at=episode["started_at"] or row["at"], title=episode["title"],
        session_id=session["id"], native_id=session["native_id"] or "", number=row["number"], hash="",
        decided=tuple(decided), superseded=superseded,
        open=tuple(filter(is_worth_listing, facts["open"]))[:2],
        rejected=tuple(text.to_one_line(item["text"], _REJECTED) for item in facts["rejected"][:2]),
        causes=tuple(text.to_one_line(_CAUSE_LABEL.sub("", item["text"]), _CAUSE) for item in facts["causes"][:2]),
        fixes=tuple(_list_fixes(facts)), result=episode["result"], notes=_find_notes(hub, row, " ".join(decided)),
    )  # fmt: skip


def _list_decided(hub: Hub, row: Row, facts: dict[str, Any], characters: int) -> tuple[list[str], bool]:
    """Return the decisions of an episode that are in force, and whether a newer one replaced all of them."""
    gone = episodes.list_superseded_texts(hub.engine, row["capture"], row["number"])
    kept = [item for item in facts["decisions"] if item["text"] not in gone and not item.get("by")]
    kept = [item for item in kept if not is_put_as_question(item["text"])] or kept
    return choose_sentences([(item["kind"], item["text"]) for item in kept], characters), bool(gone) and not kept


def _list_fixes(facts: dict[str, Any]) -> list[str]:
    """Return the errors of an episode with what fixed them."""
    fixed = [error for error in facts["errors"] if error["fix"] and error["cause"]]
    return [text.to_one_line(f"{error['line']} → {error['fix']}", _CAUSE) for error in fixed[:2]]


def _find_notes(hub: Hub, row: Row, settled: str) -> tuple[str, ...]:
    """Return which code that a resolution names has changed or is gone."""
    found = cases.list_anchors(hub.engine, row["id"])
    files = [anchor["name"] for anchor in found if anchor["kind"] == "file"]
    symbols = [anchor for anchor in found if anchor["span"] and anchor["name"] in settled][:_MOST_CHECKED]
    if not symbols or not os.path.isdir(row["project"]):
        return ()
    code = "\n".join(
        filter(None, (read_file_below(row["project"], path, _MOST_CODE) for path in files[:_MOST_CHECKED]))
    )
    states = {anchor["name"]: anchors.judge_freshness(code, anchor["name"], anchor["span"]) for anchor in symbols}
    drifted = [name for name, state in states.items() if state == anchors.DRIFTED]
    gone = [name for name, state in states.items() if state == anchors.GONE]
    return tuple(
        f"{', '.join(f'`{name}`' for name in names)} {what}"
        for names, what in ((drifted, "changed since"), (gone, "no longer found in the code"))
        if names
    )


def render_resolution(resolution: Resolution, budget: int) -> str:
    """Return what settled a case as quoted lines under a heading, within a number of tokens."""
    head = f"- {_format_origin(resolution)}: {text.escape_inline(resolution.title, _TITLE)}"
    lines = _list_lines(resolution)
    room = budget - text.count_tokens(head) - 2
    kept: list[str] = []
    for line in lines:
        if text.count_tokens(line) + 1 > room and kept:
            break
        kept.append(text.cut_to_tokens(line, room))
        room -= text.count_tokens(line) + 1
    return f"{head}\n{text.quote_as_data(chr(10).join(kept))}"


def _list_lines(resolution: Resolution) -> list[str]:
    """Return the lines of a resolution, the most useful first."""
    state = f" ({'; '.join(resolution.notes)})" if resolution.notes else ""
    lines = [f"Decided{state}: {' '.join(resolution.decided)}"] if resolution.decided else []
    lines += [f"Cause: {cause}" for cause in resolution.causes]
    lines += [f"Fixed: {fix}" for fix in resolution.fixes]
    lines += [f"Turned down: {rejected}" for rejected in resolution.rejected]
    return lines + [f"Still open: {item}" for item in resolution.open]


def _format_origin(resolution: Resolution) -> str:
    day = to_datetime(resolution.at).date().isoformat()
    where = f"commit `{resolution.hash[:10]}`" if resolution.hash else f"session `{resolution.session_id[:12]}`"
    return f"{day}, {where}"
