"""The index follows what is stored, in steps or in one batch, by one process or many, and deletes for good."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import Engram
from engram.index import maintenance
from engram.index.lexical import score_keywords
from engram.index.snapshot import load_snapshot
from engram.index.tokenizer import extract_terms
from engram.store import exchanges, index_segments, passages
from tests.capture.transcripts import Claude
from tests.index import holding

AT = "2026-05-01T10:00:00+00:00"


def found(engram: Engram, query: str, **wanted: object) -> list[str]:
    """Return the texts that recall finds by words."""
    hits = engram.recall(query, **{"k": 50, "messages": True, **wanted})  # type: ignore[arg-type]
    return [hit.snippet for hit in hits if hit.why.get("doc")]


# ---- What is stored is found


def test_stored_messages_are_found_immediately(engram: Engram) -> None:
    engram.remember("a", "user", "The kestrel nests above the garage.")
    assert found(engram, "kestrel") == ["The kestrel nests above the garage."]
    engram.remember("a", "user", "A heron stands in the pond.")
    assert found(engram, "heron") == ["A heron stands in the pond."]
    assert found(engram, "kestrel") == ["The kestrel nests above the garage."]


def test_another_opening_of_the_store_finds_it_too(engram: Engram, store: str, tmp_path: Path) -> None:
    engram.remember("a", "user", "The kestrel nests above the garage.")
    with Engram(store=store, home=str(tmp_path / "home")) as other:
        assert found(other, "kestrel")
        engram.remember("a", "user", "The wagtail nests under the bridge.")
        assert found(engram, "wagtail") == found(other, "wagtail") == ["The wagtail nests under the bridge."]


def test_a_changed_message_is_found_by_its_new_words_only(engram: Engram, home: Path) -> None:
    work = Claude(home)
    work.says("Please mend the kestrel house.")
    engram.ingest()
    assert found(engram, "kestrel")
    line = json.loads(work.path.read_text())
    line["message"]["content"] = "Please mend the wagtail house."
    work.path.write_text(json.dumps(line) + "\n")
    engram.ingest()
    assert found(engram, "wagtail") == ["Please mend the wagtail house."]
    assert found(engram, "kestrel") == []
    assert len(holding.living(engram)) == 1


def test_a_passage_put_again_is_found_by_its_new_words_only(engram: Engram) -> None:
    with engram.engine.transaction():
        passages.save_parts(engram.engine, "article", "birds", ["All about the kestrel.", "And the bittern."], at=1)
    assert found(engram, "bittern") == ["And the bittern."]
    with engram.engine.transaction():
        passages.save_parts(engram.engine, "article", "birds", ["All about the wagtail."], at=2)
    assert found(engram, "wagtail") == ["All about the wagtail."]
    assert found(engram, "kestrel") == found(engram, "bittern") == []


def test_a_long_queue_is_indexed_in_part_before_answering(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "_SMALL", 5)
    rows = [{"role": "user", "content": f"Bird number {n} is a kestrel{n}.", "at": AT} for n in range(12)]
    engram.add_exchanges_bulk("a", rows)
    assert len(found(engram, "bird", tiers=["exchange"])) == 5
    assert len(found(engram, "bird", tiers=["exchange"])) == 10
    assert found(engram, "kestrel11") == ["Bird number 11 is a kestrel11."]


# ---- What is deleted is gone


def test_nothing_of_a_deleted_session_is_left_in_the_index(engram: Engram) -> None:
    engram.remember("keep", "user", "The wagtail nests under the bridge.")
    engram.remember("drop", "user", "The kestrel nests above the garage.")
    engram.index()
    gone = holding.exchanges(engram)[-1]
    assert gone in holding.embedded(engram)
    assert "kestrel" in holding.terms(engram)
    engram.delete_session("drop")
    assert found(engram, "kestrel") == []
    assert not {"kestrel", "garag"} & holding.terms(engram)
    assert "wagtail" in holding.terms(engram)
    assert gone not in holding.embedded(engram)
    assert gone not in holding.living(engram)
    assert found(engram, "wagtail") == ["The wagtail nests under the bridge."]


def test_nothing_of_a_deleted_session_is_left_after_its_words_were_merged_and_never_indexed(engram: Engram) -> None:
    for n in range(20):
        engram.remember("drop" if n % 3 == 0 else "keep", "user", f"Bird {n} is called kestrel{n}.")
        maintenance.index_recent(engram)
    engram.remember("drop", "user", "The last is a hoopoe.")
    engram.delete_session("drop")
    left = {term for term in holding.terms(engram) if term.startswith(("kestrel", "hoopoe"))}
    assert left == {f"kestrel{n}" for n in range(20) if n % 3}
    assert holding.living(engram) == holding.exchanges(engram)
    assert set(holding.embedded(engram)) <= set(holding.exchanges(engram))


# ---- In steps or in one batch: the same result


def one_by_one(engram: Engram, texts: list[str], sessions: int = 3) -> None:
    """Store texts, each with its own index step."""
    for n, text in enumerate(texts):
        engram.remember(f"s{n % sessions}", "user", text)
        maintenance.index_batch(engram, 1)


def test_small_segments_become_one_and_lose_nothing(engram: Engram) -> None:
    one_by_one(engram, [f"Bird {n} is called kestrel{n}." for n in range(70)])
    assert holding.segments(engram) < 16
    assert holding.living(engram) == holding.exchanges(engram)
    for n in (0, 7, 8, 63, 64, 69):
        assert found(engram, f"kestrel{n}") == [f"Bird {n} is called kestrel{n}."]


def test_docs_keep_their_order_when_segments_become_one(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "_FANOUT", 1000)
    one_by_one(engram, [f"Bird {n}" for n in range(20)])
    before = load_snapshot(engram).sources.tolist()
    monkeypatch.setattr(maintenance, "_FANOUT", 4)
    maintenance.merge_segments(engram)
    assert holding.segments(engram) < 20
    assert load_snapshot(engram).sources.tolist() == before
    firsts = engram.engine.run("select first, count from segments order by first")
    assert [row["first"] for row in firsts] == [sum(row["count"] for row in firsts[:n]) for n in range(len(firsts))]


def test_vectors_stay_with_their_docs_when_segments_become_one(engram: Engram) -> None:
    texts = [f"Bird {n} is called kestrel{n}." for n in range(20)]
    for n, text in enumerate(texts):
        engram.remember(f"s{n % 3}", "user", text)
        maintenance.update_index(engram, embed="fast")
    held = vectors(engram)
    assert sorted(held) == holding.exchanges(engram)
    engram.index(rebuild=True, embed=False)
    maintenance.update_index(engram, embed="fast")
    assert vectors(engram) == held


def vectors(engram: Engram) -> dict[int, bytes]:
    """Return the vector of each exchange."""
    rows = engram.engine.run(
        "select v.docs, v.codes, s.sources, p.dim from vectors v join segments s on s.id = v.segment"
        " join spaces p on p.id = v.space"
    )
    return {
        int(np.frombuffer(row["sources"], "<i8")[doc]): bytes(row["codes"][n * row["dim"] :][: row["dim"]])
        for row in rows
        for n, doc in enumerate(np.frombuffer(row["docs"], "<u4"))
    }


WORDS = ["kestrel", "wagtail", "heron", "bittern", "pond", "garage", "bridge", "nest"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=20)
STEPS = st.lists(st.tuples(st.sampled_from("abc"), TEXTS), min_size=1, max_size=6)


def naive(texts: dict[int, str], query: str) -> dict[int, float]:
    """Return textbook BM25, for a store that counts as having 40 texts if it has fewer."""
    counts = {n: Counter(extract_terms(text)) for n, text in texts.items()}
    mean = max(1.0, sum(map(Counter.total, counts.values())) / len(counts))
    scores = dict.fromkeys(texts, 0.0)
    for word in dict.fromkeys(extract_terms(query)):
        having = [n for n in counts if counts[n][word]]
        idf = math.log(1 + (max(len(counts), 40) - len(having) + 0.5) / (len(having) + 0.5))
        for n in having:
            count, length = counts[n][word], counts[n].total()
            scores[n] += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))
    return scores


def ranked(engram: Engram, query: str) -> dict[tuple[str, int], float]:
    """Return what is found with rounded scores: two ways to one sum may differ in the last digit."""
    hits = engram.recall(query, k=1000, abstain=False)
    return {(hit.snippet, hit.copies): hit.score for hit in hits}


def changed(engram: Engram, said: list[str]) -> None:
    """Change some exchanges; their old docs are deleted but still stored."""
    with engram.engine.transaction():
        for number in holding.exchanges(engram)[::5]:
            text = " ".join(said)
            engram.engine.run("update exchanges set content = :text where id = :id", text=text, id=number)
            exchanges.queue_for_index(engram.engine, [number])


@settings(max_examples=15, deadline=None)
@given(STEPS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), st.sampled_from([None, *"abc"]))
def test_an_index_grown_in_steps_is_the_one_made_at_once(
    steps: list[tuple[str, list[str]]], query: str, gone: str | None
) -> None:
    with tempfile.TemporaryDirectory() as folder, Engram(folder, embedder="static") as engram:
        for session, texts in steps:
            for text in texts:
                engram.remember(session, "user", text)
                maintenance.index_batch(engram, 1)
        if gone in {session for session, _ in steps}:
            engram.delete_session(gone)
        changed(engram, WORDS[: len(steps) * 2])
        maintenance.update_index(engram, embed="fast")
        grown = ranked(engram, query)
        held = load_snapshot(engram)
        scores = score_keywords(held, {word: [word] for word in extract_terms(query)}, held.alive).docs
        said = {row["id"]: row["content"] for row in engram.engine.run("select id, content from exchanges")}
        by_books = naive(said, query) if said else {}
        for doc in np.flatnonzero(held.alive):
            assert scores[doc] == pytest.approx(by_books[int(held.sources[doc])], rel=1e-4)
        engram.index(rebuild=True)
        assert ranked(engram, query) == pytest.approx(grown, abs=0.0011)


def test_the_parts_of_a_turn_are_one_however_they_came(engram: Engram) -> None:
    for role, text in (("user", "How do we feed the kestrel?"), ("assistant", "With mice from the barn.")):
        engram.remember("a", role, text)
        maintenance.index_batch(engram, 10)
        engram.remember("b", "user", "Something else altogether, said meanwhile.")
        maintenance.index_batch(engram, 10)
    grown = [(hit.id, hit.why["cover"]) for hit in engram.recall("kestrel barn", abstain=False, tiers=["exchange"])]
    engram.index(rebuild=True, embed=False)
    maintenance.update_index(engram, embed="fast")
    again = [(hit.id, hit.why["cover"]) for hit in engram.recall("kestrel barn", abstain=False, tiers=["exchange"])]
    assert dict(grown) == dict(again)


def test_answers_indexed_without_their_questions_still_belong_to_them(engram: Engram) -> None:
    talk = [("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four")]
    rows = [
        {"role": role, "content": text, "at": f"2026-05-01T10:0{n}:00+00:00"} for n, (role, text) in enumerate(talk)
    ]
    engram.add_exchanges_bulk("a", rows)
    maintenance.index_batch(engram, 10)
    first, answer, second, other = holding.exchanges(engram)
    with engram.engine.transaction():
        exchanges.queue_for_index(engram.engine, [answer, other])
    maintenance.index_batch(engram, 10)
    held = load_snapshot(engram)
    turns = np.concatenate([part["turns"] for part in held.parts])
    of = {int(held.sources[doc]): int(turns[doc]) for doc in np.flatnonzero(held.alive)}
    assert of == {first: first, answer: first, second: second, other: second}


def test_an_empty_store_can_be_indexed_and_asked(engram: Engram) -> None:
    done = engram.index(rebuild=True)
    assert (done.indexed, done.embedded, done.waiting, done.docs) == (0, 0, 0, 0)
    assert engram.recall("kestrel") == []


# ---- Several processes


WORK = """
import sys
from engram import Engram
from engram.index.maintenance import update_index, index_recent
store, name, count = sys.argv[1:4]
with Engram(store=store) as engram:
    sys.stdin.readline()
    for n in range(int(count)):
        engram.remember(name, "user", f"Bird {n} of {name} is called kestrel{name}{n}.")
        index_recent(engram)
    update_index(engram, embed="fast")
