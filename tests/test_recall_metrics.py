"""Rankings are scored as worked out by hand, and the questions are read as they were meant."""

from __future__ import annotations

import json
import math
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest

from benchmarks.recall.asking import Answer, Sheet, ask
from benchmarks.recall.corpus import Corpus
from benchmarks.recall.data import Case, Question, Session, Turn, locomo, longmemeval, pooled, some
from benchmarks.recall.metrics import (
    all_at,
    any_at,
    distinct,
    ndcg_at,
    percentile,
    recall_at,
    reciprocal_rank,
    scores,
)
from benchmarks.recall.peers import Peer, Running
from benchmarks.recall.systems import Bm25, Hit, NotRun
from benchmarks.recall.tables import table

AT = datetime(2024, 5, 3, tzinfo=timezone.utc)
RANKED = ["x", "a", "y", "b"]
GOLD = {"a", "b"}


def session(name: str, *said: str) -> Session:
    return Session(name, tuple(Turn("user", text, AT) for text in said))


def question(name: str, text: str, *gold: str, kind: str = "k", unanswerable: bool = False) -> Question:
    return Question(name, text, AT, kind, frozenset(gold), frozenset(), unanswerable)


def test_a_gold_id_counts_from_the_place_it_is_at() -> None:
    assert [any_at(RANKED, GOLD, k) for k in (1, 2, 4)] == [0, 1, 1]


def test_all_gold_ids_must_be_among_the_first() -> None:
    assert [all_at(RANKED, GOLD, k) for k in (2, 3, 4, 10)] == [0, 0, 1, 1]


def test_recall_is_the_share_of_gold_ids_found() -> None:
    assert [recall_at(RANKED, GOLD, k) for k in (1, 2, 4)] == [0, 0.5, 1]
    assert recall_at(["a", "a", "a"], GOLD, 3) == 0.5


def test_ndcg_discounts_by_place_against_the_best_order() -> None:
    # (1/log2 3 + 1/log2 5) / (1/log2 2 + 1/log2 3)
    assert ndcg_at(RANKED, GOLD, 10) == pytest.approx(0.6509209298)
    assert ndcg_at(["a", "b"], GOLD, 10) == 1
    assert ndcg_at(RANKED, GOLD, 1) == 0
    assert ndcg_at(["a"], {"a", "b", "c"}, 1) == 1  # no order of one can be better


def test_the_reciprocal_rank_is_that_of_the_first_gold_id() -> None:
    assert [reciprocal_rank(each, GOLD) for each in (RANKED, ["b"], ["x"])] == [0.5, 1, 0]


def test_a_percentile_is_one_of_the_values() -> None:
    assert [percentile([4, 1, 3, 2], share) for share in (0.5, 0.95, 0)] == [2, 4, 1]
    assert math.isnan(percentile([], 0.5))


def test_sessions_are_ranked_by_their_first_hit() -> None:
    assert distinct(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]


def test_scores_are_means_and_leave_out_questions_without_gold() -> None:
    found = scores([(RANKED, GOLD), (["a"], {"a"}), (["x"], set())])
    assert (found.count, found.any_1, found.any_5, found.all_5, found.recall_5, found.mrr) == (2, 0.5, 1, 1, 1, 0.75)
    assert math.isnan(scores([]).any_1)


def test_bm25_prefers_rare_words_and_repeated_ones() -> None:
    system = Bm25()
    system.prepare(
        [session("a", "the cat", "the dog"), session("b", "the cat cat cat"), session("c", "the")], "session"
    )
    assert [hit.session for hit in system.search("cat", AT, 10)] == ["b", "a"]
    assert [hit.session for hit in system.search("the Dog?", AT, 1)] == ["a"]
    assert system.search("nothing", AT, 10) == []
    system.prepare([session("a", "the cat", "the dog")], "turn")
    assert [hit.turn for hit in system.search("dog", AT, 10)] == ["a/1"]


def test_bm25_weighs_as_the_formula_says() -> None:
    system = Bm25()
    system.k1, system.b = 1.0, 0.0
    system.prepare([session("a", "x y"), session("b", "x z")], "session")
    # For "y z z": each word is in one of two, ln(1 + 1.5/1.5) · 1 · 2 / 2, so both weigh the same and the first leads.
    assert [hit.session for hit in system.search("y z z", AT, 10)] == ["a", "b"]


def test_silence_is_right_where_there_is_no_answer_and_wrong_where_there_is() -> None:
    asked = [question("1", "", unanswerable=True), question("2", "", unanswerable=True), question("3", "", "a")]
    sheet = Sheet("s", answers=[Answer(each, (), each.id != "2", 1.0) for each in asked])
    assert sheet.silence() == (0.5, 1.0)
    assert Sheet("s").silence() == (None, None)


