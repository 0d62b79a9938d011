"""Where a key may be sent, and where not."""

from __future__ import annotations

import pytest

from engram.errors import ModelRefused, SettingsInvalid
from engram.models.endpoint import build_endpoint

OWN = ("https://api.example.org/v1", "VENDOR_KEY")


def test_the_vendors_key_goes_to_the_vendor_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_KEY", "sk-vendor")
    assert build_endpoint("x", "model_url", "", "", OWN).read_key() == "sk-vendor"
    assert build_endpoint("x", "model_url", "https://elsewhere.example.org/v1", "", OWN).read_key() == ""


def test_a_key_does_not_go_unencrypted_to_another_machine() -> None:
    with pytest.raises(SettingsInvalid, match="unencrypted"):
        build_endpoint("x", "model_url", "http://elsewhere.example.org/v1", "SOME_KEY", OWN)
    assert (
        build_endpoint("x", "model_url", "http://localhost:11434/v1/", "SOME_KEY", OWN).url
        == "http://localhost:11434/v1"
    )
    assert build_endpoint("x", "model_url", "http://elsewhere.example.org/v1", "", OWN).read_key() == ""


@pytest.mark.parametrize("held", [None, "", "  ", "sk\nInjected: header", "sk-ü"])
def test_a_variable_without_a_key_is_named(monkeypatch: pytest.MonkeyPatch, held: str | None) -> None:
    monkeypatch.delenv("VENDOR_KEY", raising=False)
    if held is not None:
        monkeypatch.setenv("VENDOR_KEY", held)
    with pytest.raises(ModelRefused, match="VENDOR_KEY") as refused:
        build_endpoint("x", "model_url", "", "", OWN).read_key()
    assert "Injected" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["localhost:1", "ftp://x", "file:///etc/passwd", "http://", "http://u:p@host/", "https://host/?key=1",
     "http://a b/", "http://host:port/", "http://host/\r\nX: y", "https://[", "https://höst/"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="model_url"):
        build_endpoint("x", "model_url", url, "", OWN)