"""


def work(store: str, name: str, count: int, source: str = WORK) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", source, store, name, str(count)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def test_processes_that_index_at_once_lose_nothing_and_double_nothing(engram: Engram, store: str) -> None:
    workers = [work(store, name, 40) for name in "abc"]
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    problems = [item.communicate(timeout=100)[1] for item in workers]
    assert [entry.returncode for entry in workers] == [0, 0, 0], "\n".join(problems)
    maintenance.update_index(engram, embed="fast")
    assert len(holding.exchanges(engram)) == 120
    assert holding.living(engram) == holding.exchanges(engram)
    assert holding.embedded(engram) == holding.exchanges(engram)
    assert found(engram, "kestrelb7") == ["Bird 7 of b is called kestrelb7."]


def test_questions_are_answered_while_others_index(engram: Engram, store: str) -> None:
    engram.remember("first", "user", "The hoopoe is a bird as well.")
    workers = [work(store, name, 40) for name in "ab"]
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    asked = 0
    while asked < 5 or any(worker.poll() is None for worker in workers):
        assert "The hoopoe is a bird as well." in found(engram, "hoopoe", tiers=["exchange"])
        asked += 1
    problems = [item.communicate(timeout=100)[1] for item in workers]
    assert [entry.returncode for entry in workers] == [0, 0], "\n".join(problems)


def test_a_row_that_is_written_late_is_not_taken_for_done(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queue rows may become visible after later ones: of two writers, the first commits last."""
    for n in range(3):
        engram.remember("a", "user", f"Bird {n} is called kestrel{n}.")
    late = engram.engine.run("select id, kind, source from unindexed order by id")[1]
    engram.engine.run("delete from unindexed where id = :id", id=late["id"])
    waiting = index_segments.list_queued
    asked: list[int] = []

    def meanwhile(*given: Any) -> Any:
        rows = waiting(*given)
        asked.append(len(rows))
        if len(asked) == 1:
            sql = (
                "insert into unindexed (id, kind, source) /*pg: overriding system value */ values (:id, :kind, :source)"
            )
            engram.engine.run(sql, **late)
        return rows

    monkeypatch.setattr(index_segments, "list_queued", meanwhile)
    maintenance.index_batch(engram, 10)
    monkeypatch.setattr(index_segments, "list_queued", waiting)
    maintenance.update_index(engram, embed=False)
    assert holding.living(engram) == holding.exchanges(engram)


