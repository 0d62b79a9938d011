"""Texts that are alike meet, and those that are not are told apart."""

from __future__ import annotations

import random
import subprocess
import sys

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engram.dream import likeness

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "e", "ou", "i") for c in ("l", "m", "nt", "r", "sk")]
TEXT = st.integers(0, 1 << 32).map(lambda seed: random.Random(seed).choices(WORDS, k=60 + seed % 240))


def meet(one: list[str], other: list[str]) -> bool:
    """Tell whether the bands of two texts bring them together."""
    return bool({*likeness.bands(likeness.runs(one))} & {*likeness.bands(likeness.runs(other))})


@given(TEXT, st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_a_text_with_a_few_words_changed_is_found(said: list[str], seed: int) -> None:
    chance, changed = random.Random(seed), list(said)
    for place in chance.sample(range(len(said)), len(said) // 60):  # each takes three runs away and brings three
        changed[place] = "zebra"
    assume(len(likeness.runs(said)) > 0.9 * len(said))  # a text, not one word again and again
    assert likeness.share(likeness.runs(said), likeness.runs(changed)) >= likeness.ALIKE
    assert meet(said, changed)


@given(TEXT, TEXT)
@settings(max_examples=60, deadline=None)
def test_texts_of_the_same_words_in_another_order_are_not_alike(one: list[str], other: list[str]) -> None:
    assume(one != other)
    assert likeness.share(likeness.runs(one), likeness.runs(other)) < likeness.ALIKE / 4


def test_unrelated_texts_hardly_ever_meet() -> None:
    chance = random.Random(7)
    texts = [[chance.choice(WORDS) for _ in range(120)] for _ in range(40)]
    met = sum(meet(one, other) for n, one in enumerate(texts) for other in texts[:n])
    assert met == 0


@given(st.text(max_size=400))
def test_any_text_has_words_and_bands_or_none(text: str) -> None:
    said = likeness.words(text)
    assert len(likeness.bands(likeness.runs(said))) == (20 if said else 0)
    assert likeness.exact(said) == likeness.exact(likeness.words("  ".join(said)))


def test_case_marks_and_spaces_make_no_difference() -> None:
    one, other = "Use PNPM, not npm!\n\n- never yarn.", "use pnpm not npm never yarn"
    assert likeness.exact(likeness.words(one)) == likeness.exact(likeness.words(other))


def test_ideographs_are_words() -> None:
    assert likeness.words("登录测试 flaky") == ["登", "录", "测", "试", "flaky"]


def test_every_process_makes_the_same_bands() -> None:
    code = "from engram.dream import likeness as l; print(l.bands(l.runs(l.words('the same words in any process'))))"
    told = {subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(2)}
    own = likeness.bands(likeness.runs(likeness.words("the same words in any process")))
    assert told == {f"{own}\n"}
    assert own[0] == "ce52fcf8b85ee67a"  # they are stored
