"""Choose what an agent is given unasked: for a prompt, and on the first look at a file. It runs in hooks.

A line that carries what was decided is used, a pointer to it is not; noise does harm. So a case is shown only if it
matches by rare names or by most of the problem, and only what settled it.
"""

from __future__ import annotations

import re

from engram.evidence import anchors
from engram.evidence.content_words import extract_content_words, measure_overlap
from engram.platform import text
from engram.platform.file_below import read_file_below
from engram.search.briefing import ASKED
from engram.search.case_search import CaseMatch, find_cases
from engram.search.push_record import EMPTY, Push, hash_text
from engram.search.resolution import Resolution, load_resolutions, render_resolution
from engram.store import cases, pushes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.hub import Hub
    from engram.store.engine import Row

READ_TOKENS = 200
_QUESTION = 6_000  # characters of a prompt; what follows is pasted
_PER_CASE = 260  # tokens
_MOST = 2  # cases shown at once
_READ_CASES = 8  # cases of a file that are looked at
_MOST_CODE = 400_000  # bytes of a file in which symbols are looked up

# What a match needs; chosen on the dev part of the tasks in `benchmarks/answers` and on prompts that no case answers.
_WORDS, _COVER, _LEAD = 5.5, 0.2, 1.5
_SURE_WORDS, _SURE_COVER = 9.0, 0.3  # so much is enough even if another case is as near
_NAMED_WORDS, _NAMED_COVER = 2.5, 0.12  # the same, if a rare symbol or file is named
_NEW = 0.3  # share of a resolution's words that the prompt does not have
_LEAST_WORDS = 5  # content words, beside places in files, of a sentence that says something
_PLACE = re.compile(r"\blines? \d+(?:\s?[-\u2013]\s?\d+)?|:\d+(?:-\d+)?\b")
_SAME_SUBJECT = 0.3  # share of words that two decisions about one subject have in common


def choose_for_prompt(
    hub: Hub, session: Row, prompt: str, budget: int, exclude: frozenset[int] = frozenset()
) -> Push:  # fmt: skip
    """Return what settled the problem that a prompt describes, if it was met before."""
    if not session["project"]:
        return EMPTY
    question = prompt[:_QUESTION]
    matches = find_cases(hub, question, session["project"], exclude=exclude | _list_own_cases(hub, session))
    chosen = [match for match in matches[:_MOST] if _is_match(match)]
    if not chosen:
        return EMPTY
    found = _drop_known(hub, session, load_resolutions(hub, [match.case for match in chosen], 4 * _PER_CASE))
    found = _sort_versions([resolution for resolution in found if _adds_something(resolution, question)][:_MOST])
    names = ", ".join(dict.fromkeys(name for match in chosen for name in match.names))
    return _render(found, budget, f"names {names}" if names else "describes the same problem")


def choose_for_file(hub: Hub, session: Row, path: str, budget: int = READ_TOKENS) -> Push:
    """Return what was decided about a file that a session looks at for the first time."""
    project = session["project"]
    if not project:
        return EMPTY
    own = _list_own_cases(hub, session)
    rows = [
        row
        for row in cases.list_anchored(hub.engine, project, "file", anchors.get_leaf(path), 40)
        if row["id"] not in own and anchors.is_same_file(path, row["name"])
    ]
    found = _drop_known(hub, session, load_resolutions(hub, [row["id"] for row in rows[:_READ_CASES]], 4 * budget))
    code = read_file_below(project, path, _MOST_CODE) or ""
    about = [about for resolution in found if (about := _limit_to_file(resolution, path, code)) is not None]
    return _render(about[:_MOST], budget, f"about {path}")


def _limit_to_file(resolution: Resolution, path: str, code: str) -> Resolution | None:
    """Return what a resolution says about a file: a commit all, an episode what names the file or its code."""
    if resolution.hash:
        return resolution if resolution.is_settled else None

    def names_it(sentence: str) -> bool:
        return _says_something(sentence) and _names_code(sentence, path, code)

    decided = resolution.decided if any(map(names_it, resolution.decided)) else ()
    limited = Resolution(
        **{
            **vars(resolution), "decided": decided, "causes": tuple(filter(names_it, resolution.causes)),
            "fixes": tuple(filter(names_it, resolution.fixes)), "open": (),
            "rejected": resolution.rejected if decided else (),
        }
    )  # fmt: skip
    return limited if limited.is_settled else None


