"""Rules: from one line per kind come its anchors, its pattern and its samples."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.redaction.redactor import Redactor
from engram.redaction.rules import (
    ALPHABETS,
    RULES,
    build_pattern,
    list_base64_forms,
    list_spellings,
    list_url_spellings,
    make_sample,
    split_shape,
)


def test_a_name_is_known_in_every_spelling() -> None:
    assert list_spellings("token") == {"token", "TOKEN", "Token"}
    assert list_spellings("api key") == {
        "apikey", "api_key", "api-key", "api key", "api.key", "APIKEY", "API_KEY", "API-KEY", "API KEY", "API.KEY",
        "apiKey", "ApiKey", "Api-Key", "Api_Key", "Api Key", "Api key",
    }  # fmt: skip


def test_the_base64_of_a_name_has_a_form_for_each_place_in_a_group_of_three() -> None:
    assert list_base64_forms("token") == [(0, "dG9rZW"), (2, "Rva2Vu"), (3, "0b2tlb")]


@settings(max_examples=60)
@given(st.binary(max_size=12), st.sampled_from(["token", "_KEY=", "password", "api_key"]), st.binary(max_size=9))
def test_a_name_is_found_in_base64_wherever_it_stands(before: bytes, word: str, after: bytes) -> None:
    coded = base64.b64encode(before + word.encode() + after).decode()
    phase, form = list_base64_forms(word)[len(before) % 3]
    assert any(match.start() % 4 == phase for match in re.finditer(f"(?={re.escape(form)})", coded))


@pytest.mark.parametrize(
    ("shape", "head", "anchors"),
    [
        ("AKIA{u16}", "", ("AKIA",)),
        ("SK{h32}", "", ()),
        ("{h32}", "", ()),
        ("sk_{h48}", "", ("sk_",)),
        ("{w14}.atlasv1.{a60-80}", "{w14}", (".atlasv1.",)),
        ("{d8-10}:AA{a32-34}", "{d8-10}", (":AA", "%3AAA", "%3aAA")),
        ("X-Amz-Signature={h64}", "", ("X-Amz-Signature",)),
        ("sig={p43-90}", "", ("sig=", "sig%3D", "sig%3d")),
        ("{w2}abc{w2}defg", "{w2}", ("abc",)),
        ("abcd/{w2}", "", ("abcd",)),
    ],
)
def test_a_shape_is_searched_by_its_first_telling_letters(shape: str, head: str, anchors: tuple[str, ...]) -> None:
    assert split_shape(shape) == (head, anchors)


def test_a_text_is_spelt_plain_and_in_both_codes_of_a_url() -> None:
    assert list_url_spellings("a=b/") == ["a=b/", "a%3Db%2F", "a%3db%2f"]
    assert list_url_spellings("a.b_c-9") == ["a.b_c-9"] * 3


@pytest.mark.parametrize(
    ("shape", "fitting", "others"),
    [
        ("k-{w3-5}", ["k-abc", "k-aB9xy"], ["k-ab", "k-abcdef", "k-ab_", "k_abc"]),
        ("{h4}", ["09af"], ["09a", "09af0", "09AF"]),
        ("a={d2}/{u1}", ["a=42/Z", "a%3D42%2FZ", "a%3d42%2fZ"], ["a=4/Z", "a342/Z", "a=42/z"]),
        ("{a2}.x", ["_-.x"], ["_-xx", "..x"]),
    ],
)
def test_a_pattern_fits_exactly_its_shape(shape: str, fitting: list[str], others: list[str]) -> None:
    pattern = re.compile(build_pattern(shape))
    assert [text for text in fitting if not pattern.fullmatch(text)] == []
    assert [text for text in others if pattern.fullmatch(text)] == []


def test_every_sample_fits_its_shape_and_is_made_again_by_the_same_seed() -> None:
    for shape in (shape for rule in RULES for shape in rule.shapes):
        sample = make_sample(shape, 1)
        assert re.fullmatch(build_pattern(shape), sample), shape
        assert sample == make_sample(shape, 1) != make_sample(shape, 2)
        assert make_sample(shape) == make_sample(shape, 0) != sample
        assert len(sample) == len(re.sub(r"\{[a-z](\d+)(-\d+)?\}", lambda run: "x" * int(run[1]), shape))


def test_samples_use_the_letters_and_digits_of_their_alphabet() -> None:
    for letter, ranges in ALPHABETS.items():
        wanted = {chr(code) for code in range(128) if chr(code).isalnum() and re.match(f"[{ranges}]", chr(code))}
        assert set(make_sample(f"{{{letter}2000}}")) == wanted, letter


@pytest.mark.parametrize("number", ["100000000000000000", "189012345678901234", "999999999999999999"])
def test_the_token_of_every_bot_starts_with_its_number(number: str) -> None:
    head = base64.b64encode(number.encode()).decode().rstrip("=")
    token = f"{head}.{make_sample('{a6}')}.{make_sample('{a30}')}"
    assert "[REDACTED:discord:" in Redactor(b"key").redact(f"bot.run('{token}')")


def test_no_kind_is_named_twice() -> None:
    names = [rule.id for rule in RULES]
    assert len(names) == len(set(names))
