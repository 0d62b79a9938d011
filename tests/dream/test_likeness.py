"""Similar texts share a band, and different ones do not."""

from __future__ import annotations

import random
import subprocess
import sys

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engram.dream import similarity

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "e", "ou", "i") for c in ("l", "m", "nt", "r", "sk")]
TEXT = st.integers(0, 1 << 32).map(lambda seed: random.Random(seed).choices(WORDS, k=60 + seed % 240))


def meet(one: list[str], other: list[str]) -> bool:
    """Return whether two texts share a band."""
    return bool(
        {*similarity.compute_bands(similarity.hash_runs(one))}
        & {*similarity.compute_bands(similarity.hash_runs(other))}
    )


@given(TEXT, st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_text_with_a_few_words_changed_is_found(said: list[str], seed: int) -> None:
    chance, changed = random.Random(seed), list(said)
    for place in chance.sample(range(len(said)), len(said) // 60):  # each change removes three shingles and adds three
        changed[place] = "zebra"
    assume(len(similarity.hash_runs(said)) > 0.9 * len(said))  # a text, not one repeated word
    assert similarity.compute_overlap(similarity.hash_runs(said), similarity.hash_runs(changed)) >= similarity.ALIKE
    assert meet(said, changed)


@given(TEXT, TEXT)
@settings(max_examples=60, deadline=None)
def test_texts_of_the_same_words_in_another_order_are_not_alike(one: list[str], other: list[str]) -> None:
    assume(one != other)
    assert similarity.compute_overlap(similarity.hash_runs(one), similarity.hash_runs(other)) < similarity.ALIKE / 4


def test_unrelated_texts_hardly_ever_meet() -> None:
    chance = random.Random(7)
    texts = [[chance.choice(WORDS) for _ in range(120)] for _ in range(40)]
    met = sum(meet(text, other) for n, text in enumerate(texts) for other in texts[:n])
    assert met == 0


@given(st.text(max_size=400))
def test_any_text_has_words_and_bands_or_none(text: str) -> None:
    result = similarity.split_words(text)
    assert len(similarity.compute_bands(similarity.hash_runs(result))) == (20 if result else 0)
    assert similarity.hash_words(result) == similarity.hash_words(similarity.split_words("  ".join(result)))


def test_case_marks_and_spaces_make_no_difference() -> None:
    one, other = "Use PNPM, not npm!\n\n- never yarn.", "use pnpm not npm never yarn"
    assert similarity.hash_words(similarity.split_words(one)) == similarity.hash_words(similarity.split_words(other))


def test_ideographs_are_words() -> None:
    assert similarity.split_words("登录测试 flaky") == ["登", "录", "测", "试", "flaky"]


def test_every_process_makes_the_same_bands() -> None:
    code = (
        "from engram.dream import similarity as l\n"
        "print(l.compute_bands(l.hash_runs(l.split_words('the same words in any process'))))"
    )
    told = {subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(2)}
    own = similarity.compute_bands(similarity.hash_runs(similarity.split_words("the same words in any process")))
    assert told == {f"{own}\n"}
    assert own[0] == "ce52fcf8b85ee67a"  # they are stored
