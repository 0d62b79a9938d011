"""Settings: defaults, then file, then environment, then the caller's arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram.errors import SettingsInvalid
from engram.settings import Settings, load_settings, parse_location
from tools.reference_pages import settings


def test_each_source_overrides_the_one_before(tmp_path: Path) -> None:
    env = {"ENGRAM_HOME": str(tmp_path)}
    assert load_settings(env).stale_minutes == 30
    (tmp_path / "config.toml").write_text("stale_minutes = 10\nlock_minutes = 5\n")
    assert load_settings(env).stale_minutes == 10
    env["ENGRAM_STALE_MINUTES"] = "7"
    assert (load_settings(env).stale_minutes, load_settings(env).lock_minutes) == (7, 5)
    assert load_settings(env, stale_minutes=3).stale_minutes == 3


def test_the_home_is_the_platforms_data_directory(tmp_path: Path) -> None:
    assert load_settings({"XDG_DATA_HOME": str(tmp_path)}).store == str(tmp_path / "engram" / "engram.db")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("stale_minutes = 'soon'", "whole number"),
        ("stale_minutes = 0", "above 0"),
        ("stale_minutes = true", "whole number"),
        ("stale_minute = 3", "Unknown setting"),
        ("store = 3", "must be text"),
        ("allow_network_filesystem = 'maybe'", "true or false"),
        ("= broken", "config.toml"),
    ],
)
def test_a_wrong_file_names_itself_and_the_reason(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "config.toml").write_text(content)
    with pytest.raises(SettingsInvalid, match=reason) as refused:
        load_settings({"ENGRAM_HOME": str(tmp_path)})
    assert "config.toml" in str(refused.value)


def test_a_wrong_variable_names_itself(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="ENGRAM_LOCK_MINUTES"):
        load_settings({"ENGRAM_HOME": str(tmp_path), "ENGRAM_LOCK_MINUTES": "-4"})


def test_a_path_is_a_home_a_file_or_an_address(tmp_path: Path) -> None:
    assert parse_location(tmp_path)["store"] == str(tmp_path / "engram.db")
    assert parse_location(tmp_path / "new")["home"] == str(tmp_path / "new")
    assert parse_location(tmp_path / "other.db") == {"home": str(tmp_path), "store": str(tmp_path / "other.db")}
    assert parse_location("postgresql://u@h/d") == {"store": "postgresql://u@h/d"}


def test_every_setting_is_documented_with_its_meaning() -> None:
    rows = [line.split(" | ") for line in settings.build_page().splitlines() if line.startswith("| `")]
    assert [row[0].strip("|` ") for row in rows] == [*Settings.__annotations__]
    assert [row[0] for row in rows if len(row) != 5 or len(row[4]) < 10] == []


def test_the_short_name_of_the_time_zone_counts_too() -> None:
    assert load_settings({"ENGRAM_HOME": "/h", "ENGRAM_TZ": "Europe/Berlin"}).timezone == "Europe/Berlin"
    both = {"ENGRAM_HOME": "/h", "ENGRAM_TZ": "Europe/Berlin", "ENGRAM_TIMEZONE": "Asia/Tokyo"}
    assert load_settings(both).timezone == "Asia/Tokyo"


@pytest.mark.parametrize("variable", ["ENGRAM_TZ", "ENGRAM_TIMEZONE", "ENGRAM_EMBEDDER"])
def test_an_unknown_time_zone_or_embedder_is_refused_by_name(variable: str) -> None:
    with pytest.raises(SettingsInvalid, match=f"{variable}: Unknown .* 'bad/name'"):
        load_settings({"ENGRAM_HOME": "/h", variable: "bad/name"})


def test_an_unknown_time_zone_of_memoria_is_passed_over() -> None:
    assert load_settings({"ENGRAM_HOME": "/h", "MEMORIA_TZ": "bad/zone"}).timezone == ""
