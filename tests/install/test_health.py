"""Doctor checks how agents are connected, and names the command that fixes each fault."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import StoreUnavailable
from engram.install import health
from engram.install.doctor import check_without_store
from engram.install.finding import Finding
from engram.install.launcher import get_agent_program
from engram.store import hook_log
from tests.capture.transcripts import Claude


@pytest.fixture
def hub(tmp_path: Path) -> Engram:
    return Engram(tmp_path / "home")


def found(tmp_path: Path, flavor: str) -> list[Finding]:
    return [agent for agent in health.check_agents(str(tmp_path / "home")) if agent.subject == flavor]


def told(tmp_path: Path, flavor: str) -> str:
    return "\n".join(f"{each.level}: {each.text} → {each.mend}" for each in found(tmp_path, flavor))


def test_an_agent_that_is_not_here_is_not_spoken_of(home: Path, tmp_path: Path) -> None:
    assert list(health.check_agents(str(tmp_path / "home"))) == []


def test_an_agent_that_does_not_call_us_is_told_with_the_way_out(home: Path, tmp_path: Path) -> None:
    (home / ".gemini").mkdir()
    assert told(tmp_path, "gemini") == "warning: Gemini CLI is not connected. → engram init --agent gemini"


def test_a_wired_agent_is_well(hub: Engram, home: Path, tmp_path: Path) -> None:
    hub.init(agents=["claude", "opencode", "cursor"])
    assert [each.level for flavor in ("claude", "opencode", "cursor") for each in found(tmp_path, flavor)] == ["ok"] * 5


def test_a_missing_event_is_told(hub: Engram, home: Path, tmp_path: Path) -> None:
    hub.init(agents=["claude"])
    settings = home / ".claude/settings.json"
    facts = json.loads(settings.read_text())
    del facts["hooks"]["Stop"]
    settings.write_text(json.dumps(facts))
    assert "no hook for Stop" in told(tmp_path, "claude")
    assert "→ engram init --agent claude" in told(tmp_path, "claude")


@pytest.mark.parametrize("flavor", ["claude", "copilot", "opencode"])
def test_a_command_that_is_gone_is_a_problem(hub: Engram, home: Path, tmp_path: Path, flavor: str) -> None:
    hub.init(agents=[flavor])
    for path in home.rglob("*"):
        if path.is_file():
            path.write_text(path.read_text().replace(get_agent_program(hub.settings.home), "/gone/bin/engram"))
    assert "problem: Its hooks call /gone/bin/engram, which cannot be run." in told(tmp_path, flavor)


def test_codex_hooks_nobody_trusts_are_a_problem_until_they_are_trusted(
    hub: Engram, home: Path, tmp_path: Path
) -> None:
    hub.init(agents=["codex"])
    assert "problem: Codex skips 7 Engram hooks" in told(tmp_path, "codex")
    assert hub.init(agents=["codex"], trust_codex=True).untrusted == ()
    assert "problem" not in told(tmp_path, "codex")
    hub.uninit()
    assert sorted(os.listdir(home / ".codex") if (home / ".codex").exists() else []) == []


def test_trust_codex_wrote_itself_goes_with_the_hooks_and_the_trust_in_others_stays(
    hub: Engram, home: Path, tmp_path: Path
) -> None:
    hub.init(agents=["codex"])
    config = home / ".codex/config.toml"
    theirs = '[hooks.state."/other/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
    config.write_text(theirs + "\n" + config.read_text())
    hub.init(agents=["codex"], trust_codex=True)
    config.write_text(config.read_text() + "\n[tui]\n")
    hub.uninit()
    assert config.read_text() == theirs + "\n[tui]\n"


@pytest.mark.parametrize(
    ("flavor", "name", "text"),
    [
        ("claude", ".claude/settings.json", '{"disableAllHooks": true}'),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n"),
    ],
)
def test_hooks_that_are_switched_off_are_a_problem(
    hub: Engram, home: Path, tmp_path: Path, flavor: str, name: str, text: str
) -> None:
    (home / name).parent.mkdir()
    (home / name).write_text(text)
    hub.init()
    assert "disables all hooks" in told(tmp_path, flavor)


def test_a_plugin_beside_init_is_told_and_a_plugin_alone_is_well(hub: Engram, home: Path, tmp_path: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"enabledPlugins": {"engram@engram": true}}')
    assert "ok: Claude Code: connected by its plugin." in told(tmp_path, "claude")
    wired = hub.init()
    assert any("Engram plugin" in note for note in wired.notes)
    assert "warning: Connected twice" in told(tmp_path, "claude")


def test_hooks_are_heard_with_their_times_and_their_failures(hub: Engram, home: Path, tmp_path: Path) -> None:
    hub.init(agents=["claude"])
    for milliseconds in range(1, 101):
        hook_log.write_entry(str(tmp_path / "home"), "claude", "Stop", milliseconds / 1000)
    assert "(Stop); hooks take 51 ms (95 % under 96 ms)." in told(tmp_path, "claude")
    hook_log.write_entry(str(tmp_path / "home"), "claude", "Stop", 0.01, "StoreBusy: it is busy")
    assert "problem: 1 of the last 101 hooks failed" in told(tmp_path, "claude")
    hook_log.write_entry(str(tmp_path / "home"), "claude", "Stop", 0.01)
    assert "warning: 1 of the last 102 hooks failed" in told(tmp_path, "claude")


def test_work_without_a_call_is_told(hub: Engram, home: Path) -> None:
    hub.init(agents=["claude"])
    work = Claude(home)
    work.says("Hello")
    assert not [finding for finding in hub.doctor() if "did not fire" in finding.text]
    later = time.time() + 2 * 3600
    os.utime(work.path, (later, later))
    assert [finding for finding in hub.doctor() if "did not fire" in finding.text]


def test_every_finding_that_is_not_well_says_what_mends_it(hub: Engram, crowded: Path) -> None:
    (crowded / ".gemini/settings.json").write_text("{oops")
    Claude(crowded).says("Hello")
    assert [finding.text for finding in hub.doctor() if finding.level != "ok" and not finding.mend] == []


def test_the_agents_are_looked_at_though_the_store_cannot_be_opened(home: Path, tmp_path: Path) -> None:
    (home / ".claude").mkdir()
    problem = StoreUnavailable(store="postgresql://x", reason="it does not answer.", hint="Start it.")
    findings = check_without_store(str(tmp_path / "home"), problem)
    assert [(finding.level, finding.subject) for finding in findings] == [("problem", "store"), ("warning", "claude")]


@pytest.mark.parametrize(("old", "new"), [("site-packages", "gone-packages"), ("python=", "# python=")])
def test_a_launcher_of_another_installation_is_told_though_it_starts_our_interpreter(
    hub: Engram, home: Path, tmp_path: Path, old: str, new: str
) -> None:
    """As after a new Python at the same path: its hooks could import nothing, and would fail silently."""
    (home / ".claude").mkdir()
    hub.init(agents=["claude"])
    path = Path(get_agent_program(str(tmp_path / "home")))
    path.write_text(path.read_text().replace(old, new))
    assert [(each.level != "ok", each.mend) for each in found(tmp_path, "engram")] == [(True, "engram init")]
