"""Automatic dreaming: stand-in programs for the schedulers record their calls."""

from __future__ import annotations

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.dream import cron, schedule, scheduled_job, systemd
from engram.errors import InvalidInput, ScheduleRefused

NASTY = 'a home\'s "own" 100% $HOME `x` \\ é;#'
KEEP = b"MAILTO=ada\n\n# mine\n*/5 * * * * echo 100\\% # engram dream\nno newline at the end"

SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >> "$LOG"
for word in $FAIL; do [ "$2" = "$word" ] && { echo "no $word today" >&2; exit 5; }; done
case "$2" in
enable) mkdir -p "$UNITS/timers.target.wants"; ln -sf "../$3" "$UNITS/timers.target.wants/$3" ;;
disable) rm -f "$UNITS/timers.target.wants/$4" ;;
is-enabled|is-active) [ -e "$UNITS/timers.target.wants/$3" ] ;;
esac
"""
CRONTAB = """#!/bin/sh
echo "crontab $*" >> "$LOG"
for word in $FAIL; do [ "$1" = "$word" ] && { echo "no $word today" >&2; exit 5; }; done
case "$1" in
-l) [ -e "$TABLE" ] || { echo "no crontab for ada" >&2; exit 1; }; cat "$TABLE" ;;
-r) rm "$TABLE" ;;
-) cat > "$TABLE" ;;
esac
"""
LAUNCHCTL = """#!/bin/sh
echo "launchctl $*" >> "$LOG"
for word in $FAIL; do [ "$1" = "$word" ] && { echo "no $word today" >&2; exit 5; }; done
case "$1" in
print) grep -q "bootstrap" "$LOG" ;;
esac
"""


class System:
    """A home directory with the test's programs on the path."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.bin, self.user = root, root / "bin", root / "user"
        self.log, self.table = root / "log", root / "table"
        self.units = self.user / ".config" / "systemd" / "user"
        self._patch = monkeypatch
        for folder in (self.bin, self.user):
            folder.mkdir()
        for name in ("sh", "cat", "rm", "mkdir", "ln", "grep", "env", "printf"):
            os.symlink(shutil.which(name) or "", self.bin / name)
        env = {"PATH": self.bin, "HOME": self.user, "LOG": self.log, "TABLE": self.table, "UNITS": self.units}
        for variable, text in env.items():
            monkeypatch.setenv(variable, str(text))
        for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "FAIL"):
            monkeypatch.delenv(variable, raising=False)

    def has(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def fail(self, *words: str) -> None:
        self._patch.setenv("FAIL", " ".join(words))

    def asked(self) -> list[str]:
        found = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return found

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.user)) for path in self.user.rglob("*"))


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    return System(tmp_path, monkeypatch)


@pytest.fixture
def hub(system: System) -> Iterator[Engram]:
    with Engram(system.root / NASTY) as opened:
        yield opened


def recorder(system: System, home: Path) -> Path:
    """Add a launcher to a home that records its calls."""
    place = home / "bin" / "engram"
    place.parent.mkdir(parents=True, exist_ok=True)
    told = system.root / "told"
    place.write_text(f'#!/bin/sh\nprintf "%s\\n" "$ENGRAM_HOME" "$@" > {shlex.quote(str(told))}\n')
    place.chmod(0o755)
    return told


def test_systemd_gets_a_timer_and_gives_it_back(system: System, hub: Engram) -> None:
    system.has("systemctl", SYSTEMCTL)
    made = schedule.install(hub, 30)
    name = next(iter(made.files)).rpartition("/")[2].removesuffix(".service")
    assert made.kind == "systemd"
    assert made.command[-3:] == ("dream", "--once", "--idle")
    service = (system.units / f"{name}.service").read_text()
    assert {"Nice=19", "IOSchedulingClass=best-effort", "IOSchedulingPriority=7", "StandardOutput=null"} <= {
        *service.split("\n")
    }
    timer = (system.units / f"{name}.timer").read_text()
    assert {"OnCalendar=*-*-* *:00/30:00", "Persistent=true", "RandomizedDelaySec=180"} <= {*timer.split("\n")}
    words = ("daemon-reload", f"enable {name}.timer", f"restart {name}.timer")
    assert system.asked()[-3:] == [f"systemctl --user {word}" for word in words]
    assert schedule.find_schedule(hub) == made
    stamp = system.user / ".local/share/systemd/timers" / f"stamp-{name}.timer"
    stamp.parent.mkdir(parents=True)
    stamp.touch()
    assert schedule.uninstall(hub) == made
    assert [file for file in system.files() if "engram" in file or "systemd/user" in file] == []
    assert schedule.find_schedule(hub) is None
    assert schedule.uninstall(hub) is None


def test_saying_it_again_changes_nothing_and_other_times_are_taken_over(system: System, hub: Engram) -> None:
    system.has("systemctl", SYSTEMCTL)
    schedule.install(hub, 30)
    system.asked()
    schedule.install(hub, 30)
    assert not [line for line in system.asked() if "enable " in line or "reload" in line]
    schedule.install(hub, 120)
    known = schedule.find_schedule(hub)
    assert known is not None
    assert known.minutes == 120
    assert "OnCalendar=*-*-* 00/2:00:00" in "".join(known.files.values())


