"""Where an assigned value starts and ends, and what makes it a value: texts next to a limit of the patterns."""

from __future__ import annotations

import re

import pytest

from engram.redaction.redactor import Redactor
from engram.redaction.rules import make_sample

MARK = re.compile(r"\[REDACTED:(assignment|context):[0-9a-f]{4}\]")
LONG = make_sample("{w300}", 1)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # On the next line, in JSON and in YAML
        ("--smtpPass:\\nTr0ub4dor&3\\n more", "--smtpPass:\\n{}\\n more"),
        ("my apiKey:\nééblQf3Hmz1xCy:", "my apiKey:\n{}:"),
        ("xDB_PASSWORD:\\n`abc1234`:", "xDB_PASSWORD:\\n`{}`:"),
        ("xapi-key:\n  " + LONG[:250] + ". ", "xapi-key:\n  {}. "),
        # In quotes of every depth
        ('login app token==b"WvIxRobP7fb\\\\"rcnO8vI";X=1', 'login app token==b"{}"rcnO8vI";X=1'),
        ('see authToken": "\\"aB3dE6g8I\\"" end', 'see authToken": "{}" end'),
        ('- authToken=\\"bl4R\\\'HQEtikFvDf\\"', '- authToken=\\"{}\\"'),
        ("--credentials \\u0022W9QJA0seQYYx6DmuwIeLojZ4", "--credentials \\u0022{}"),
        ("tool --SMTP_PASS%3Arb'oqgqSG2H&quot;rUyC'", "tool --SMTP_PASS%3Arb'{}&quot;rUyC'"),
        ('login app password "bYM0NSn"\nB=2', 'login app password "{}"\nB=2'),
        (
            "authToken value=%22V9QJMO8EFU[REDACTED:x:0123]KaXd7VF%22",
            "authToken value=%22{}[REDACTED:x:0123]KaXd7VF%22",
        ),
        # Without quotes, or longer than a pattern reads at once
        ("DB_PASSWORD=(45qp0F", "DB_PASSWORD={}"),
        ("PWD=aB3dE6g", "PWD={}"),
        ("api_token=aB3dE6g8Ij", "api_token={}"),
        ("- SMTP_PASS=" + LONG + "+/end%20 more", "- SMTP_PASS={} more"),
        # Somewhere after its name
        (
            'machine h login app Password \\\\\\"' + LONG[:40] + '\\\\\\". ',
            'machine h login app Password \\\\\\"{}\\\\\\". ',
        ),
    ],
)
def test_exactly_the_assigned_value_is_removed(text: str, left: str) -> None:
    assert MARK.sub("{}", Redactor(b"key").redact(text)) == left


@pytest.mark.parametrize(
    "text",
    [
        "PWD=aB3dE6",  # too short for a password
        "api_token=aB3dE6g8I",  # too short for a token
        "- PASS:4T9RdD0",  # the verdict of a test
        "xpass=LIPQO9Ru]N8ZSw\n",  # a compass, not a password
        "passed=LIPQO9RuN8ZSw1",
        "- PWD:\\nEluVDi6&1sq;X=1",  # not alone on its line
        "--password := oFAX,ad$!",
        "next_token is uDdVvwTr6V9AmHeR",  # a token that is no secret
        '--next_token": "&quot;fKixnGYDv10MynZ8ZoS9rir2&quot; machine x',
        "token: see x req_011CSHoEeqs5C35K2UUqR7Fy",  # an id
        "x\\nAPI_KEY> d8ca4bfe73a6c971630cdcf9004677e&y=2",  # one digit less than a hash
        "machine h login app PASS:** &quot;OGW%22DZGHCZ\n",
        "token=a1B2$(c3D4e5F6)",  # a call
    ],
)
def test_what_is_not_assigned_to_a_secret_name_stays(text: str) -> None:
    assert Redactor(b"key").redact(text) == text