def test_tokens_are_those_of_the_first_five() -> None:
    hits = tuple(Hit("a", None, "x" * 40) for _ in range(9))
    assert Sheet("s", answers=[Answer(question("1", "", "a"), hits, False, 1.0)]).tokens() == 50


def test_a_part_of_the_questions_is_spread_evenly_and_every_memory_is_scored_on_it() -> None:
    cases = [Case((session(str(n), f"word{n}"),), (question(str(n), f"word{n}", str(n)),)) for n in range(10)]
    fewer = some(cases, 5)
    ids = [each.id for case in fewer for each in case.questions]
    assert ids == ["0", "2", "4", "6", "8"]
    assert ask(Bm25(), cases, "session").of(ids).scored().count == 5
    assert some(cases, 50) == cases


def test_the_pool_holds_every_session_once() -> None:
    shared = session("same", "word")
    cases = [Case((shared, session(str(n), "other")), (question(str(n), "word", "same"),)) for n in range(3)]
    (pool,) = pooled(cases)
    assert sorted(each.id for each in pool.sessions) == ["0", "1", "2", "same"]
    assert len(pool.questions) == 3


def test_longmemeval_tells_gold_sessions_turns_and_abstention(tmp_path: Path) -> None:
    record = {
        "question_id": "q_abs", "question_type": "t", "question": "?", "question_date": "2023/06/23 (Fri) 07:31",
        "answer_session_ids": ["s2"], "haystack_session_ids": ["s2", "s1", "s1"],
        "haystack_dates": ["2023/05/02 (Tue) 05:35", "2023/04/30 (Sun) 13:59", "2023/06/01 (Thu) 00:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "has_answer": True}],
            [{"role": "user", "content": "first"}], [{"role": "user", "content": "again"}],
        ],
    }  # fmt: skip
    path = tmp_path / "l.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (case,) = longmemeval(path)
    assert [(each.id, each.turns[0].content) for each in case.sessions] == [("s1", "first"), ("s2", "a")]
    asked = case.questions[0]
    assert (asked.sessions, asked.turns, asked.unanswerable) == (frozenset({"s2"}), frozenset({"s2/1"}), True)
    assert asked.asked_at == datetime(2023, 6, 23, 7, 31, tzinfo=timezone.utc)


def test_locomo_tells_evidence_however_it_is_written(tmp_path: Path) -> None:
    turns = [{"speaker": "Ann", "dia_id": f"D1:{n}", "text": "hi", "blip_caption": "a cat"} for n in (1, 2, 3)]
    held = {"speaker_a": "Ann", "speaker_b": "Bo", "session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    asked = [
        {"question": "?", "evidence": ["D1:1; D:1:3"], "category": 2},
        {"question": "?", "evidence": ["D", "D9:9"], "category": 5},
    ]
    path = tmp_path / "l.json"
    path.write_text(json.dumps([{"sample_id": "c", "conversation": held, "qa": asked}]))
    (case,) = locomo(path)
    assert case.sessions[0].turns[0].content == "Ann: hi [shares a cat] (8 May, 2023)"
    first, second = case.questions
    assert (first.turns, first.kind, first.unanswerable) == (
        frozenset({"session_1/0", "session_1/2"}),
        "temporal",
        False,
    )
    assert (second.turns, second.unanswerable) == (frozenset(), True)


def test_the_made_conversations_are_the_same_for_the_same_seed() -> None:
    one, two = (list(Corpus(3).sessions(45)) for _ in range(2))
    assert one == two
    assert [len(each.turns) for each in one] == [20, 20, 5]
    assert list(Corpus(4).sessions(45)) != one


def peer(folder: Path, source: str) -> Peer:
    """Return a peer whose environment is there already and whose runner does what the source says."""
    runner = folder / "runner.py"
    runner.write_text(f"import json, sys\nfor line in sys.stdin:\n    request = json.loads(line)\n    {source}\n")
    python = folder / "small" / "bin" / "python"
    python.parent.mkdir(parents=True)
    os.symlink(sys.executable, python)
    (folder / "small" / "installed").write_text("")
    return Peer("small", str(runner), (), abstains=False)


def test_a_peer_is_asked_over_lines_of_json(tmp_path: Path) -> None:
    answer = {"about": "small 1", "hits": [["s", None, "text"]]}
    running = Running(peer(tmp_path, f"print(json.dumps({answer!r}), flush=True)"), tmp_path)
    sheet = ask(running, [Case((session("s", "text"),), (question("1", "text", "s"),))], "session")
    running.close()
    assert (sheet.about, sheet.scored().any_1) == ("small 1", 1)


def test_a_peer_that_dies_is_named_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(NotRun, match="no model here"):
        Running(peer(tmp_path, "sys.exit('no model here')"), tmp_path)
    assert "not run: no model here" in table("t", [Sheet("small", why="no model here")])