@pytest.mark.parametrize("word", ["daemon-reload", "enable", "restart"])
def test_a_systemctl_that_fails_leaves_no_half(system: System, hub: Engram, word: str) -> None:
    system.has("systemctl", SYSTEMCTL)
    system.fail(word)
    with pytest.raises(ScheduleRefused, match=f"no {word} today"):
        schedule.install(hub)
    assert [file for file in system.files() if "systemd" in file] == []


def test_a_change_that_fails_leaves_what_was_there(system: System, hub: Engram) -> None:
    system.has("systemctl", SYSTEMCTL)
    before = schedule.install(hub, 30)
    system.fail("restart")
    with pytest.raises(ScheduleRefused):
        schedule.install(hub, 60)
    assert schedule.find_schedule(hub) == before


def test_what_is_left_is_removed_where_systemd_answers_no_more(system: System, hub: Engram) -> None:
    system.has("systemctl", SYSTEMCTL)
    schedule.install(hub)
    system.fail("show-environment", "disable", "daemon-reload")
    assert schedule.uninstall(hub) is not None
    assert [file for file in system.files() if "systemd" in file] == []


def test_the_units_are_ones_systemd_takes(system: System, hub: Engram, tmp_path: Path) -> None:
    program = next(
        (each for each in ("/usr/bin/systemd-analyze", "/bin/systemd-analyze") if os.path.exists(each)), None
    )
    if program is None:
        pytest.skip("systemd units are not verified: systemd-analyze is not here")
    system.has("systemctl", SYSTEMCTL)
    paths = list(schedule.install(hub, 30).files)
    env = {"PATH": os.defpath, "HOME": str(system.user), "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run([program, "--user", "verify", *paths], env=env, capture_output=True, text=True, check=False)
    if "Failed to initialize manager" in done.stderr:
        pytest.skip(f"systemd units are not verified: {done.stderr.strip()}")
    ours = [os.path.basename(path) for path in paths]  # its own units may have warnings too
    lines = [line for line in done.stderr.splitlines() if any(name in line for name in ours)]
    assert (done.returncode, lines) == (0, [])


@pytest.mark.parametrize("minutes", [1, 5, 15, 30, 60, 120, 480, 1440])
def test_systemd_understands_the_times(minutes: int) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("times of systemd are not verified: systemd-analyze is not here")
    done = subprocess.run(
        [program, "calendar", "--iterations=3", systemd._format_schedule(minutes)], capture_output=True, check=False
    )
    assert done.returncode == 0


def test_cron_gets_one_line_and_gives_the_rest_back_byte_for_byte(system: System, hub: Engram) -> None:
    system.has("crontab", CRONTAB)
    system.table.write_bytes(KEEP)
    made = schedule.install(hub, 15)
    assert made.kind == "cron"
    assert system.table.read_bytes() == made.files["crontab"].encode() + KEEP
    system.asked()
    schedule.install(hub, 15)
    assert "crontab -" not in system.asked()
    schedule.install(hub, 60)
    assert system.table.read_bytes().endswith(KEEP)
    assert system.table.read_bytes().count(b"dream --once") == 1
    known = schedule.find_schedule(hub)
    assert known is not None
    assert known.minutes == 60
    schedule.uninstall(hub)
    assert system.table.read_bytes() == KEEP


def test_a_crontab_that_was_not_there_goes_again(system: System, hub: Engram) -> None:
    system.has("crontab", CRONTAB)
    schedule.install(hub)
    assert system.table.exists()
    schedule.uninstall(hub)
    assert not system.table.exists()


def test_a_crontab_that_cannot_be_read_is_not_written(system: System, hub: Engram) -> None:
    system.has("crontab", CRONTAB)
    system.table.write_bytes(KEEP)
    system.fail("-l")
    with pytest.raises(ScheduleRefused, match="cannot read your crontab"):
        schedule.install(hub)
    assert system.table.read_bytes() == KEEP


def test_a_crontab_that_cannot_be_written_is_told(system: System, hub: Engram) -> None:
    system.has("crontab", CRONTAB)
    system.fail("-")
    with pytest.raises(ScheduleRefused, match="no - today"):
        schedule.install(hub)
    assert not system.table.exists()


def test_the_line_of_cron_calls_what_it_shall(system: System, hub: Engram) -> None:
    system.has("crontab", CRONTAB)
    result = recorder(system, Path(hub.settings.home))
    line = schedule.install(hub).files["crontab"]
    assert "%" not in line  # which ends a line, differently in each cron
    subprocess.run(["sh", "-c", line.split(None, 5)[5]], check=True, env={"PATH": os.defpath})
    assert result.read_text().split("\n") == [hub.settings.home, "dream", "--once", "--idle", ""]


def test_two_homes_have_a_line_each(system: System, hub: Engram) -> None:
    system.has("crontab", CRONTAB)
    with Engram(system.root / "second") as other:
        schedule.install(hub)
        schedule.install(other)
        schedule.uninstall(hub)
        assert schedule.find_schedule(hub) is None
        assert schedule.find_schedule(other) is not None


def test_launchd_gets_an_agent_and_gives_it_back(
    system: System, hub: Engram, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    system.has("launchctl", LAUNCHCTL)
    monkeypatch.setattr(sys, "platform", "darwin")
    made = schedule.install(hub, 60)
    [(path, text)] = made.files.items()
    facts = plistlib.loads(Path(path).read_bytes())
    assert made.kind == "launchd"
    assert text == Path(path).read_text()
    assert tuple(facts["ProgramArguments"]) == made.command
    assert (facts["StartInterval"], facts["Nice"], facts["LowPriorityIO"]) == (3600, 19, True)
    assert [line.split()[1] for line in system.asked()][-2:] == ["bootout", "bootstrap"]
    assert schedule.find_schedule(hub) == made
    schedule.uninstall(hub)
    assert not os.path.exists(path)
    system.fail("bootstrap")
    with pytest.raises(ScheduleRefused, match="no bootstrap today"):
        schedule.install(hub)
    assert not os.path.exists(path)


def test_a_system_without_a_scheduler_is_told_the_way_out(system: System, hub: Engram) -> None:
    with pytest.raises(ScheduleRefused, match="engram dream --once"):
        schedule.install(hub)


def test_windows_is_told_the_command(hub: Engram) -> None:
    words = schedule._format_windows_task(scheduled_job.build_job(hub.settings.home, 60))
    assert words.startswith("schtasks /Create /SC MINUTE /MO 60 /TN engram-dream-")
    assert "dream --once --idle" in words


def test_a_dry_run_shows_the_files_and_writes_none(system: System, hub: Engram) -> None:
    system.has("systemctl", SYSTEMCTL)
    shown = schedule.install(hub, 30, dry_run=True)
    assert len(shown.files) == 2
    assert system.files() == []
    assert schedule.install(hub, 30) == shown
    assert schedule.uninstall(hub, dry_run=True) == shown
    assert schedule.find_schedule(hub) == shown


def test_where_systemd_came_later_the_line_of_cron_goes(system: System, hub: Engram) -> None:
    system.has("crontab", CRONTAB)
    system.table.write_bytes(KEEP)
    schedule.install(hub)
    system.has("systemctl", SYSTEMCTL)
    assert schedule.install(hub).kind == "systemd"
    assert system.table.read_bytes() == KEEP


def test_a_store_that_only_this_shell_knows_is_refused(system: System, tmp_path: Path) -> None:
    system.has("crontab", CRONTAB)
    elsewhere = str(tmp_path / "elsewhere.db")
    with Engram(home=str(tmp_path / "h"), store=elsewhere) as hub, pytest.raises(ScheduleRefused, match="ENGRAM_STORE"):
        schedule.install(hub)


@pytest.mark.parametrize("minutes", [0, -5, 7, 45, 61, 90, 1000, 2880, True, 2.5])
def test_times_that_no_clock_shows_are_refused(hub: Engram, minutes: int) -> None:
    with pytest.raises(InvalidInput, match="divide an hour or a day"):
        schedule.install(hub, minutes)


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=40))
def test_any_word_survives_cron_and_the_shell(word: str) -> None:
    quoted = cron._quote_word(f"x{word}")
    assert "%" not in quoted
    out = subprocess.run(["sh", "-c", f"printf '%s' {quoted}"], capture_output=True, check=True).stdout
    assert out == f"x{word}".encode()


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=40))
def test_any_word_survives_systemd(word: str) -> None:
    quoted = systemd._quote_word(f"x{word}")
    assert _as_systemd_reads(quoted) == f"x{word}"


