"""Measure digests against sessions somebody else summed up: files, friction, intent, open items, tokens, outcomes.

The labelled sessions all ended in a commit, so by themselves they cannot show whether outcomes discriminate: each is
also spoilt in four ways, and the spoilt copies should be told apart. Nothing here is shown to the rules it measures.

python benchmarks/digests.py [--misses]
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from engram import Digest, Engram

LABELLED = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "labelled"
OUTCOMES = ("success", "partial", "failure", "abandoned", "unclear")
FOUND = 0.35  # of the content words of a sentence
LIMIT = 2048  # bytes a digest may take

_IDS = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b(?:msg|req|toolu)_[A-Za-z0-9_]{12,}"
    r'|(?<="agentId":")[0-9a-f]{7,17}\b'
)
_SESSION = re.compile(r'"sessionId": ?"([\w.-]{1,80})"')
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ENDING = re.compile(r"(?:ations?|ings?|ments?|ions?|ers?|ies|ied|ed|es|ly|s|e|y)$")
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """the and that this with for from was were are not but had has have been into onto when while after before
        because their there then than them they its also only any all some which what who how why could would should
        can may did does doing done being between about over under again more most other such same very too out off
        per via user users wanted initially required needed needs need make made use used using""",
    )
)
_INJECTED = ("<", "[Request interrupted", "Caveat:", "This session is being continued")


# ---- Transcripts, as they are and spoilt

Records = list[dict[str, Any]]


def records(text: str) -> Records:
    """Return the records of a transcript that can be read."""
    found = []
    for line in text.split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            found.append(record)
    return found


def prompts(given: Records) -> list[int]:
    """Return where a person speaks."""
    return [place for place, record in enumerate(given) if record.get("type") == "user" and _own_words(record)]


def _own_words(record: dict[str, Any]) -> bool:
    content = (record.get("message") or {}).get("content")
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content if isinstance(part, dict))
    marked = any(record.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary"))
    return isinstance(content, str) and bool(content.strip()) and not marked and not content.startswith(_INJECTED)


def as_it_is(given: Records) -> Records:
    """Return all of it."""
    return given


def cut_at_an_error(given: Records) -> Records:
    """Stop after a third, at a tool's result that is now an error."""
    first = given[: len(given) // 3]
    results = [place for place, record in enumerate(first) if _results(record) and not record.get("isSidechain")]
    last = results[-1] if results else 0
    words = "Error: Exit code 1\nFAIL: the build is broken"
    parts = [{**part, "is_error": True, "content": words} for part in _results(first[last])]
    message = {**(first[last].get("message") or {}), "content": parts}
    return [*first[:last], {**first[last], "message": message, "toolUseResult": words}] if parts else first


def _results(record: dict[str, Any]) -> list[dict[str, Any]]:
    content = (record.get("message") or {}).get("content") if record.get("type") == "user" else None
    parts = content if isinstance(content, list) else []
    return [part for part in parts if isinstance(part, dict) and part.get("type") == "tool_result"]


def objected(given: Records) -> Records:
    """Let the user's last words be an objection nobody answers."""
    return [*given, _said(given, "user", "no, that is wrong, revert it")]


def objected_and_answered(given: Records) -> Records:
    """Let the user object and the agent give in."""
    answer = [{"type": "text", "text": "You are right, I have taken it back."}]
    return [*objected(given), _said(given, "assistant", answer)]


def _said(given: Records, role: str, content: Any) -> dict[str, Any]:
    like = next((each for each in given if each.get("sessionId") and not each.get("isSidechain")), {})
    kept: dict[str, Any] = {name: like.get(name) for name in ("sessionId", "cwd", "gitBranch", "version")}
    stamp = next((each["timestamp"] for each in reversed(given) if isinstance(each.get("timestamp"), str)), None)
    uuid = _fresh("00000000-0000-4000-8000-000000000000", role)
    return {**kept, "type": role, "uuid": uuid, "timestamp": stamp, "message": {"role": role, "content": content}}


def unanswered(given: Records) -> Records:
    """Stop right after the last thing the user asked for; nothing is left where no user speaks."""
    return given[: max(prompts(given), default=-1) + 1]


KINDS: dict[str, Callable[[Records], Records]] = {
    "original": as_it_is,
    "cut + error": cut_at_an_error,
    "objection": objected,
    "objection, answered": objected_and_answered,
    "unanswered": unanswered,
}


def _fresh(old: str, copy: str) -> str:
    kept = 24 if old.count("-") == 4 else old.find("_") + 1
    return old[:kept] + blake2b((old + copy).encode(), digest_size=32).hexdigest()[: len(old) - kept]


def renewed(text: str, copy: str) -> str:
    """Give a transcript the ids of a copy."""
    return _IDS.sub(lambda found: _fresh(found[0], copy), text)


# ---- Digesting them


@dataclass(frozen=True)
class Graded:
    """A labelled session with its digest."""

    label: dict[str, Any]
    digest: Digest
    counted: dict[str, int]

    @property
    def reference(self) -> dict[str, Any]:
        """Return what its publisher wrote of it."""
        summary: dict[str, Any] = self.label["reference_summary"]
        return summary

    @property
    def told(self) -> str:
        """Return the digest as it is handed over."""
        facts = {"outcome": self.digest.outcome, "confidence": self.digest.confidence, **self.digest.facts}
        return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))


