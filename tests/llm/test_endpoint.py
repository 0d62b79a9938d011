"""Where a key may go, and where not."""

from __future__ import annotations

import pytest

from engram.errors import ModelRefused, SettingsInvalid
from engram.llm.endpoint import endpoint

OWN = ("https://api.example.org/v1", "VENDOR_KEY")


def test_the_vendors_key_goes_to_the_vendor_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_KEY", "sk-vendor")
    assert endpoint("x", "model_url", "", "", OWN).key() == "sk-vendor"
    assert endpoint("x", "model_url", "https://elsewhere.example.org/v1", "", OWN).key() == ""


def test_a_key_does_not_go_unencrypted_to_another_machine() -> None:
    with pytest.raises(SettingsInvalid, match="unencrypted"):
        endpoint("x", "model_url", "http://elsewhere.example.org/v1", "SOME_KEY", OWN)
    assert endpoint("x", "model_url", "http://localhost:11434/v1/", "SOME_KEY", OWN).url == "http://localhost:11434/v1"
    assert endpoint("x", "model_url", "http://elsewhere.example.org/v1", "", OWN).key() == ""


@pytest.mark.parametrize("held", [None, "", "  ", "sk\nInjected: header", "sk-ü"])
def test_a_variable_without_a_key_is_named(monkeypatch: pytest.MonkeyPatch, held: str | None) -> None:
    monkeypatch.delenv("VENDOR_KEY", raising=False)
    if held is not None:
        monkeypatch.setenv("VENDOR_KEY", held)
    with pytest.raises(ModelRefused, match="VENDOR_KEY") as refused:
        endpoint("x", "model_url", "", "", OWN).key()
    assert "Injected" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["localhost:1", "ftp://x", "file:///etc/passwd", "http://", "http://u:p@host/", "https://host/?key=1",
     "http://a b/", "http://host:port/", "http://host/\r\nX: y", "https://[", "https://höst/"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="model_url"):
        endpoint("x", "model_url", url, "", OWN)
