"""How a single value is judged: random, dense, a password, a placeholder, a name.

Many of these values lie next to a limit: with one character, digit or unusual pair more or less they are judged the
other way. Whoever moves a limit on purpose sees here what it changes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engram.redaction import placeholders, secret_shape

Judge = Callable[[bytes], bool]


def is_quoted_password(value: bytes) -> bool:
    return secret_shape.is_password(value, quoted=True)


def is_bare_password(value: bytes) -> bool:
    return secret_shape.is_password(value, quoted=False)


JUDGEMENTS: dict[Judge, dict[bool, list[str]]] = {
    secret_shape.is_random: {
        True: [
            "ah3GEaddhfadhfd3hBdd", "IZCv5refresh-request2", "9KGeDJW5Jhandler", "95.::--58-2482652987fake92",
            "0198c2f4-9d3a-7c1e-8a55-0d6f1f2c3b4a", "09FE0543CA335B7F153A6A59BB18B9B6", "BESQKJKZOZZRSVJDMGPGHRDV",
        ],
        False: [
            "5pgdsmsdmsds4ve", "ddEa---GadG3BEd3", "bdzjyzixyvhlrsxlsbwhsak", "4B99AF1945FF949D131F9157E304B57",
            "refreshTokenFromStorage2", "a1a1a1a1a1a1a1a1a1a1a1a1",
        ],
    },
    secret_shape.is_dense: {
        True: ["epgyf0se", "aB3dE6", "x7!kQ2"],
        False: ["got1,", "aB3dE", "password2", "[a-z0-9]+"],
    },
    secret_shape.is_short_secret: {
        True: ["Xk29!dkQ8zz", "s3cr%2Fet%21Pw9"],
        False: ["{0}uisues", "Xk29!dkQ8", "Xk!!dkQzzzz"],
    },
    secret_shape.is_distinctive: {
        True: [
            "NIqYSixfu%FOO%QzJIuvDZEZ", "Baaa3dd3Ed", "databasePathLocalBar", "BESQKJKZOZZRSVJDMGPGHRDV",
            "09FE0543CA335B7F153A6A59BB18B9B6", "wctet3yqf75rbyoo",
        ],
        False: [
            "nQtodoPasswordAccountKeyTest0001", "4B99AF1945FF949D131F9157E304B57", "1553E%FOO%72451", "Dh7CRTest",
            "Abc1!\nDef2x", "production",
        ],
    },
    is_quoted_password: {
        True: ["aws-key-id", "correct-horse-battery", "data123", "xkqzvwpjmh"],
        False: [
            "eioeNNTNRRiSSieouuueT", "file/refresh/public/local/bar2ZNe4UQzdsg", "public-user-todo", "TODOjFuNJ",
            "correct-horse", "^(?=.*[0-9]).{8,}$",
        ],
    },
    is_bare_password: {
        True: ["data123", "handlerTrueUser2", "Tr0ub4dor&3"],
        False: [
            "loginUser1", "yvOCuTwZgeKUcrLLCJT", "example/bar/noneKhNZKZhX", "db_password2", "correct-horse-battery",
        ],
    },
    secret_shape.is_placeholder: {
        True: ["/storage}}", "^.*$", "changeme1", "int64", "2026-11-01T12:00:00Z", "aabbccdd", "${TOKEN}/${ID}"],
        False: ["${fake2}!CKPAk", "/local12%", "abcde!F7"],
    },
    placeholders.is_names: {
        True: ["user.name", "a/b", "config", "item12"],
        False: ["CGBIT", "", "uoeieT", "x7k2q9", "2fast"],
    },
    placeholders.is_reference: {
        True: ["!your-name1Bny", "x//7gs", "user.key", "$HOME", "--token", "f(x)", "rows[1]", "min:8|max:64"],
        False: ["!name.bar2olFK", "&mock0001", "Xk29!dkQ8zz"],
    },
    placeholders.is_pattern: {True: ["[a-z]", r"\d+", "(?=x)"], False: ["", "a.b", "[1]"]},
}  # fmt: skip


@pytest.mark.parametrize("judge", JUDGEMENTS, ids=lambda judge: judge.__name__)
def test_values_at_the_limits_are_judged_as_they_should(judge: Judge) -> None:
    wrong = [
        value for truth, values in JUDGEMENTS[judge].items() for value in values if judge(value.encode()) is not truth
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "left"),
    [("$fake_none0001[0]", "$fake_none0001[0]"), ("uACa8Z$FOO$4", "uACa8Z$FOO"), ("$todo", ""), ("$login", "$login"),
     ("%REQUEST%", ""), ("dJM$admin_path2024[0]", "dJM$admin_path2024[0]"), ("user:$PASSWORD", "user:"),
     ("x.$return", "x."), ("x9$return", "x9"), ("x9$todo", "x9$todo"), ("%XKQZV%", "%XKQZV%"), ("{{ a.b }}/x", "/x")],
)  # fmt: skip
def test_only_variables_and_templates_are_taken_out_of_a_value(text: str, left: str) -> None:
    assert placeholders.remove_template_parts(text.encode()) == left.encode()


def test_the_share_of_unusual_pairs_counts_pairs_inside_words() -> None:
    assert placeholders.compute_odd_pair_share(b"two") == 0  # too few pairs
    assert placeholders.compute_odd_pair_share(b"inxq") == pytest.approx(2 / 3)
    assert placeholders.compute_odd_pair_share(b"in-xq-re") == pytest.approx(1 / 3)
    assert placeholders.compute_odd_pair_share(b"in" * 64 + b"xqxq") < 0.5  # only the beginning of a long text is read
