"""Measure digests against sessions with published labels: files, friction, intent, open items, tokens, outcomes.

All labelled sessions ended in a commit, so they alone cannot show whether outcomes discriminate. Each is therefore also
altered in four ways so that it no longer succeeds. The rules were not tuned on this data.

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
FOUND = 0.35  # minimum share of the content words of a sentence
LIMIT = 2048  # maximum bytes of a digest

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


# ---- Transcripts, original and altered

Records = list[dict[str, Any]]


def records(text: str) -> Records:
    """Return the valid records of a transcript."""
    valid = []
    for line in text.split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            valid.append(record)
    return valid


def prompts(transcript: Records) -> list[int]:
    """Return the positions of the user's prompts."""
    return [place for place, record in enumerate(transcript) if record.get("type") == "user" and _own_words(record)]


def _own_words(record: dict[str, Any]) -> bool:
    content = (record.get("message") or {}).get("content")
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content if isinstance(part, dict))
    marked = any(record.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary"))
    return isinstance(content, str) and bool(content.strip()) and not marked and not content.startswith(_INJECTED)


def as_it_is(transcript: Records) -> Records:
    """Return the transcript unchanged."""
    return transcript


def cut_at_an_error(transcript: Records) -> Records:
    """Cut off after a third, at a tool result that becomes an error."""
    first = transcript[: len(transcript) // 3]
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


def objected(transcript: Records) -> Records:
    """Append an objection by the user, without an answer."""
    return [*transcript, _make_message(transcript, "user", "no, that is wrong, revert it")]


def objected_and_answered(transcript: Records) -> Records:
    """Append an objection by the user and an answer that gives in."""
    answer = [{"type": "text", "text": "You are right, I have taken it back."}]
    return [*objected(transcript), _make_message(transcript, "assistant", answer)]


def _make_message(transcript: Records, role: str, content: Any) -> dict[str, Any]:
    like = next((record for record in transcript if record.get("sessionId") and not record.get("isSidechain")), {})
    common: dict[str, Any] = {name: like.get(name) for name in ("sessionId", "cwd", "gitBranch", "version")}
    stamps = (record["timestamp"] for record in reversed(transcript) if isinstance(record.get("timestamp"), str))
    uuid = _fresh("00000000-0000-4000-8000-000000000000", role)
    message = {"role": role, "content": content}
    return {**common, "type": role, "uuid": uuid, "timestamp": next(stamps, None), "message": message}


def unanswered(transcript: Records) -> Records:
    """Cut off after the last prompt; nothing is left of a transcript without prompts."""
    return transcript[: max(prompts(transcript), default=-1) + 1]


KINDS: dict[str, Callable[[Records], Records]] = {
    "original": as_it_is,
    "cut + error": cut_at_an_error,
    "objection": objected,
    "objection, answered": objected_and_answered,
    "unanswered": unanswered,
}


def _fresh(old: str, copy: str) -> str:
    prefix = 24 if old.count("-") == 4 else old.find("_") + 1
    return old[:prefix] + blake2b((old + copy).encode(), digest_size=32).hexdigest()[: len(old) - prefix]


def renewed(text: str, copy: str) -> str:
    """Replace the ids in a transcript."""
    return _IDS.sub(lambda match: _fresh(match[0], copy), text)


# ---- Digests


@dataclass(frozen=True)
class Graded:
    """A labelled session with its digest."""

    label: dict[str, Any]
    digest: Digest
    counted: dict[str, int]

    @property
    def reference(self) -> dict[str, Any]:
        """The published summary of the session."""
        summary: dict[str, Any] = self.label["reference_summary"]
        return summary

    @property
    def text(self) -> str:
        """The digest as JSON."""
        facts = {"outcome": self.digest.outcome, "confidence": self.digest.confidence, **self.digest.facts}
        return json.dumps(facts, ensure_ascii=False, separators=(",", ":"))


def graded(labels: list[dict[str, Any]], kind: str, folder: Path) -> list[Graded]:
    """Alter every labelled transcript in one way, ingest it and digest it."""
    folder.mkdir(parents=True)
    paths: dict[str, dict[str, Any]] = {}
    for label in labels:
        altered = KINDS[kind](records((LABELLED / label["transcript"]).read_text(errors="replace")))
        if not altered:
            print(f"Cannot make {kind!r} from {label['transcript']}.")
            continue
        lines = (json.dumps(record, separators=(",", ":")) + "\n" for record in altered)
        text = renewed("".join(lines), label["transcript"])
        match = _SESSION.search(text)
        session = match[1] if match else ""
        (folder / f"{session}.jsonl").write_text(text)
        paths[session] = label
    with Engram(str(folder / "engram"), raw_max_age_days=100_000) as engram:
        engram.ingest([str(folder / f"{session}.jsonl") for session in paths])
        ids = {capture.session.native_id: capture.session.id for capture in engram.list_sessions(limit=1000)}
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
    """Return the stems of the content words of a text; identifiers are split into words."""
    parts = (part.lower() for part in _PART.findall(text))
    return {_ENDING.sub("", part) if len(part) > 4 else part for part in parts if len(part) > 2 and part not in _EMPTY}


def share(sentence: str, text: str) -> float:
    """Return the share of a sentence's content words that a text contains."""
    words = stems(sentence)
    return len(words & stems(text)) / len(words) if words else 0.0


def sentences(graded_session: Graded, name: str) -> list[str]:
    """Return the sentences of one part of a reference."""
    part = graded_session.reference.get(name) or []
    return [part] if isinstance(part, str) else [str(sentence) for sentence in part]


def print_words(all_graded: list[Graded], misses: bool) -> None:
    """Print how much of the references the digests contain, compared with the digest of another session."""
    print(f"\nA sentence counts as found if the digest contains {FOUND:.0%} of its content words (roughly stemmed).")
    print(f"{'':34} {'found':>12} {'mean share':>11} {'by chance':>10}  chance: the digest of another session")
    parts: tuple[tuple[str, str, str | None], ...] = (
        ("friction", "friction", None), ("open items", "open_items", None), ("intent", "intent", None),
        ("intent, in the goal alone", "intent", "goal"), ("outcome in words", "outcome", None),
    )  # fmt: skip
    for shown, name, fact in parts:
        own = [(s, share(s, _text(graded, fact))) for graded in all_graded for s in sentences(graded, name)]
        others = zip(all_graded, all_graded[1:] + all_graded[:1], strict=True)
        chance = [share(s, _text(other, fact)) for graded, other in others for s in sentences(graded, name)]
        print(
            f"  {shown:32} {_of([part >= FOUND for _, part in own]):>12} {_mean([part for _, part in own]):>11}"
            f" {_of([part >= FOUND for part in chance], short=True):>10}"
        )
        if misses and fact is None:
            print("".join(f"      missed ({part:.0%}): {s}\n" for s, part in own if part < FOUND), end="")


def _text(graded_session: Graded, fact: str | None) -> str:
    return graded_session.text if fact is None else str(graded_session.digest.facts.get(fact, ""))


def _of(hits: list[bool], short: bool = False) -> str:
    percent = f"{sum(hits) / len(hits):.0%}" if hits else "-"
    return percent if short else f"{sum(hits)}/{len(hits)} {percent}"


def _mean(numbers: list[float]) -> str:
    return f"{statistics.mean(numbers):.0%}" if numbers else "-"


# ---- Files, tokens, size


def same_file(one: str, other: str) -> bool:
    """Return whether two paths may name the same file, relative to different directories."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def print_files(all_graded: list[Graded], misses: bool) -> None:
    """Print recall and precision of the changed files."""
    recall, precision, lost = [], [], []
    for graded in all_graded:
        touched = graded.label["files_touched"]
        listed = [path for path in graded.digest.facts.get("changed", []) if not re.fullmatch(r"\+\d+ more", path)]
        missed = [path for path in touched if not any(same_file(path, other) for other in listed)]
        recall += [path not in missed for path in touched]
        precision += [any(same_file(path, other) for other in touched) for path in listed]
        lost += [f"{graded.label['transcript']}: {path}" for path in missed]
    print(f"\nfiles changed: recall {_of(recall)}, precision {_of(precision)}")
    print("  Labels list the files of one commit; files changed and committed elsewhere reduce precision.")
    if misses:
        print("".join(f"      missed: {path}\n" for path in lost), end="")


def print_tokens(all_graded: list[Graded]) -> None:
    """Print our token counts and those of the labels."""
    print("\ntokens compared with the labels")
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"):
        pairs = [(graded.counted[name], graded.label["token_usage"][name]) for graded in all_graded]
        near = [abs(ours - theirs) <= theirs / 100 for ours, theirs in pairs]
        ratio = statistics.median(ours / theirs for ours, theirs in pairs if theirs)
        sums = f"{sum(ours for ours, _ in pairs):>12,} ours, {sum(theirs for _, theirs in pairs):>12,} theirs"
        print(f"  {name:24} {sums}; within 1 %: {_of(near)}; median ratio {ratio:.2f}")


def print_size(all_graded: list[Graded]) -> None:
    """Print the sizes of the digests."""
    sizes = [len(graded.text.encode()) for graded in all_graded]
    verdict = "within" if max(sizes) <= LIMIT else "OVER"
    print(f"\ndigest size: median {statistics.median(sizes):.0f}, largest {max(sizes)} bytes, {verdict} {LIMIT}")


# ---- Outcomes


def print_outcomes(by_kind: dict[str, list[Graded]]) -> None:
    """Print the outcomes of each kind of transcript, and their confidence."""
    print(f"\n{'outcome':24} {' '.join(f'{name:>10}' for name in OUTCOMES)}   confidence (median)")
    for kind, all_graded in by_kind.items():
        counts = Counter(graded.digest.outcome for graded in all_graded)
        sure = statistics.median(graded.digest.confidence for graded in all_graded)
        print(f"  {kind:22} {' '.join(f'{counts[name]:>10}' for name in OUTCOMES)}   {sure:.2f}")
    original = [graded.digest.outcome == "success" for graded in by_kind["original"]]
    altered = [graded for kind, all_graded in by_kind.items() if kind != "original" for graded in all_graded]
    rejected = [graded.digest.outcome != "success" for graded in altered]
    balanced = (statistics.mean(original) + statistics.mean(rejected)) / 2
    print(f"  originals rated success {_of(original)}; altered ones not {_of(rejected)}; balanced {balanced:.0%}")
    print("  (rating everything with a commit as success gives 50% balanced)")


def print_confidence(by_kind: dict[str, list[Graded]]) -> None:
    """Print how often the outcome is right, by confidence."""
    verdicts = [
        (graded.digest.confidence, (graded.digest.outcome == "success") == (kind == "original"))
        for kind, all_graded in by_kind.items()
        for graded in all_graded
    ]
    bands = ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01))
    shown = (
        f"{low:.1f}–{min(high, 1):.1f}: {_of([right for sure, right in verdicts if low <= sure < high])}"
        for low, high in bands
    )
    print(f"  right (success or not) by confidence: {'; '.join(shown)}")


def labels() -> Iterator[dict[str, Any]]:
    """Yield the labelled sessions."""
    for line in (LABELLED / "labels.jsonl").read_text().splitlines():
        yield json.loads(line)


def main(words: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Measure digests against labelled sessions.")
    parser.add_argument("--misses", action="store_true", help="list what was not found")
    options = parser.parse_args(words)
    if not (LABELLED / "labels.jsonl").exists():
        print(f"No labelled sessions to measure with: {LABELLED} is missing.")
        return 0
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as root:
        known = list(labels())
        by_kind = {kind: graded(known, kind, Path(root) / str(n)) for n, kind in enumerate(KINDS)}
    original = by_kind["original"]
    print(f"{len(known)} labelled sessions, {len(original)} digested")
    print_files(original, options.misses)
    print_words(original, options.misses)
    print_tokens(original)
    print_size([graded for all_graded in by_kind.values() for graded in all_graded])
    print_outcomes(by_kind)
    print_confidence(by_kind)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
