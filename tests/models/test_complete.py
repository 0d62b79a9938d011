"""A call to a model: answered, retried, repeated, refused; and every call in the ledger."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from engram import Engram
from engram.errors import InvalidInput, ModelInvalid, ModelOff, ModelRefused, ModelUnavailable, SettingsInvalid
from engram.models.complete import complete
from engram.models.provider import Budget
from tests.conftest import ManualClock
from tests.models.conftest import KEY, Opened, calls
from tests.models.speaking import Api, chat, message, says, speaking

TITLE = {
    "type": "object", "properties": {"title": {"type": "string", "maxLength": 20}}, "required": ["title"],
    "additionalProperties": False,
}  # fmt: skip


def anthropic(opened: Opened, api: Api, **choices: Any) -> Engram:
    return opened(model="anthropic", model_name="claude-haiku-4-5", model_url=api.url, **choices)


def openai(opened: Opened, api: Api, **choices: Any) -> Engram:
    return opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1", **choices)


def test_no_model_is_called_until_the_user_chooses_one(opened: Opened) -> None:
    hub = opened()
    with pytest.raises(ModelOff, match="ENGRAM_MODEL"):
        complete(hub, "hello", purpose="test")
    assert calls(hub) == []
    with pytest.raises(SettingsInvalid, match="one of: none, claude"):
        complete(opened(model="zork"), "hello", purpose="test")


def test_anthropic_answers_in_text(opened: Opened) -> None:
    with speaking(message("hi there")) as api:
        hub = anthropic(opened, api)
        answer = complete(hub, "say hi", purpose="greet", system="be brief")
    (asked,) = api.asked
    assert (asked["path"], asked["headers"]["x-api-key"]) == ("/v1/messages", KEY)
    assert asked["body"]["messages"] == [{"role": "user", "content": "say hi"}]
    assert asked["body"]["system"] == "be brief"
    assert (answer.text, answer.data, answer.input, answer.output, answer.calls) == ("hi there", None, 1000, 100, 1)
    (row,) = calls(hub)
    assert (row["purpose"], row["state"], row["basis"], row["model"]) == (
        "greet", "done", "exact", "claude-haiku-4-5-20251001",
    )  # fmt: skip


def test_anthropic_answers_in_the_form_of_a_schema(opened: Opened) -> None:
    with speaking(message(tool={"title": "short"})) as api:
        answer = complete(anthropic(opened, api), "a title", purpose="test", schema=TITLE)
    assert answer.data == {"title": "short"}
    assert api.asked[0]["body"]["tool_choice"] == {"type": "tool", "name": "answer"}
    assert api.asked[0]["body"]["tools"][0]["input_schema"] == TITLE


def test_openai_answers_in_text_and_in_the_form_of_a_schema(opened: Opened) -> None:
    with speaking(chat("hi"), chat('```json\n{"title": "short"}\n```')) as api:
        hub = openai(opened, api)
        first = complete(hub, "say hi", purpose="test", system="be brief")
        second = complete(hub, "a title", purpose="test", schema=TITLE)
    assert (first.text, first.input, first.cache_read, second.data) == ("hi", 600, 400, {"title": "short"})
    plain, typed = api.asked
    assert (plain["path"], plain["headers"]["Authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert plain["body"]["messages"][0] == {"role": "system", "content": "be brief"}
    assert typed["body"]["response_format"]["json_schema"]["schema"] == TITLE
    assert "max_tokens" in typed["body"]


def test_a_local_server_needs_no_key_and_its_tokens_have_no_price(opened: Opened) -> None:
    with speaking(chat("hi")) as api:
        hub = openai(opened, api, model_key_variable="")
        answer = complete(hub, "say hi", purpose="test")
    assert "Authorization" not in api.asked[0]["headers"]
    assert answer.cost is None
    assert hub.model_status().tokens == 1100


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_what_can_heal_is_tried_again(opened: Opened, status: int) -> None:
    with speaking(says({"error": {"message": "slow down"}}, status), message("hi")) as api:
        hub = anthropic(opened, api)
        assert complete(hub, "say hi", purpose="test").text == "hi"
    assert [row["state"] for row in calls(hub)] == ["failed", "done"]
    assert f"HTTP {status}: slow down" in calls(hub)[0]["error"]
    assert calls(hub)[0]["cost"] == 0


def test_what_stays_broken_is_given_up_after_three_tries(opened: Opened) -> None:
    with speaking(says({}, 529)) as api:
        hub = anthropic(opened, api)
        with pytest.raises(ModelUnavailable, match="529"):
            complete(hub, "say hi", purpose="test")
    assert len(api.asked) == 3


def test_a_server_that_asks_for_more_patience_than_we_have_is_not_tried_again(opened: Opened) -> None:
    with speaking(says({}, 429, retry_after="3600")) as api:
        with pytest.raises(ModelUnavailable) as problem:
            complete(anthropic(opened, api), "say hi", purpose="test")
        assert problem.value.after == 3600
    assert len(api.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_what_cannot_heal_is_not_tried_again(opened: Opened, status: int) -> None:
    with speaking(says({"error": {"message": f"bad: {KEY}"}}, status)) as api:
        hub = openai(opened, api)
        with pytest.raises(ModelRefused, match=f"HTTP {status}") as refused:
            complete(hub, "say hi", purpose="test")
    assert len(api.asked) == 1
    assert KEY not in f"{refused.value}{refused.value.facts}{calls(hub)}"


def test_nobody_there_is_unavailable_and_costs_nothing(opened: Opened) -> None:
    with speaking(says({})) as api:
        pass
    hub = anthropic(opened, api)
    with pytest.raises(ModelUnavailable, match="refused"):
        complete(hub, "say hi", purpose="test")
    assert [(row["state"], row["cost"]) for row in calls(hub)] == [("failed", 0.0)] * 3


def test_a_cut_reply_is_tried_again_and_counted_as_if_it_was_billed(opened: Opened) -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{")
        handler.close_connection = True

    with speaking(cut, message("hi")) as api:
        hub = anthropic(opened, api)
        answer = complete(hub, "say hi", purpose="test")
    assert (answer.text, answer.calls, answer.basis) == ("hi", 2, "uncertain")
    assert "cut off" in calls(hub)[0]["error"]
    assert calls(hub)[0]["output"] == 4096


def test_a_server_that_drips_is_left_in_time(opened: Opened) -> None:
    ended: list[Api] = []

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n")
        while not ended[0].done.wait(0.05):
            handler.wfile.write(b" ")

    with speaking(drip) as api:
        ended.append(api)
        hub = anthropic(opened, api)
        with pytest.raises(ModelUnavailable, match="no answer within"):
            complete(hub, "say hi", purpose="test", budget=Budget(seconds=0.5))
        api.done.set()
    assert len(api.asked) == 1


def test_a_reply_of_ten_megabytes_is_not_read_to_its_end(opened: Opened) -> None:
    with speaking(message("x" * 10_000_000)) as api:
        hub = anthropic(opened, api)
        with pytest.raises(ModelInvalid, match="larger than"):
            complete(hub, "say hi", purpose="test")
    (row,) = calls(hub)
    assert (row["state"], len(row["reply"])) == ("failed", 20_000)


def test_a_redirect_is_not_followed(opened: Opened) -> None:
    with speaking(message("stolen")) as other, speaking(says({}, 307, location=f"{other.url}/v1/messages")) as api:
        hub = anthropic(opened, api)
        with pytest.raises(ModelRefused, match="elsewhere"):
            complete(hub, "say hi", purpose="test")
    assert (len(api.asked), other.asked) == (1, [])


def test_an_answer_that_does_not_fit_is_asked_for_once_more_with_the_reason(opened: Opened) -> None:
    with speaking(message(tool={"name": "x"}), message(tool={"title": "short"})) as api:
        hub = anthropic(opened, api)
        answer = complete(hub, "a title", purpose="test", schema=TITLE)
    assert (answer.data, answer.calls, answer.input) == ({"title": "short"}, 2, 2000)
    again = api.asked[1]["body"]["messages"][0]["content"]
    assert again.startswith("a title\n\n")
    assert "the answer lacks 'title'" in again
    first, second = calls(hub)
    assert (first["state"], first["reply"], second["reply"]) == ("failed", '{"name": "x"}', None)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (chat("no json"), "not JSON"),
        (chat('{"title": "' + "x" * 21 + '"}'), "21 characters"),
        (chat(""), "empty"),
        (chat("  \n"), "empty"),
        (chat('{"title": NaN}'), "not JSON"),
        (chat("[" * 5000), "not JSON"),
        (chat('{"title": "\\ud800"}'), "not JSON"),
    ],
)
def test_an_answer_that_never_fits_is_an_error_and_kept_for_inspection(opened: Opened, act: Any, reason: str) -> None:
    with speaking(act) as api:
        hub = openai(opened, api)
        with pytest.raises(ModelInvalid, match=reason):
            complete(hub, "a title", purpose="test", schema=TITLE)
    assert len(api.asked) == 2
    assert [row["state"] for row in calls(hub)] == ["failed", "failed"]
    assert all(reason in row["error"] and row["reply"] is not None for row in calls(hub))


@pytest.mark.parametrize("data", [b'{"title": "\\ud800"}', b'{"title": "x", "n": NaN}'])
def test_typed_answers_are_read_as_strictly(opened: Opened, data: bytes) -> None:
    block = b'{"type": "tool_use", "name": "answer", "input": ' + data + b"}"
    with speaking(says(b'{"content": [' + block + b"]}")) as api:
        hub = anthropic(opened, api)
        with pytest.raises(ModelInvalid, match="not JSON"):
            complete(hub, "a title", purpose="test", schema={"type": "object"})
    assert [row["basis"] for row in calls(hub)] == ["uncertain", "uncertain"]


def test_an_empty_text_is_an_error_too(opened: Opened) -> None:
    with speaking(message("")) as api:
        hub = anthropic(opened, api)
        with pytest.raises(ModelInvalid, match="empty"):
            complete(hub, "say hi", purpose="test")
    assert len(api.asked) == 2


def test_a_text_cut_at_its_limit_is_not_taken_for_whole(opened: Opened) -> None:
    with speaking(message("half a sen", stop_reason="max_tokens"), message("whole")) as api:
        hub = anthropic(opened, api)
        assert complete(hub, "say hi", purpose="test").text == "whole"
    assert "fewer words" in api.asked[1]["body"]["messages"][0]["content"]


@pytest.mark.parametrize("body", [b"<html>", {}, {"content": 3}, {"content": [3]}, [], {"choices": [{}]}])
def test_an_answer_of_another_form_is_unavailable(opened: Opened, body: Any) -> None:
    with speaking(says(body)) as api:
        for make in (anthropic, openai):
            with pytest.raises(ModelUnavailable):
                complete(make(opened, api), "say hi", purpose="test", budget=Budget(seconds=0.3))


def test_a_reply_with_a_nul_can_be_stored(opened: Opened) -> None:
    with speaking(chat("a\0b\x1b[31m")) as api:
        hub = openai(opened, api)
        with pytest.raises(ModelInvalid):
            complete(hub, "a title", purpose="test", schema=TITLE)
    assert calls(hub)[0]["reply"] == "a␀b[31m"


def test_a_schema_we_do_not_check_wholly_is_refused_before_anything_is_spent(opened: Opened) -> None:
    with speaking(chat("{}")) as api:
        hub = openai(opened, api)
        with pytest.raises(InvalidInput, match="pattern"):
            complete(hub, "x", purpose="test", schema={"type": "string", "pattern": "a"})
        with pytest.raises(InvalidInput, match="prompt"):
            complete(hub, " ", purpose="test")
    assert (api.asked, calls(hub)) == ([], [])


def test_no_transaction_is_open_during_the_call(opened: Opened) -> None:
    other: list[Engram] = []

    def write_meanwhile(handler: BaseHTTPRequestHandler) -> None:
        other[0].set_world_state("written while the model thinks")
        message("hi")(handler)

    with speaking(write_meanwhile) as api:
        hub = anthropic(opened, api, busy_seconds=1)
        other.append(opened(busy_seconds=1))
        assert complete(hub, "say hi", purpose="test").text == "hi"


def test_pauses_grow_and_keep_within_the_time_limit(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    clock = ManualClock()
    with speaking(says({}, 503)) as api:
        choices: dict[str, Any] = {
            "model": "anthropic",
            "model_name": "m",
            "model_url": api.url,
            "model_key_variable": "TEST_KEY",
        }
        with Engram(tmp_path / "home", clock=clock, **choices) as hub:
            before = clock.uptime
            with pytest.raises(ModelUnavailable):
                complete(hub, "say hi", purpose="test")
            assert 750_000 <= clock.uptime - before <= 2_250_000
            with pytest.raises(ModelUnavailable):
                complete(hub, "say hi", purpose="test", budget=Budget(seconds=0.2))
    assert len(api.asked) == 4


def test_a_proxy_is_asked_for_the_way_and_is_told_no_key(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    with speaking(says({})) as api:
        monkeypatch.setenv("https_proxy", api.url)
        monkeypatch.setenv("no_proxy", "")
        hub = opened(model="anthropic", model_name="m", model_url="https://api.example.org")
        with pytest.raises(ModelUnavailable, match="Tunnel connection failed"):
            complete(hub, "say hi", purpose="test", budget=Budget(seconds=0.2))
    assert api.asked == []
    assert [row["cost"] for row in calls(hub)] == [0.0]
