"""Any text is split into the pieces a model knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.models.wordpiece import UNKNOWN, WordPiece

VOCABULARY = ["[UNK]", "run", "##ning", "##s", "cafe", "!", "数", "_", "1", "##2"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> WordPiece:
    path: Path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return WordPiece(str(path))


@pytest.fixture(scope="module")
def whole() -> WordPiece:
    return WordPiece()


def spelled(small: WordPiece, text: str, limit: int = 100) -> list[str]:
    return ["?" if each == UNKNOWN else VOCABULARY[each] for each in small(text, limit)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("running", ["run", "##ning"]),
        ("RUNS!", ["run", "##s", "!"]),
        ("Café", ["cafe"]),
        ("run_run", ["run", "_", "run"]),
        ("run数数", ["run", "数", "数"]),
        ("12", ["1", "##2"]),
        ("runner", ["?"]),
        ("run " + "r" * 101, ["run", "?"]),
        ("", []),
        (" \n\t", []),
        ("run\u200brun", ["run", "?", "run"]),
    ],
)
def test_the_longest_known_pieces_from_left_to_right(small: WordPiece, text: str, pieces: list[str]) -> None:
    assert spelled(small, text) == pieces


def test_only_so_many_pieces(small: WordPiece) -> None:
    assert spelled(small, "running running", 3) == ["run", "##ning", "run"]
    assert len(small("run " * 10_000, 50)) == 50


def test_known_words_of_the_real_vocabulary_are_one_piece(whole: WordPiece) -> None:
    assert all(len(whole(word, 9)) == 1 for word in ("database", "garden", "the", "!", "berlin"))
    assert len(whole("unbelievableness", 9)) > 1
    assert UNKNOWN not in whole("snake_case and CamelCase: ORA-00942!", 50)


@given(st.text(st.characters(codec=None), max_size=300), st.integers(1, 64))
def test_any_text_has_known_pieces_and_only_so_many(whole: WordPiece, text: str, limit: int) -> None:
    result = whole(text, limit)
    assert len(result) <= limit
    assert all(0 <= each < 30_522 for each in result)
    assert result == whole(text, limit)
