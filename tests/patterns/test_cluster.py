"""Similar signals are grouped in any order, and decisions by people are kept."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.models.embed_static import StaticEmbedder
from engram.patterns.cluster import FingerprintField, Member, quantize_vectors
from engram.patterns.fingerprint import extract_content, pattern_id

SAME = (
    ("no, use pnpm instead of npm", "please use pnpm, not npm"),
    ("don't use npm, we use pnpm here", "use pnpm instead of npm"),
    ("no, don't commit directly to main", "never commit to main, make a branch"),
    ("we always use uv, not pip", "use uv instead of pip"),
    ("no, don't mock the database", "we never mock the database in tests"),
    ("fix the failing unit tests", "the unit tests are failing, fix them"),
)
DIFFERENT = (
    ("no, use pnpm instead of npm", "no, use uv instead of pip"),
    ("never commit to main", "never mock the database"),
    ("don't touch the generated files", "don't touch the migration files"),
    ("fix the failing unit tests", "fix the failing build"),
    ("add dark mode to the settings page", "add a logout button to the settings page"),
    ("use double quotes not single quotes", "use tabs not spaces"),
    ("you forgot to run the tests", "you forgot to update the docs"),
    ("update the changelog for the release", "update the readme for the release"),
)
WORDS = tuple(dict.fromkeys(extract_content(each) for pair in (*SAME, *DIFFERENT) for each in pair))
CODES = dict(zip(WORDS, quantize_vectors(StaticEmbedder().embed(WORDS)), strict=True))


def member(words: str, **facts: object) -> Member:
    return Member(fingerprint=words, codes=CODES[words], **facts)  # type: ignore[arg-type]


def settled(words: list[str]) -> dict[str, str]:
    return FingerprintField("correction", [member(word) for word in words]).find_reassignments(set())


def test_the_same_thing_in_other_words_is_one_pattern() -> None:
    for one, other in SAME:
        result = settled([extract_content(one), extract_content(other)])
        assert len(set(result.values())) == 1, (one, other)


def test_another_thing_in_like_words_is_another_pattern() -> None:
    for one, other in DIFFERENT:
        result = settled([extract_content(one), extract_content(other)])
        assert len(set(result.values())) == 2, (one, other)


@settings(max_examples=60, deadline=None)
@given(st.permutations(WORDS), st.lists(st.integers(1, len(WORDS)), max_size=4), st.integers(0, len(WORDS) - 1))
def test_order_and_batches_do_not_matter(words: list[str], cuts: list[int], fewer: int) -> None:
    """Clustering in any order and batches gives the same result as all in one batch."""
    kept = words[fewer:]
    wanted = settled(sorted(kept))
    placed: dict[str, str] = {}
    for first, last in pairwise(sorted({0, len(words), *cuts})):
        known = [member(word, pattern=placed.get(word, "")) for word in words[:last]]
        placed |= FingerprintField("correction", known).find_reassignments(set())
        assert set(placed) == set(words[:last]), (first, last)
    gone = set(words[:fewer])
    placed |= FingerprintField("correction", [member(word, pattern=placed[word]) for word in words]).find_reassignments(
        gone
    )
    assert {each: placed[each] for each in kept} == wanted


def test_what_a_person_decided_leads_whoever_comes_near() -> None:
    old, new = extract_content("use pnpm instead of npm"), extract_content("no, use pnpm instead of npm")
    seed = pattern_id("correction", old)
    decided = member(old, pattern="pmerged00", decided=True)
    assert FingerprintField("correction", [decided, member(new)], {seed}).find_reassignments(set()) == {
        new: "pmerged00"
    }
