"""Text that hooks gave to a session is recognized when it comes back."""

from __future__ import annotations

from pathlib import Path

from engram import Engram
from engram.dream import rot
from engram.store import injected_texts
from tests.search.test_push import REPORT, decide
from tests.surfaces.hooks.test_hooks import event, hook


def test_what_a_start_and_a_prompt_were_told_is_an_echo_later(home: Path, repository: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        decide(engram, home, repository)
        hook(event("SessionStart", "abc", repository))
        heard = hook(event("UserPromptSubmit", "abc", repository, prompt=REPORT))["additionalContext"]
        assert "only the total to 0.05" in heard
        session = next(each.id for each in engram.get_active_sessions() if each.native_id == "abc")
        assert len(injected_texts.list_by_session(engram.engine, session)) == 2
        engram.remember(session, "user", f"<hook_context>{heard}</hook_context>\nWhich total is rounded?")
        engram.remember(session, "assistant", "The one of the invoice; the lines stay exact.")
        assert rot.inspect_inbox(engram).found == 1
        assert engram.stats().rot.loops == 1


def test_a_prompt_that_brings_nothing_tells_nothing(repository: Path, tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        hook(event("UserPromptSubmit", "abc", repository, prompt="Where does the deploy key of billing live now?"))
        session = next(each.id for each in engram.get_active_sessions() if each.native_id == "abc")
        assert injected_texts.list_by_session(engram.engine, session) == []
