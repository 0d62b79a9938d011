"""Search terms: names whole and in parts, word forms as one, any text in bounded time."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engram.index.tokenizer import QUESTION_WORDS, STOP_WORDS, extract_terms, fold_text, looks_like_hash, stem_word

ANYTHING = st.text(st.characters(codec=None), max_size=400)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("retry_count", {"retry_count", "retry", "count"}),
        ("MAX_RETRY", {"max_retry", "max", "retry"}),
        ("parseHeader", {"parseheader", "pars", "header"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("OAuth2Token", {"oauth2token", "auth", "token"}),
        ("src/app/login.py", {"src/app/login.py", "src", "app", "login", "py"}),
        (r"C:\Users\me", {r"c:\users\me", "user"}),
        ("v1.24.3", {"v1.24.3", "v1", "24"}),
        ("ORA-00942", {"ora-00942", "ora", "00942"}),
        ("error[E0308]", {"error", "e0308"}),
        ("0x80070005", {"0x80070005"}),
        ("commit 3f2a9c1d0b", {"commit", "3f2a9c1d0b"}),
        ("numpy.linalg.norm(x)", {"numpy.linalg.norm", "numpy", "linalg", "norm", "x"}),
        ("user@example.org", {"user@example.org", "user", "exampl", "org"}),
        ("feature/login-form", {"feature/login-form", "login", "form"}),
    ],
)
def test_a_name_is_found_whole_and_by_its_parts(text: str, terms: set[str]) -> None:
    assert terms <= {*extract_terms(text)}


def test_a_question_in_plain_words_meets_a_name_in_code() -> None:
    assert {*extract_terms("where is the retry count parsed")} & {*extract_terms("retry_count")} == {"retry", "count"}
    assert {*extract_terms("the http server")} <= {*extract_terms("HTTPServer")}


def test_a_full_stop_after_a_name_is_not_part_of_it() -> None:
    assert extract_terms("I broke app.py.") == extract_terms("I broke app.py")
    assert "app.py" in extract_terms("(app.py)")


@pytest.mark.parametrize("text", ["don't", "don’t", "we'll", "it's", "I'd", "they've"])
def test_a_contraction_is_not_a_name(text: str) -> None:
    assert not [term for term in extract_terms(text) if "'" in term or "’" in term]


def test_whose_it_is_does_not_matter() -> None:
    assert extract_terms("Berlin's") == extract_terms("Berlin") == ["berlin"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("café", "cafe"), ("Über", "uber"), ("naïve", "NAIVE"), ("straße", "strasse")],
)
def test_accents_and_capitals_do_not_matter(one: str, other: str) -> None:
    assert extract_terms(one) == extract_terms(other)
    assert extract_terms(one)


def test_letters_composed_or_not_are_the_same() -> None:
    assert extract_terms("cafe\u0301") == extract_terms("caf\u00e9")


def test_scripts_without_spaces_are_found_by_pairs() -> None:
    assert extract_terms("数据库连接") == ["数据", "据库", "库连", "连接"]
    assert {*extract_terms("连接")} <= {*extract_terms("我们修复了数据库连接的错误")}
    assert extract_terms("猫") == ["猫"]
    assert {"东京", "api"} <= {*extract_terms("东京api")}


def test_the_end_of_a_long_run_without_spaces_is_found_too() -> None:
    assert {*extract_terms("连接")} <= {*extract_terms("数" * 90 + "连接")}


def test_words_that_say_nothing_are_left_out() -> None:
    assert extract_terms("what is the to of and") == []
    assert extract_terms("The Redis cache") == ["redis", "cach"]
    assert "not" in STOP_WORDS
    assert not STOP_WORDS & {*extract_terms("Why was THE queue in there")}


@pytest.mark.parametrize(
    "forms",
    [
        ("cache", "caches", "cached", "caching"),
        ("query", "queries"),
        ("index", "indexes", "indexed", "indexing"),
        ("class", "classes"),
        ("test", "tests", "tested", "testing"),
        ("run", "runs", "running"),
        ("stop", "stops", "stopped", "stopping"),
        ("write", "writes", "writing"),
        ("crash", "crashes", "crashed"),
        ("address", "addresses"),
        ("fix", "fixes", "fixed", "fixing"),
        ("agree", "agreed", "agreeing"),
        ("match", "matches", "matched", "matching"),
        ("install", "installed", "installing"),
    ],
)
def test_the_forms_of_a_word_meet(forms: tuple[str, ...]) -> None:
    assert len({stem_word(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("status", "stat"), ("redis", "redi"), ("process", "proces"), ("bring", "br")],
)
def test_what_only_looks_like_an_ending_stays(one: str, other: str) -> None:
    assert stem_word(one) != other


@pytest.mark.parametrize(
    "forms",
    [("make", "makes", "making"), ("code", "coding", "coded"), ("save", "saved", "saving")],
)
def test_the_forms_of_a_short_word_meet(forms: tuple[str, ...]) -> None:
    assert len({stem_word(form) for form in forms}) == 1


@given(st.text("abeingds", min_size=1, max_size=12))
@example("eeeee")
def test_a_stem_is_a_beginning_that_is_never_empty(word: str) -> None:
    stem = stem_word(word)
    assert stem
    assert word.startswith((stem, stem[:-1]))
    assert len(stem) >= min(len(word), 2)


def test_words_of_asking_are_written_as_they_are_looked_up() -> None:
    assert {word for word in QUESTION_WORDS if extract_terms(word) != [word]} == set()


@given(ANYTHING)
def test_any_text_has_words_and_only_so_many(text: str) -> None:
    terms = extract_terms(text)
    assert len(terms) <= 3 * len(text)
    assert all(terms)
    assert all(len(term.encode("utf-8")) <= 2400 for term in terms)  # the limit of PostgreSQL's b-tree
    assert extract_terms(text) == terms


@given(ANYTHING)
def test_folding_is_done_once(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(st.text("abcXYZ_09-/.", min_size=1, max_size=40), st.text(" ,;()\n", min_size=1, max_size=3))
def test_words_do_not_depend_on_the_separators(name: str, gap: str) -> None:
    assert extract_terms(f"{name}{gap}other") == [*extract_terms(name + gap), *extract_terms("other")]


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "ab_" * 50_000, "x/" * 50_000, "'" * 100_000, "数" * 50_000, "Ab" * 50_000],
)
def test_a_blob_yields_few_and_short_terms(text: str) -> None:
    terms = extract_terms(text)
    assert len(terms) <= len(text) + 1
    assert all(len(term) <= 64 for term in terms)


def test_a_blob_is_found_by_its_beginning() -> None:
    assert extract_terms("q" * 300) == ["q" * 64]


@pytest.mark.parametrize(
    ("term", "is_one"),
    [
        ("3f2a9c1", True),
        ("0" * 40, False),
        ("deadbeef", False),
        ("12345678", False),
        ("3f2a9", False),
        ("g3f2a9c", False),
        ("3f" * 32, True),
        ("3f" * 33, False),
    ],
)
def test_a_hash_is_known_by_its_looks(term: str, is_one: bool) -> None:
    assert looks_like_hash(term) is is_one
