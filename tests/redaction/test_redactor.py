"""Redaction: every known secret is removed wherever it is, everything else stays as it was."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.redaction import CONTEXTS, HOSTILE, Planted, by_name, by_rule, leaks
from engram.redaction.redactor import Redactor, find_known_secrets, merge_spans
from engram.redaction.rules import RULES, SecretRule, make_sample, split_shape
from engram.redaction.span import SecretSpan

MARK = re.compile(r"\[REDACTED:([a-z0-9-]+):[0-9a-f]{4}\]")
ANYTHING = st.text(st.characters(codec=None), max_size=200)
SECRETS = [one for rule in RULES for one in by_rule(rule)] + list(by_name())
# Pieces that hit the edges of the patterns more often than any real text.
PIECES = st.one_of(
    st.sampled_from(
        ["token", "=", ": ", '"', "password", "\n", "\\n", "\x1b[0m", "://", "@", "eyJ", ".", "sk-", "%3D", " is "]
    ),
    st.sampled_from(
        ["<private>", "</private>", "-----BEGIN PRIVATE KEY-----", "Cookie: ", "[REDACTED:", "\x00", "\ud800", "é"]
    ),
    st.sampled_from([one.value for one in SECRETS]),
    st.text(st.characters(codec=None), max_size=12),
)
MIXTURES = st.lists(PIECES, max_size=14).map("".join)


def clean(text: str) -> str:
    return Redactor(b"key").redact(text)


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_rule_finds_its_own_value_in_every_surrounding(context: str) -> None:
    missed = {
        rule.id: [one.value for one in by_rule(rule) if leaks(one, context, clean(CONTEXTS[context](one)))]
        for rule in RULES
    }
    # A line may break inside the very letters that identify a value; then it cannot be detected.
    assert [
        rule.id for rule in RULES if missed[rule.id] and not (context == "wrapped" and _broken_anchor(rule))
    ] == [], missed


def _broken_anchor(rule: SecretRule) -> bool:
    texts = [CONTEXTS["wrapped"](one) for one in by_rule(rule)]
    return any(
        anchor not in text for shape, text in zip(rule.shapes, texts, strict=False) for anchor in split_shape(shape)[1]
    )


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_value_is_found_by_its_name_in_every_surrounding(context: str) -> None:
    assert [one.name for one in by_name() if leaks(one, context, clean(CONTEXTS[context](one)))] == []


LOOKALIKES = (
    "token = parser.next()",
    "const token = await getToken(user2, 15)",
    "password: string;",
    '"max_tokens": 4096, "token_count": 20011',
    "export PASSWORD=$PASSWORD DB_PASSWORD=${DB_PASSWORD}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "apiKey: process.env.OPENAI_API_KEY2",
    'api_key = os.environ["OPENAI_API_KEY_V2"]',
    "API_KEY=<your-key-goes-here-1234>",
    "password=xxxxxxxxxxxx1",
    "API_KEY=your_api_key_here_1234567",
    "PWD=/home/user1/project OLDPWD=/tmp/x1",
    "secret_name: prod/database/password-v2",
    "password_file=/run/secrets/db1",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "session 0198c2f4-9d3a-7c1e-8a55-0d6f1f2c3b4a took 12 s",
    '{"id": "toolu_01A09q90qw90lq917835lq9", "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}',
    "integrity sha512-4oS3hNmzTPqVJ1tqQ1Wm9HLv0uP8bIiYt2c3cWk6m0o5ZbGmUOQ2LwrE6vqYJz9ZbQ5xkq8H1bQ0V7wUuYw0eg==",
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk" * 40,
    "see https://example.com:8080/a?b=c and postgres://postgres:postgres@localhost/db",
    "git@github.com:owner/repository.git user@host:22",
    "if '-----BEGIN PRIVATE KEY-----' in text: raise Leak",
    "wrap it in `<private>` tags and the rest is kept",
    "docker run -u 1000:1000 image",
    "nextPageToken: CAUQAA1b2c3d4e5f6g7h8",
    "class TokenBucket2: tokens: dict[str, int64]",
    "AKIAIOSFODNN7EXAMPLE",
    "the token is stored in config/credentials.yml.enc",
)


def test_what_only_looks_like_a_secret_stays() -> None:
    assert [text for text in LOOKALIKES if clean(text) is not text] == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("psql postgres://app:" + "s3cr" + "etPw9@db/x", "psql postgres://app:{}@db/x"),
        ("login --password " + "Tr0ub4" + "dor&3 --verbose", "login --password {} --verbose"),
        ("The password is " + "Tr0ub4" + "dor&3.", "The password is {}."),
        ("curl -u admin:" + "Pa55w" + "ord!x https://h", "curl -u admin:{} https://h"),
        ("<password>" + "Pa55w" + "ord!x</password>", "<password>{}</password>"),
        ("a <private>my salary</private> b", "a <private>{}</private> b"),
        ("hello\n<private>the rest\nof it", "hello\n<private>{}"),
        ("k: -----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpA" * 9 + "\n-----END RSA PRIVATE KEY-----\nz", "k: {}\nz"),
        ("k: -----BEGIN OPENSSH PRIVATE KEY-----\\n" + "b3Blbn" * 9 + "\nand more", "k: {}"),
    ],
)
def test_only_the_value_goes(text: str, kept: str) -> None:
    assert MARK.sub("{}", clean(text)) == kept


def test_a_value_seen_behind_its_name_goes_everywhere_before_and_after() -> None:
    value = make_sample("{w20}", 3)
    redactor = Redactor(b"key")
    first = redactor.redact_many([f"we saw {value} here", f'api_token = "{value}"'])
    later = redactor.redact(f"x{value}y")
    assert value not in "".join([*first, later])
    assert len(set(re.findall(r":([0-9a-f]{4})\]", "".join([*first, later])))) == 1


def test_known_values_go_and_ordinary_words_never_do() -> None:
    value = make_sample("{w24}", 4)
    redactor = Redactor(b"key", [value, "production", "true", ""])
    assert MARK.sub("{}", redactor.redact(f"production {value} true")) == "production {} true"


def test_secrets_of_the_environment_and_of_a_dotenv_file_are_known(tmp_path: Path) -> None:
    first, second = make_sample("{w24}", 5), make_sample("{h40}", 6)
    (tmp_path / ".env").write_text(
        f"# comment\nexport APP_SECRET='{second}'\nDEBUG_TOKEN=true\nNAME={make_sample('{w24}', 7)}\n"
    )
    environ = {
        "MY_TOKEN": first,
        "HOME": "/root",
        "API_KEY": "changeme",
        "EDITOR_TOKEN": "development",
        "X": make_sample("{w24}", 8),
    }
    assert find_known_secrets(environ, str(tmp_path)) == [first, second]
    assert find_known_secrets({}, str(tmp_path / "missing")) == []


def test_a_dotenv_file_is_read_to_its_limit_and_no_value_above_4096_bytes_is_known(tmp_path: Path) -> None:
    value, limit = make_sample("{w24}", 5), 64 * 1024
    line = f"\nA_TOKEN={value}"
    for beyond in (0, 1):
        (tmp_path / ".env").write_text("#" * (limit - len(line) + beyond) + line)
        assert find_known_secrets({}, str(tmp_path)) == [value[: len(value) - beyond]]
    longest = make_sample("{w4096}", 7)
    assert find_known_secrets({"A_KEY": longest, "B_KEY": longest, "C_KEY": longest + "x"}) == [longest]


def test_a_value_learned_before_is_known_again_by_its_hash_alone() -> None:
    value, other = make_sample("{w20}", 3), make_sample("{w20}", 4)
    before = Redactor(b"key")
    before.redact(f'api_token = "{value}"')
    (learned,) = before.learned_hashes
    assert re.fullmatch(r"20:[0-9a-f]{24}", learned)
    hashes = ["nonsense", "x:00", *before.learned_hashes]
    for text in (f"it is {value} now", f"use {value}.", f"use {value}!?", f"({value})", f"x={value}"):
        again = Redactor(b"key", remembered_hashes=hashes)
        assert value not in again.redact(text), text
        assert again.learned_hashes == []
    assert Redactor(b"key", remembered_hashes=hashes).redact(f"use {other} now") == f"use {other} now"
    assert value in Redactor(b"another key", remembered_hashes=hashes).redact(f"it is {value} now")


def test_texts_are_cleaned_in_a_batch_as_they_are_alone() -> None:
    secrets = [make_sample("ghp_{w36}", seed) for seed in range(5)]
    texts = [
        "nothing", f"é {secrets[0]} ß", "", f"{secrets[1]}", f"日 a {secrets[2]} b {secrets[3]} 😀", "é" * 9,
        f"end {secrets[4]}",
    ]  # fmt: skip
    cleaned = Redactor(b"key").redact_many(texts)
    assert cleaned == [clean(text) for text in texts]
    assert [MARK.sub("{}", text) for text in cleaned] == [
        "nothing",
        "é {} ß",
        "",
        "{}",
        "日 a {} b {} 😀",
        "é" * 9,
        "end {}",
    ]


def test_a_mark_stays_unless_all_of_it_is_inside_a_secret() -> None:
    mark = "[REDACTED:github:12ab]"
    for text in (mark, f"password={mark}", f"token: {mark} and {mark}", f"<private>{mark}</private>", f"{mark}x1y2z3"):
        assert clean(text) is text, text
    text = clean(f"<private>a {mark} b {mark} c</private> {mark}")
    assert MARK.sub("{}", text) == "<private>{}</private> {}"
    assert text.endswith(mark)


def test_a_value_has_one_mark_however_it_is_coded() -> None:
    plain, coded = "p@ss:w0rd!x", "p%40ss%3Aw0rd%21x"
    marks = [MARK.search(clean(f"postgres://app:{value}@db/app")) for value in (plain, coded)]
    assert marks[0] is not None
    assert marks[1] is not None
    assert marks[0][0] == marks[1][0]


def test_overlapping_spans_become_one_with_the_name_of_the_surest() -> None:
    def span(start: int, end: int, rank: int) -> SecretSpan:
        return SecretSpan(start, end, rank, f"rule {rank}", b"x")

    found = merge_spans(
        [span(20, 25, 1), span(0, 9, 2), span(5, 12, 0), span(6, 8, 1), span(12, 14, 3), span(20, 23, 0)]
    )
    assert [(item.start, item.end, item.rule) for item in found] == [
        (0, 12, "rule 0"), (12, 14, "rule 3"), (20, 25, "rule 0"),
    ]  # fmt: skip
    assert merge_spans([]) == []


def test_the_mark_identifies_equal_values_and_depends_on_the_key() -> None:
    text = f"{SECRETS[0].value} {SECRETS[0].value} {SECRETS[1].value}"
    marks = re.findall(r"\[.*?\]", clean(text))
    assert marks[0] == marks[1] != marks[2]
    assert Redactor(b"other").redact(text) != clean(text)


def test_what_was_removed_is_counted_by_rule() -> None:
    redactor = Redactor(b"key")
    redactor.redact_many([one.value for one in SECRETS[:4]])
    assert redactor.rule_counts == {"aws-key-id": 4}


def test_texts_of_a_batch_do_not_run_into_each_other() -> None:
    texts = [
        "password=",
        make_sample("{w20}"),
        "-----BEGIN PRIVATE KEY-----\n" + "MIIEpA" * 9,
        "next",
        "<private>",
        "é" * 9,
        "",
    ]
    cleaned = Redactor(b"key").redact_many(texts)
    assert [new is old for new, old in zip(cleaned, texts, strict=True)] == [True, True, False, True, True, True, True]


def test_a_limit_inside_a_character_includes_all_of_it() -> None:
    texts = [f'password="Qx7{"b" * size}{"é" * 300}" end' for size in range(4)]
    assert all(text.endswith('" end') and MARK.search(text) for text in Redactor(b"key").redact_many(texts))


def test_what_a_second_round_learns_is_searched_in_every_text() -> None:
    short = make_sample("{w24}", 9)
    texts = [f"_{short}", f"Token:{make_sample('gho_{w36}')}_{short}"]
    redactor = Redactor(b"key")
    cleaned = redactor.redact_many(texts)
    assert redactor.redact_many(cleaned) == cleaned


@given(st.lists(ANYTHING | MIXTURES, max_size=5))
@settings(max_examples=150, deadline=None)
def test_cleaning_never_fails_and_a_clean_text_does_not_change_again(texts: list[str]) -> None:
    redactor = Redactor(b"key")
    cleaned = redactor.redact_many(texts)
    again = redactor.redact_many(cleaned)
    assert all(new is old for new, old in zip(again, cleaned, strict=True))
    assert all(MARK.search(new) or new is old for new, old in zip(cleaned, texts, strict=True))


@given(MIXTURES)
@settings(max_examples=150, deadline=None)
def test_what_is_not_removed_is_unchanged_and_in_order(text: str) -> None:
    at = 0
    for piece in MARK.split(clean(text))[::2]:
        at = text.index(piece, at) + len(piece)


@given(
    st.text(st.sampled_from(" .,\n()äß日😀"), max_size=60),
    st.sampled_from(SECRETS),
    st.text(st.sampled_from(" ,\n()ä日😀"), max_size=60),
)
@settings(max_examples=150, deadline=None)
def test_the_text_around_a_secret_stays(before: str, one: Planted, after: str) -> None:
    line = f"\n{json.dumps(one.name)}: {json.dumps(one.carried)}\n"
    cleaned = clean(before + line + after)
    assert cleaned.startswith(before)
    assert cleaned.endswith(after)
    assert one.value not in cleaned


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_no_faster_than_the_text(name: str) -> None:
    piece = HOSTILE[name]
    small, large = (_work(piece * (size // len(piece))) for size in (25_000, 200_000))
    assert large[0] <= small[0] * 9 + 50
    assert large[1] <= max(small[1], 0.002) * 30  # eight times the text; quadratic work would take 64 times as long


def _work(text: str) -> tuple[int, float]:
    best = 1e9
    for _ in range(2):
        redactor = Redactor(b"key")
        redactor.redact("token")
        began = time.process_time()
        redactor.redact(text)
        best = min(best, time.process_time() - began)
    return redactor.attempts, best