def _as_systemd_reads(quoted: str) -> str:
    """Parse a unit by the rules of systemd.service(5): words, quotes, specifiers, variables."""
    if quoted.startswith('"'):
        assert quoted.endswith('"')
        body, out = iter(quoted[1:-1]), ""
        for mark in body:
            assert mark != '"'
            out += next(body) if mark == "\\" else mark
    else:
        assert not {*quoted} & {*" \"'\\;"}
        out = quoted
    parts = out.replace("%%", "\0p").replace("$$", "\0d")
    assert "%" not in parts
    assert "$" not in parts
    return parts.replace("\0p", "%").replace("\0d", "$")


def test_a_process_that_idles_is_behind_all_others() -> None:
    code = (
        "import os; from engram.dream.low_priority import lower_priority; lower_priority(); lower_priority();"
        "print(os.nice(0), os.sched_getscheduler(0) == os.SCHED_OTHER)"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert output.split() == ["19", "True"] if sys.platform == "linux" else output.startswith("19")


def test_unwiring_everything_takes_the_timer_as_well(system: System, hub: Engram) -> None:
    system.has("systemctl", SYSTEMCTL)
    schedule.install(hub, 30)
    assert schedule.find_schedule(hub) is not None
    hub.uninit()
    assert schedule.find_schedule(hub) is None
