"""What means the same is found whatever order it comes in, and what a person decided stays."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.llm.embed_static import StaticEmbedder
from engram.patterns.cluster import Field, Member, coded
from engram.patterns.fingerprint import content, pattern_id

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
WORDS = tuple(dict.fromkeys(content(each) for pair in (*SAME, *DIFFERENT) for each in pair))
CODES = dict(zip(WORDS, coded(StaticEmbedder().embed(WORDS)), strict=True))


def member(words: str, **facts: object) -> Member:
    return Member(fingerprint=words, codes=CODES[words], **facts)  # type: ignore[arg-type]


def settled(words: list[str]) -> dict[str, str]:
    return Field("correction", [member(each) for each in words]).settled(set())


def test_the_same_thing_in_other_words_is_one_pattern() -> None:
    for one, other in SAME:
        found = settled([content(one), content(other)])
        assert len(set(found.values())) == 1, (one, other)


def test_another_thing_in_like_words_is_another_pattern() -> None:
    for one, other in DIFFERENT:
        found = settled([content(one), content(other)])
        assert len(set(found.values())) == 2, (one, other)


@settings(max_examples=60, deadline=None)
@given(st.permutations(WORDS), st.lists(st.integers(1, len(WORDS)), max_size=4), st.integers(0, len(WORDS) - 1))
def test_order_and_batches_do_not_matter(words: list[str], cuts: list[int], fewer: int) -> None:
    """Settle all at once, and settle in any order and batches, each time only what hangs together with what is new."""
    kept = words[fewer:]
    wanted = settled(sorted(kept))
    placed: dict[str, str] = {}
    for first, last in pairwise(sorted({0, len(words), *cuts})):
        known = [member(each, pattern=placed.get(each, "")) for each in words[:last]]
        placed |= Field("correction", known).settled(set())
        assert set(placed) == set(words[:last]), (first, last)
    gone = set(words[:fewer])
    placed |= Field("correction", [member(each, pattern=placed[each]) for each in words]).settled(gone)
    assert {each: placed[each] for each in kept} == wanted


def test_what_a_person_decided_leads_whoever_comes_near() -> None:
    old, new = content("use pnpm instead of npm"), content("no, use pnpm instead of npm")
    seed = pattern_id("correction", old)
    decided = member(old, pattern="pmerged00", decided=True)
    assert Field("correction", [decided, member(new)], {seed}).settled(set()) == {new: "pmerged00"}
