"""Init keeps what others wrote, and uninit restores every byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.errors import ConfigChanged, InitRunning, InvalidInput
from engram.install import init, launcher
from engram.install.agents import list_connectable, require_agent
from engram.install.config_files import list_wired_files
from engram.install.own_command import locate_program
from engram.platform import jsonc
from engram.platform.file_edit import read_file
from tests.install.conftest import OTHERS, snapshot

ENGRAM = str(Path(sys.executable).with_name("engram"))

AGENTS = list_connectable()
FLAVORS = [agent.name for agent in AGENTS]


@pytest.fixture
def hub(tmp_path: Path) -> Engram:
    return Engram(tmp_path / "home")


def program(hub: Engram) -> str:
    return launcher.get_launcher_path(hub.settings.home)


def hook(hub: Engram) -> str:
    return f"{program(hub)} hook"


def said(path: Path) -> Any:
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else jsonc.data(text)


def commands(path: Path) -> list[str]:
    return [
        hook.get("command") or hook["bash"]
        for entries in said(path)["hooks"].values()
        for entry in entries
        for hook in entry.get("hooks", [entry])
    ]


def test_init_and_uninit_leave_a_crowded_home_as_it_was_to_the_byte(hub: Engram, crowded: Path) -> None:
    before = snapshot(crowded)
    wired = hub.init()
    assert (wired.problems, set(wired.agents)) == ((), set(FLAVORS))
    assert snapshot(crowded) != before
    assert hub.uninit().problems == ()
    assert snapshot(crowded) == before


def test_every_agent_calls_us_and_still_calls_the_others(hub: Engram, crowded: Path) -> None:
    hub.init()
    for name in (".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json", ".qwen/settings.json",
                 ".grok/hooks/engram.json", ".copilot/hooks/engram.json"):  # fmt: skip
        assert hook(hub) in commands(crowded / name), name
    assert "say done" in commands(crowded / ".claude/settings.json")
    assert "engram-like hook" in commands(crowded / ".gemini/settings.json")
    servers = said(crowded / ".claude.json")["mcpServers"]
    assert servers == {
        "notes": {"command": "notes"},
        "engram": {"type": "stdio", "command": program(hub), "args": ["mcp"]},
    }
    for name in (".codex/config.toml", ".grok/config.toml"):
        assert said(crowded / name)["mcp_servers"] == {
            "notes": {"command": "notes"}, "engram": {"command": program(hub), "args": ["mcp"]},
        }  # fmt: skip
    assert json.dumps([program(hub), "hook"]) in (crowded / ".config/opencode/plugin/engram.js").read_text()
    assert (crowded / ".claude/settings.json").is_symlink()
    assert "// loud" in (crowded / ".claude/settings.json").read_text()


@pytest.mark.parametrize("agent", ["claude", "qwen"])
def test_an_agent_may_read_the_memory_without_asking_until_uninit(hub: Engram, home: Path, agent: str) -> None:
    settings = home / f".{agent}/settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    before = '{"permissions": {"allow": ["Bash(ls:*)", "mcp__engram__get"], "deny": ["WebFetch"]}}\n'
    settings.write_text(before)
    hub.init()
    allowed = said(settings)["permissions"]["allow"]
    assert allowed == ["Bash(ls:*)", "mcp__engram__get", "mcp__engram__recall", "mcp__engram__sitrep"]
    hub.uninit()
    assert settings.read_text() == before


def test_gemini_gets_a_policy_for_the_tools_that_only_read_until_uninit(hub: Engram, home: Path) -> None:
    (home / ".gemini").mkdir(parents=True, exist_ok=True)
    hub.init()
    policy = home / ".gemini/policies/engram.toml"
    (rule,) = tomllib.loads(policy.read_text())["rule"]
    assert rule["toolName"] == ["mcp_engram_recall", "mcp_engram_get", "mcp_engram_sitrep"]
    hub.uninit()
    assert not policy.parent.exists()


def test_a_policy_of_somebody_else_is_left_alone(hub: Engram, home: Path) -> None:
    policy = home / ".gemini/policies/engram.toml"
    policy.parent.mkdir(parents=True)
    policy.write_text("# mine\n")
    assert any("not ours" in problem for problem in hub.init().problems)
    hub.uninit()
    assert policy.read_text() == "# mine\n"


def test_timeouts_are_in_each_agents_unit(hub: Engram, crowded: Path) -> None:
    hub.init()
    ends = {
        "gemini": said(crowded / ".gemini/settings.json")["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"],
        "codex": said(crowded / ".codex/hooks.json")["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"],
        "copilot": said(crowded / ".copilot/hooks/engram.json")["hooks"]["sessionEnd"][0]["timeoutSec"],
    }
    assert ends == {"gemini": 10_000, "codex": 3, "copilot": 10}


def test_a_second_init_has_nothing_to_write(hub: Engram, crowded: Path) -> None:
    hub.init()
    after = snapshot(crowded)
    assert hub.init().files == ()
    assert snapshot(crowded) == after


def test_only_agents_that_are_here_are_wired(hub: Engram, home: Path) -> None:
    (home / ".gemini").mkdir()
    wired = hub.init()
    assert (wired.agents, set(wired.absent)) == (("gemini",), set(FLAVORS) - {"gemini"})
    assert sorted(os.listdir(home)) == [".gemini"]


def test_a_named_agent_is_wired_though_it_is_not_here(hub: Engram, home: Path) -> None:
    hub.init(agents=["grok"])
    assert commands(home / ".grok/hooks/engram.json") == [hook(hub)] * 7
    hub.uninit()
    assert os.listdir(home) == []


def test_an_unknown_agent_is_refused_with_the_known_ones(hub: Engram, home: Path) -> None:
    with pytest.raises(InvalidInput, match="claude, codex"):
        hub.init(agents=["hal"])


def test_a_dry_run_writes_nothing(hub: Engram, crowded: Path) -> None:
    before = snapshot(crowded)
    assert len(hub.init(dry_run=True).files) == 15
    assert snapshot(crowded) == before
    assert hub.uninit(dry_run=True).files == ()


def test_what_is_shown_is_what_is_written(hub: Engram, crowded: Path) -> None:
    shown = {file.path: file.diff for file in hub.init(dry_run=True).files}
    before = {path: (read_file(path) or b"").decode("utf-8-sig").splitlines() for path in shown}
    hub.init()
    for path, diff in shown.items():
        lines = (read_file(path) or b"").decode("utf-8-sig").splitlines()
        removed = [line[1:].lstrip("\ufeff") for line in diff.splitlines()[2:] if line.startswith("-")]
        added = [line[1:].lstrip("\ufeff") for line in diff.splitlines()[2:] if line.startswith("+")]
        assert sorted(before[path] + added) == sorted(lines + removed), path


def test_what_others_write_after_init_survives_uninit(hub: Engram, crowded: Path) -> None:
    hub.init()
    settings, config = crowded / ".claude/settings.json", crowded / ".codex/config.toml"
    settings.write_text(settings.read_text().replace('"zeta": 1', '"zeta": 2'))
    config.write_text(config.read_text() + "\n[tui]\nnotifications = true\n")
    written = json.dumps({**said(crowded / ".claude.json"), "numStartups": 6}, indent=2)  # as Claude rewrites it
    (crowded / ".claude.json").write_text(written)
    assert hub.uninit().problems == ()
    assert settings.read_bytes() == OTHERS[".claude/settings.json"].replace(b'"zeta": 1', b'"zeta": 2')
    assert said(config) == {**tomllib.loads(OTHERS[".codex/config.toml"].decode()), "tui": {"notifications": True}}
    assert b"# the end" in config.read_bytes()
    assert said(crowded / ".claude.json") == {**json.loads(OTHERS[".claude.json"]), "numStartups": 6}


def test_a_hook_somebody_put_into_our_group_stays(hub: Engram, home: Path) -> None:
    hub.init(agents=["claude"])
    settings = home / ".claude/settings.json"
    facts = said(settings)
    facts["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "theirs"})
    settings.write_text(json.dumps(facts))
    assert hub.init(agents=["claude"]).files == ()
    hub.uninit()
    assert said(settings) == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}


def test_without_the_record_our_entries_are_found_by_what_they_call(hub: Engram, crowded: Path, tmp_path: Path) -> None:
    before = {name: said(crowded / name) for name in OTHERS if name.endswith((".json", ".toml")) and OTHERS[name]}
    hub.init(trust_codex=True)
    for path in (tmp_path / "home" / "wiring").rglob("*.json"):
        path.unlink()
    assert hub.uninit().problems == ()
    for name, facts in before.items():
        empty: dict[str, Any] = (
            {"mcpServers": {}} if name == ".copilot/mcp-config.json" else {}
        )  # it is not known any more who created it
        assert {**empty, **said(crowded / name)} == facts, name
    assert not (crowded / ".grok/hooks/engram.json").exists()
    assert not (crowded / ".copilot/hooks/engram.json").exists()
    assert not (crowded / ".config/opencode/plugin/engram.js").exists()


def test_a_lost_backup_is_not_taken_for_a_file_that_was_not_there(hub: Engram, crowded: Path, tmp_path: Path) -> None:
    hub.init()
    for path in (tmp_path / "home" / "wiring" / "before").iterdir():
        path.unlink()
    hub.uninit()
    assert said(crowded / ".gemini/settings.json") == jsonc.data(OTHERS[".gemini/settings.json"].decode())


def test_an_older_path_of_ours_is_replaced_in_place(hub: Engram, home: Path) -> None:
    settings = home / ".claude/settings.json"
    settings.parent.mkdir()
    old = {"hooks": [{"type": "command", "command": "'/old place/bin/engram' hook claude start", "timeout": 5}]}
    settings.write_text(json.dumps({"hooks": {"SessionStart": [old, {"hooks": [{"type": "command", "command": "x"}]}],
                                              "Notification": [old]}}, indent=2))  # fmt: skip
    hub.init(agents=["claude"])
    assert [entry["hooks"][0]["command"] for entry in said(settings)["hooks"]["SessionStart"]] == [hook(hub), "x"]
    assert "/old place" not in settings.read_text()
    hub.uninit()
    assert said(settings) == {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "x"}]}]}}


def test_an_upgrade_after_somebodys_edit_goes_back_to_their_edit(hub: Engram, home: Path) -> None:
    hub.init(agents=["qwen"])
    settings = home / ".qwen/settings.json"
    settings.write_text(
        settings.read_text().replace(program(hub), "/elsewhere/engram").replace("{", '{"theirs": 1,', 1)
    )
    assert len(hub.init(agents=["qwen"]).files) == 1
    hub.uninit()
    assert said(settings) == {"theirs": 1}


def test_damaged_settings_are_named_with_their_line_and_left_alone(hub: Engram, crowded: Path) -> None:
    damaged = crowded / ".gemini/settings.json"
    damaged.write_text('{\n  "ui": {},\n  oops\n}\n')
    wired = hub.init()
    assert [p for p in wired.problems if str(damaged) in p and "line 3" in p]
    assert damaged.read_text() == '{\n  "ui": {},\n  oops\n}\n'
    assert hook(hub) in commands(crowded / ".claude/settings.json")


@pytest.mark.parametrize("held", [b"\xff\xfe{}", b'{"hooks": []}', b'{"hooks": {"SessionStart": {}}}', b"[]"])
def test_settings_of_another_shape_are_left_alone(hub: Engram, home: Path, held: bytes) -> None:
    (home / ".qwen").mkdir()
    (home / ".qwen/settings.json").write_bytes(held)
    assert len(hub.init().problems) == 1
    assert (home / ".qwen/settings.json").read_bytes() == held


def test_a_read_only_file_is_respected(hub: Engram, crowded: Path) -> None:
    (crowded / ".qwen/settings.json").chmod(0o444)
    wired = hub.init()
    assert [p for p in wired.problems if "read-only" in p and ".qwen" in p]
    assert (crowded / ".qwen/settings.json").read_bytes() == OTHERS[".qwen/settings.json"]
    assert hub.uninit().problems == ()


def test_a_server_of_our_name_that_is_not_ours_is_left_alone(hub: Engram, home: Path) -> None:
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").write_text('{"mcpServers": {"engram": {"command": "npx", "args": ["engram"]}}}')
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text('[mcp_servers]\nengram = { url = "http://x" }\n')
    wired = hub.init()
    assert len([p for p in wired.problems if "is not ours" in p]) == 2
    hub.uninit()
    assert "npx" in (home / ".cursor/mcp.json").read_text()
    assert "http://x" in (home / ".codex/config.toml").read_text()


def test_a_file_changed_between_the_look_and_the_write_is_not_overwritten(hub: Engram, crowded: Path) -> None:
    plan, _ = init.plan_init(hub.settings.home, None, ["qwen"], False)
    (crowded / ".qwen/settings.json").write_text('{"new": true}')
    failed = init.apply_init(hub.settings.home, plan)
    assert failed == (str(ConfigChanged(path=str(crowded / ".qwen/settings.json"))),)
    assert (crowded / ".qwen/settings.json").read_text() == '{"new": true}'
    assert hub.uninit().files == ()


def test_two_at_once_are_refused(hub: Engram, home: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from engram.capture.sweep_lock import SweepLock; from engram.errors import InitRunning\n"
        f"with SweepLock({str(tmp_path / 'home')!r}, 'wiring.lock', InitRunning):\n"
        "    print('held', flush=True)\n    sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(InitRunning):
            hub.init(agents=["qwen"])
        other.communicate()
    assert hub.init(agents=["qwen"]).problems == ()


def test_init_broken_off_between_files_is_taken_back(
    hub: Engram, crowded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(crowded)
    real, calls = os.replace, []

    def broken_off(source: str, target: str) -> None:
        if str(crowded) in str(target):
            calls.append(target)
            if len(calls) == 4:
                raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", broken_off)
    with pytest.raises(KeyboardInterrupt):
        hub.init()
    monkeypatch.setattr(os, "replace", real)
    assert snapshot(crowded) != before
    hub.uninit()
    assert snapshot(crowded) == before


def test_one_agent_can_be_taken_back_alone(hub: Engram, crowded: Path) -> None:
    hub.init()
    hub.uninit(agents=["gemini"])
    assert (crowded / ".gemini/settings.json").read_bytes() == OTHERS[".gemini/settings.json"]
    assert hook(hub) in commands(crowded / ".claude/settings.json")


def test_files_that_vanished_are_forgotten(hub: Engram, crowded: Path, tmp_path: Path) -> None:
    hub.init()
    (crowded / ".grok/hooks/engram.json").unlink()
    (crowded / ".cursor/mcp.json").unlink()
    assert hub.uninit().problems == ()
    record = json.loads((tmp_path / "home" / "wiring" / "written.json").read_text())
    assert record["files"] == []


def test_a_project_is_wired_for_all_who_work_there(hub: Engram, crowded: Path, repository: Path) -> None:
    (repository / "AGENTS.md").write_bytes(b"# Rules\r\n\r\nBe kind.")
    (repository / "opencode.json").write_text("{}")
    before, outside = snapshot(repository), snapshot(crowded)
    wired = hub.init(project=str(repository / "src"))
    assert wired.problems == ()
    assert snapshot(crowded) == outside
    for name in (".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json", ".qwen/settings.json",
                 ".github/hooks/engram.json"):  # fmt: skip
        assert set(commands(repository / name)) == {"engram hook"}, name
    assert said(repository / ".mcp.json")["mcpServers"]["engram"]["command"] == "engram"
    assert '["engram", "hook"]' in (repository / ".opencode/plugin/engram.js").read_text()
    instructions = (repository / "AGENTS.md").read_bytes()
    assert instructions.startswith(b"# Rules\r\n\r\nBe kind.\r\n\r\n<!-- engram:begin")
    assert instructions.count(b"\r\n") <= 20
    assert (repository / ".claude/settings.json").stat().st_mode & 0o777 == 0o644
    assert hub.uninit(project=str(repository)).problems == ()
    assert snapshot(repository) == before


def test_the_home_directory_is_no_project(hub: Engram, home: Path) -> None:
    with pytest.raises(InvalidInput, match="your home"):
        hub.init(project=str(home))


def test_moved_directories_are_honoured(
    hub: Engram, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "GROK_HOME", "COPILOT_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "moved" / name))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "moved" / "xdg"))
    wired = hub.init(agents=[agent.name for agent in AGENTS if agent.name != "cursor"])
    assert [file.path for file in wired.files if not file.path.startswith(str(tmp_path / "moved"))] == []
    assert (tmp_path / "moved" / "CLAUDE_CONFIG_DIR" / ".claude.json").exists()
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    assert hub.uninit().problems == ()
    assert [path for path in (tmp_path / "moved").rglob("*") if path.is_file()] == []


def test_a_projects_hooks_are_trusted_by_each_user_for_themselves(hub: Engram, home: Path, repository: Path) -> None:
    with pytest.raises(InvalidInput, match="Each user trusts"):
        hub.init(project=str(repository), agents=["codex"], trust_codex=True)


def test_secrets_of_others_are_not_shown(hub: Engram, home: Path) -> None:
    key = "sk-ant-api03-" + "Ab3dEf6h" * 12
    (home / ".claude").mkdir()
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"a": {"env": {"API_KEY": key}}}}, indent=2))
    shown = next(file.diff for file in hub.init().files if file.path.endswith(".claude.json"))
    assert key not in shown
    assert '+    "engram":' in shown
    assert key in (home / ".claude.json").read_text()


def test_what_is_wired_is_where_the_command_is(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert locate_program() == ENGRAM
    link = home / ".local/bin/engram"
    link.parent.mkdir(parents=True)
    link.symlink_to(ENGRAM)
    assert locate_program() == str(link)
    link.unlink()
    link.write_text("another installation")
    assert locate_program() == ENGRAM


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_every_wired_event_is_one_the_hooks_understand(agent: Any) -> None:
    from engram.surfaces.hooks.hook_event import EVENTS

    assert [hook.event for hook in agent.hooks if hook.event.lower() not in EVENTS] == []


def test_what_the_plugin_tells_is_what_the_hooks_understand() -> None:
    from engram.surfaces.hooks.hook_event import EVENTS

    (plugin,) = list_wired_files(require_agent("opencode"), None, "engram")[0].entries
    text = plugin.insert("")
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "SessionEnd"):
        assert f'"{event}"' in text
        assert event.lower() in EVENTS