def graded(labels: list[dict[str, Any]], kind: str, folder: Path) -> list[Graded]:
    """Take in every labelled transcript, spoilt in one way, and digest it."""
    folder.mkdir(parents=True)
    paths: dict[str, dict[str, Any]] = {}
    for label in labels:
        spoilt = KINDS[kind](records((LABELLED / label["transcript"]).read_text(errors="replace")))
        if not spoilt:
            print(f"{label['transcript']} cannot be made {kind!r}")
            continue
        text = renewed("".join(json.dumps(each, separators=(",", ":")) + "\n" for each in spoilt), label["transcript"])
        found = _SESSION.search(text)
        session = found[1] if found else ""
        (folder / f"{session}.jsonl").write_text(text)
        paths[session] = label
    with Engram(str(folder / "engram"), raw_max_age_days=100_000) as engram:
        engram.ingest([str(folder / f"{session}.jsonl") for session in paths])
        ids = {each.session.native_id: each.session.id for each in engram.list_sessions(limit=1000)}
        return [_graded(engram, ids[session], label) for session, label in paths.items() if session in ids]


def _graded(engram: Engram, session: str, label: dict[str, Any]) -> Graded:
    rows = engram.cost(by="session", session=session)
    own = [row for row in rows if row.place == session]
    counted = {
        "input_tokens": sum(row.input for row in own),
        "output_tokens": sum(row.output for row in own),
        "cache_read_tokens": sum(row.cache_read for row in own),
        "cache_creation_tokens": sum(row.cache_write + row.cache_write_long for row in own),
    }
    return Graded(label, engram.get_digest(session), counted)


# ---- Words


def stems(text: str) -> set[str]:
    """Return the content words of a text without their endings; names in code fall into their parts."""
    parts = (part.lower() for part in _PART.findall(text))
    return {_ENDING.sub("", part) if len(part) > 4 else part for part in parts if len(part) > 2 and part not in _EMPTY}


def share(sentence: str, text: str) -> float:
    """Return how many of a sentence's content words a text holds."""
    words = stems(sentence)
    return len(words & stems(text)) / len(words) if words else 0.0


def sentences(each: Graded, name: str) -> list[str]:
    """Return the sentences of one part of a reference."""
    part = each.reference.get(name) or []
    return [part] if isinstance(part, str) else [str(sentence) for sentence in part]


def print_words(all_graded: list[Graded], misses: bool) -> None:
    """Print how much of what the references say the digests hold, and how much another session's digest does."""
    print(f"\nA sentence counts as found if the digest holds {FOUND:.0%} of its content words (stemmed roughly).")
    print(f"{'':34} {'found':>12} {'mean share':>11} {'by chance':>10}  chance: the digest of another session")
    parts: tuple[tuple[str, str, str | None], ...] = (
        ("friction", "friction", None), ("open items", "open_items", None), ("intent", "intent", None),
        ("intent, in the goal alone", "intent", "goal"), ("outcome in words", "outcome", None),
    )  # fmt: skip
    for shown, name, fact in parts:
        own = [(s, share(s, _text(each, fact))) for each in all_graded for s in sentences(each, name)]
        others = zip(all_graded, all_graded[1:] + all_graded[:1], strict=True)
        chance = [share(s, _text(other, fact)) for each, other in others for s in sentences(each, name)]
        print(
            f"  {shown:32} {_of([found >= FOUND for _, found in own]):>12} {_mean([f for _, f in own]):>11}"
            f" {_of([each >= FOUND for each in chance], short=True):>10}"
        )
        if misses and fact is None:
            print("".join(f"      missed ({found:.0%}): {s}\n" for s, found in own if found < FOUND), end="")


def _text(each: Graded, fact: str | None) -> str:
    return each.told if fact is None else str(each.digest.facts.get(fact, ""))


def _of(hits: list[bool], short: bool = False) -> str:
    percent = f"{sum(hits) / len(hits):.0%}" if hits else "-"
    return percent if short else f"{sum(hits)}/{len(hits)} {percent}"


def _mean(numbers: list[float]) -> str:
    return f"{statistics.mean(numbers):.0%}" if numbers else "-"