CHATTER = """
import sys
from engram import Engram
from engram.index.maintenance import update_index, index_recent
store, name, count = sys.argv[1:4]
with Engram(store=store) as engram:
    sys.stdin.readline()
    for n in range(int(count)):
        engram.remember(f"{name}{n % 7}", "user", f"Bird {n} of {name} is called kestrel{name}{n}.")
        update_index(engram, embed="fast")
        print(n, flush=True)
"""


def test_a_process_killed_while_it_indexes_leaves_a_whole_index(engram: Engram, store: str) -> None:
    words = [sys.executable, "-c", CHATTER, store, "a", "100000"]
    for until in (5, 17, 30):
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin
        assert process.stdout
        process.stdin.write("go\n")
        process.stdin.flush()
        while int(process.stdout.readline()) < until:
            pass
        process.kill()
        process.communicate()
    maintenance.update_index(engram, embed="fast")
    assert len(holding.exchanges(engram)) >= 5 + 17 + 30
    assert holding.living(engram) == holding.exchanges(engram)
    assert holding.embedded(engram) == holding.exchanges(engram)


def test_what_is_deleted_during_indexing_is_gone_for_good(engram: Engram, store: str) -> None:
    workers = [work(store, name, 21, CHATTER) for name in "ab"]
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    deleted: set[str] = set()
    while any(entry.poll() is None for entry in workers):
        for row in engram.engine.run("select id from sessions where id in ('a1', 'a4', 'b2')"):
            engram.delete_session(row["id"])
            deleted.add(row["id"])
    problems = [item.communicate(timeout=100)[1] for item in workers]
    assert [worker.returncode for worker in workers] == [0, 0], "\n".join(problems)
    for name in deleted:
        if engram.engine.run("select id from sessions where id = :id", id=name):
            engram.delete_session(name)
    maintenance.update_index(engram, embed="fast")
    assert deleted
    assert holding.living(engram) == holding.exchanges(engram)
    assert set(holding.embedded(engram)) <= set(holding.exchanges(engram))
    numbers = {f"kestrel{name[0]}{n}" for name in deleted for n in range(int(name[1]), 21, 7)}
    assert not numbers & holding.terms(engram)
