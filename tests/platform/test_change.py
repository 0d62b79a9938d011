"""A change is shown as it is written, and written completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.errors import ConfigChanged, ConfigRefused
from engram.platform.file_edit import FileChange, format_diff, write_change

LINES = st.lists(st.text(alphabet="abc{}, +-@", max_size=6), max_size=12)


def applied(old: list[str], shown: str) -> list[str]:
    """Apply a unified diff as `patch` does."""
    result, place = [], 0
    for line in shown.splitlines()[2:]:
        if line.startswith("@@"):
            start = int(line.split()[1].lstrip("-").split(",")[0])
            length = line.split()[1].split(",")[1:] or ["1"]
            begin = start if length == ["0"] else start - 1
            result += old[place:begin]
            place = begin
        elif line[0] == "+":
            result.append(line[1:])
        else:
            assert old[place] == line[1:]
            result += [line[1:]] if line[0] == " " else []
            place += 1
    return result + old[place:]


@given(LINES, LINES, LINES, LINES)
def test_the_diff_makes_the_new_file_of_the_old(
    head: list[str], old: list[str], new: list[str], tail: list[str]
) -> None:
    before, after = [*head, *old, *tail], [*head, *new, *tail]
    change = FileChange("f", _bytes(before), _bytes(after), "")
    assert applied(before, format_diff(change)) == after


def _bytes(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_secrets_are_masked_also_where_others_words_and_ours_share_a_line() -> None:
    change = FileChange("f", b'{"key": "s3cret"}\n', b'{"key": "s3cret",\n"ours": 1}\n', "")
    shown = format_diff(change, lambda lines: [line.replace("s3cret", "…") for line in lines])
    assert shown.splitlines()[3:] == ['-{"key": "…"}', '+{"key": "…",', '+"ours": 1}']


def test_of_a_file_in_one_endless_line_both_ends_are_shown() -> None:
    change = FileChange("f", b"{" + b"x" * 100_000 + b"}", b"{" + b"x" * 100_000 + b', "ours": 1}', "")
    shown = format_diff(change)
    assert len(shown) < 2000
    assert shown.endswith(', "ours": 1}')


def test_a_link_stays_a_link_and_the_mode_stays(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"a")
    (tmp_path / "real").chmod(0o604)
    (tmp_path / "link").symlink_to("real")
    write_change(FileChange(str(tmp_path / "link"), b"a", b"b", ""))
    assert os.readlink(tmp_path / "link") == "real"
    assert ((tmp_path / "real").read_bytes(), (tmp_path / "real").stat().st_mode & 0o777) == (b"b", 0o604)
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


@pytest.mark.parametrize(("held", "expected"), [(b"other", b"a"), (b"", None)])
def test_what_changed_since_it_was_read_is_not_overwritten(tmp_path: Path, held: bytes, expected: bytes | None) -> None:
    path = tmp_path / "f"
    path.write_bytes(held)
    with pytest.raises(ConfigChanged):
        write_change(FileChange(str(path), expected, b"b", ""))
    assert path.read_bytes() == held
    assert os.listdir(tmp_path) == ["f"]


def test_a_directory_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(ConfigRefused):
        write_change(FileChange(str(tmp_path / "f"), None, b"b", ""))


def test_a_private_file_is_readable_by_its_user_only_and_a_shared_one_by_all(tmp_path: Path) -> None:
    write_change(FileChange(str(tmp_path / "a" / "own"), None, b"b", ""))
    write_change(FileChange(str(tmp_path / "b" / "shared"), None, b"b", "", shared=True))
    modes = [path.stat().st_mode & 0o777 for path in sorted(tmp_path.rglob("*"))]
    assert modes == [0o700, 0o600, 0o755, 0o644]