# ---- Files, tokens, size


def same_file(one: str, other: str) -> bool:
    """Tell whether two paths may be one file, seen from different directories."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def print_files(all_graded: list[Graded], misses: bool) -> None:
    """Print recall and precision of the files that were changed."""
    recall, precision, lost = [], [], []
    for each in all_graded:
        touched = each.label["files_touched"]
        told = [path for path in each.digest.facts.get("changed", []) if not re.fullmatch(r"\+\d+ more", path)]
        recall += [any(same_file(path, one) for one in told) for path in touched]
        precision += [any(same_file(path, one) for one in touched) for path in told]
        lost += [f"{each.label['transcript']}: {p}" for p in touched if not any(same_file(p, one) for one in told)]
    print(f"\nfiles changed: recall {_of(recall)}, precision {_of(precision)}")
    print("  Labels hold what one commit took; what was changed and committed elsewhere costs precision.")
    if misses:
        print("".join(f"      missed: {path}\n" for path in lost), end="")


def print_tokens(all_graded: list[Graded]) -> None:
    """Print our tokens against the labels'."""
    print("\ntokens against the labels")
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"):
        pairs = [(each.counted[name], each.label["token_usage"][name]) for each in all_graded]
        near = [abs(ours - theirs) <= theirs / 100 for ours, theirs in pairs]
        ratio = statistics.median(ours / theirs for ours, theirs in pairs if theirs)
        sums = f"{sum(ours for ours, _ in pairs):>12,} ours, {sum(theirs for _, theirs in pairs):>12,} theirs"
        print(f"  {name:24} {sums}; within 1 %: {_of(near)}; median ratio {ratio:.2f}")


def print_size(all_graded: list[Graded]) -> None:
    """Print how large digests are."""
    sizes = [len(each.told.encode()) for each in all_graded]
    verdict = "within" if max(sizes) <= LIMIT else "OVER"
    print(f"\ndigest size: median {statistics.median(sizes):.0f}, largest {max(sizes)} bytes, {verdict} {LIMIT}")


# ---- Outcomes


def print_outcomes(by_kind: dict[str, list[Graded]]) -> None:
    """Print which outcome each kind of transcript is given, and how sure the digest is."""
    print(f"\n{'outcome':24} {' '.join(f'{name:>10}' for name in OUTCOMES)}   confidence (median)")
    for kind, all_graded in by_kind.items():
        counts = Counter(each.digest.outcome for each in all_graded)
        sure = statistics.median(each.digest.confidence for each in all_graded)
        print(f"  {kind:22} {' '.join(f'{counts[name]:>10}' for name in OUTCOMES)}   {sure:.2f}")
    original = [each.digest.outcome == "success" for each in by_kind["original"]]
    spoilt = [each for kind, found in by_kind.items() if kind != "original" for each in found]
    told = [each.digest.outcome != "success" for each in spoilt]
    balanced = (statistics.mean(original) + statistics.mean(told)) / 2
    print(f"  originals called success {_of(original)}; spoilt ones not {_of(told)}; balanced {balanced:.0%}")
    print("  (calling everything success, as a tool that goes by the commit does, is balanced 50%)")


def print_confidence(by_kind: dict[str, list[Graded]]) -> None:
    """Print whether more confidence goes with being right."""
    verdicts = [
        (each.digest.confidence, (each.digest.outcome == "success") == (kind == "original"))
        for kind, found in by_kind.items()
        for each in found
    ]
    bands = ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01))
    shown = (
        f"{low:.1f}–{min(high, 1):.1f}: {_of([right for sure, right in verdicts if low <= sure < high])}"
        for low, high in bands
    )
    print(f"  right (success, or not) by confidence: {'; '.join(shown)}")


def labels() -> Iterator[dict[str, Any]]:
    """Yield the labelled sessions."""
    for line in (LABELLED / "labels.jsonl").read_text().splitlines():
        yield json.loads(line)


def main(words: list[str]) -> int:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description="Measure digests against labelled sessions.")
    parser.add_argument("--misses", action="store_true", help="name what was not found")
    given = parser.parse_args(words)
    if not (LABELLED / "labels.jsonl").exists():
        print(f"There are no labelled sessions to measure with: {LABELLED} is missing.")
        return 0
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as root:
        known = list(labels())
        by_kind = {kind: graded(known, kind, Path(root) / str(n)) for n, kind in enumerate(KINDS)}
    original = by_kind["original"]
    print(f"{len(known)} labelled sessions, {len(original)} digested")
    print_files(original, given.misses)
    print_words(original, given.misses)
    print_tokens(original)
    print_size([each for found in by_kind.values() for each in found])
    print_outcomes(by_kind)
    print_confidence(by_kind)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
