"""A random value after a name that indicates a secret is removed, whatever letters it has."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

import pytest

from engram.redaction.redactor import Redactor

_ALNUM = string.ascii_letters + string.digits


def _letters(alphabet: str, length: int) -> Callable[[random.Random], str]:
    return lambda source: "".join(source.choices(alphabet, k=length))


def _base64(size: int) -> Callable[[random.Random], str]:
    return lambda source: base64.b64encode(source.randbytes(size)).decode()


def _urlsafe(size: int) -> Callable[[random.Random], str]:
    return lambda source: base64.urlsafe_b64encode(source.randbytes(size)).decode().rstrip("=")


KINDS: dict[str, Callable[[random.Random], str]] = {
    "hex 32": lambda source: source.randbytes(16).hex(),
    "hex 40": lambda source: source.randbytes(20).hex(),
    "hex 64": lambda source: source.randbytes(32).hex(),
    "HEX 32": lambda source: source.randbytes(16).hex().upper(),
    "base64 of 24": _base64(24),
    "base64 of 32": _base64(32),
    "base64 of 48": _base64(48),
    "urlsafe of 24": _urlsafe(24),
    "urlsafe of 32": _urlsafe(32),
    "letters and digits 24": _letters(_ALNUM, 24),
    "letters and digits 32": _letters(_ALNUM, 32),
    "small letters and digits 32": _letters(string.ascii_lowercase + string.digits, 32),
    "base32": _letters(string.ascii_uppercase + "234567", 32),
}
FORMS = (
    "API_KEY={}",
    "export API_KEY={}",
    "set DEPLOY_TOKEN={}\n",
    "api_key: {}",
    "  apiKey: '{}'",
    '{{"apiKey": "{}", "n": 1}}',
    'client_secret = "{}"',
    "API_KEY = b'{}'",
    'SECRET = rb"{}"',
    "deploy --api-key {} --now",
    "A=1\nAPP_SECRET={}\nB=2",
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_random_value_behind_a_secret_name_is_removed(kind: str, thorough: bool) -> None:
    source = random.Random(kind)
    values = [KINDS[kind](source) for _ in range(400 if thorough else 100)]
    left = [
        form.format(one) for one in values for form in FORMS if _remains(one, Redactor(b"key").redact(form.format(one)))
    ]
    assert not left


def _remains(value: str, text: str) -> bool:
    """Return whether twelve consecutive characters of a value are still there."""
    return any(value[at : at + 12] in text for at in range(len(value.rstrip("=")) - 11))


@pytest.mark.parametrize("letter", "bf")
def test_the_first_letter_of_a_bare_value_belongs_to_it(letter: str) -> None:
    value = f"{letter}3daef76bc277472261aa2d795f80b12"
    assert Redactor(b"key").redact(f"API_KEY={value}").startswith("API_KEY=[REDACTED:")


@pytest.mark.parametrize("prefix", ["r", "b", "f", "rb", "U"])
def test_the_prefix_of_a_quoted_value_stays(prefix: str) -> None:
    text = f'API_KEY={prefix}"03daef76bc277472261aa2d795f80b12"'
    assert Redactor(b"key").redact(text).startswith(f'API_KEY={prefix}"[REDACTED:')


@pytest.mark.parametrize(
    "value",
    ["fake-token-for-tests-0001", "XXXXXXXXXXXXXXXXXXXXXXXX1", "YOURKEYXXXXXXXXXXXXXXXX12", "todo_get_a_real_token_1",
     "/etc/engram/tokens/Deploy1", "/nix/store/8n2QxPz3vKd0/token", "refreshTokenFromStorage2"],
)  # fmt: skip
def test_a_placeholder_or_a_path_stays(value: str) -> None:
    assert value in Redactor(b"key").redact(f"API_KEY={value}")


@pytest.mark.parametrize("password", ["s3cr%2Fet%21Pw9", "p%40ss%3Aw0rd%21x", "a%25b%23c%24d99"])
@pytest.mark.parametrize("user", ["app", "app%2Duser"])
def test_a_database_password_with_encoded_letters_is_removed(user: str, password: str) -> None:
    plain = Redactor(b"key").redact(f"DATABASE_URL=postgresql://{user}:{password}@db.internal:5432/app")
    assert password[:8] not in plain
    assert password[-6:] not in plain