def _names_code(sentence: str, path: str, code: str) -> bool:
    """Return whether a sentence names a file, or a symbol that the file defines."""
    if any(anchors.is_same_file(path, name) for name in anchors.find_paths(sentence)):
        return True
    return any(anchors.hash_symbol(code, symbol) for symbol in anchors.find_symbols(sentence))


def _says_something(sentence: str) -> bool:
    """Return whether a sentence says more than where something is."""
    bare = _PLACE.sub(" ", sentence)
    for path in anchors.find_paths(sentence):
        bare = bare.replace(path, " ")
    return len(extract_content_words(bare)) >= _LEAST_WORDS


def _list_own_cases(hub: Hub, session: Row) -> frozenset[int]:
    """Return the cases of a session itself, of its subagents and of the session that started it."""
    return frozenset(cases.list_related(hub.engine, session["id"], session["native_id"] or ""))


def _is_match(match: CaseMatch) -> bool:
    """Return whether a case is about the problem of a text."""
    if match.names:
        return match.words >= _NAMED_WORDS and match.cover >= _NAMED_COVER
    if match.words >= _SURE_WORDS and match.cover >= _SURE_COVER:
        return True
    return match.words >= _WORDS and match.cover >= _COVER and match.lead >= _LEAD


def _drop_known(hub: Hub, session: Row, found: Sequence[Resolution]) -> list[Resolution]:
    """Return the resolutions that the session was not given yet and that no person turned off."""
    known = pushes.list_told_sources(hub.engine, session["id"])
    unwanted = pushes.list_unwanted_sources(hub.engine, session["project"])
    wanted: list[Resolution] = []
    for resolution in found:
        sources = _name_sources(resolution)
        is_wanted = resolution.at > max((unwanted.get(source, -1) for source in sources), default=-1)
        if is_wanted and known.isdisjoint(sources) and not resolution.superseded:
            wanted.append(resolution)
            known |= set(sources)  # a fork repeats what its parent says
    return wanted


def _name_sources(resolution: Resolution) -> tuple[str, str]:
    """Return what a resolution is recognized by when it comes again: its case, and what it says."""
    said = "\n".join((*resolution.decided, *resolution.causes, *resolution.fixes))
    return f"case:{resolution.case}", f"text:{hash_text(said)}"


def _adds_something(resolution: Resolution, prompt: str) -> bool:
    """Return whether a resolution settles something that the prompt does not say itself."""
    words = extract_content_words(" ".join((*resolution.decided, *resolution.causes, *resolution.fixes)))
    return resolution.is_settled and len(words - extract_content_words(prompt)) >= max(3, _NEW * len(words))


def _sort_versions(found: list[Resolution]) -> list[Resolution]:
    """Return two resolutions of one subject with the newer one first, others as they are."""
    if len(found) == 2 and measure_overlap(" ".join(found[1].decided), " ".join(found[0].decided)) >= _SAME_SUBJECT:
        return sorted(found, key=lambda resolution: -resolution.at)
    return found


def _render(found: list[Resolution], budget: int, reason: str) -> Push:
    """Return resolutions as one text within a budget."""
    lines, room = [ASKED], budget - text.count_tokens(ASKED) - 1
    sources: list[str] = []
    for resolution in found:
        if room < _LEAST:
            break
        lines.append(render_resolution(resolution, min(room, _PER_CASE) if len(found) > 1 else room))
        room -= text.count_tokens(lines[-1]) + 1
        sources += _name_sources(resolution)
    return Push(text="\n".join(lines), reason=reason, sources=tuple(sources)) if sources else EMPTY


_LEAST = 40  # tokens in which a resolution says something
