"""The agents' own memory and instruction files: found and cited, never written to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.capture.guide_files import list_guides, reads_guide
from engram.capture.guides import split_guide
from engram.types import Hit
from tests.capture.transcripts import Claude

Write = Callable[[str, str], Path]
RULE = "## Releases\nThe harbour release train leaves on tuesdays from the quay branch.\n"
ASKED = "When does the harbour release train leave?"


@pytest.fixture
def project(engram: Engram, home: Path) -> Path:
    """A project that is known because a session worked in it."""
    folder = home / "app"
    folder.mkdir()
    Claude(home, cwd=str(folder)).says("Mend the login form.")
    engram.ingest()
    return folder


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def found(engram: Engram, query: str = ASKED, **more: object) -> list[Hit]:
    return engram.recall(query, tiers=["guide"], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "where",
    [
        *("app/CLAUDE.md", "app/AGENTS.md", "app/GEMINI.md", "app/.github/copilot-instructions.md"),
        *("app/.cursor/rules/release.mdc", ".claude/CLAUDE.md", ".claude/projects/-x-y/memory/release.md"),
        *(".codex/AGENTS.md", ".codex/memories/2026/release.md", ".gemini/GEMINI.md", ".grok/memory/MEMORY.md"),
    ],
)
def test_every_agents_own_file_is_found_and_cited(engram: Engram, project: Path, home: Path, where: str) -> None:
    path = write(home / where, RULE)
    engram.ingest()
    (hit,) = found(engram)
    assert (hit.tier, hit.origin, hit.session_id) == ("guide", "import", None)
    assert hit.name is not None
    assert hit.name.endswith(str(path))
    assert "quay branch" in hit.snippet
    shown = engram.get(hit.id)
    assert "quay branch" in shown.content
    assert shown.title.endswith(str(path))
    assert path.read_text() == RULE


def test_a_guide_belongs_to_its_project(engram: Engram, project: Path) -> None:
    write(project / "CLAUDE.md", RULE)
    engram.ingest()
    assert [hit.project for hit in found(engram, project=str(project))] == [str(project)]
    assert found(engram, project=str(project.parent)) == []
    assert found(engram, project=str(project), flavor="claude") == []


def test_claudes_memory_of_a_project_is_known_by_its_folder(engram: Engram, project: Path, home: Path) -> None:
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(project))
    write(home / ".claude" / "projects" / slug / "memory" / "MEMORY.md", RULE)
    engram.ingest()
    assert [hit.project for hit in found(engram)] == [str(project)]


def test_a_changed_guide_replaces_its_old_passages(engram: Engram, project: Path) -> None:
    path = write(project / "AGENTS.md", RULE)
    engram.ingest()
    write(path, RULE.replace("tuesdays", "fridays"))
    os.utime(path, (1_900_000_000, 1_900_000_000))
    engram.ingest()
    assert ["fridays" in hit.snippet for hit in found(engram)] == [True]


def test_a_guide_that_is_gone_is_found_no_more(engram: Engram, project: Path) -> None:
    path = write(project / "AGENTS.md", RULE)
    engram.ingest()
    assert found(engram)
    path.unlink()
    engram.ingest()
    assert not found(engram)


def test_what_did_not_change_is_not_read_again(engram: Engram, project: Path) -> None:
    path = write(project / "AGENTS.md", RULE)
    engram.ingest()
    kept = path.stat()
    path.write_text(RULE.replace("tuesdays", "sundays"))
    os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    engram.ingest()
    assert ["tuesdays" in hit.snippet for hit in found(engram)] == [True]


def test_a_touched_guide_is_indexed_once(engram: Engram, project: Path) -> None:
    path = write(project / "AGENTS.md", RULE)
    engram.ingest()
    (before,) = found(engram)
    os.utime(path, (1_900_000_000, 1_900_000_000))
    engram.ingest()
    (after,) = found(engram)
    assert (after.id, after.snippet) == (before.id, before.snippet)
    rows = engram.engine.run("select at from passages where kind = 'guide'")
    assert [row["at"] for row in rows] == [1_900_000_000_000_000]


def test_another_machines_guides_stay(engram: Engram, project: Path) -> None:
    if engram.engine.dialect == "sqlite":
        pytest.skip("a SQLite store serves one machine")
    with engram.engine.transaction():
        from engram.store import passages

        passages.save_parts(engram.engine, "guide", "elsewhere:/srv/app/AGENTS.md", [RULE], at=1)
    engram.ingest()
    assert [hit.name for hit in found(engram)] == ["elsewhere:/srv/app/AGENTS.md"]


def test_secrets_and_our_own_block_are_left_out(engram: Engram, project: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    block = "<!-- engram:begin v1 -->\nThe harbour release train is ours.\n<!-- engram:end -->\n"
    write(project / "AGENTS.md", f"{block}{RULE}Use the token {token} for it.\n")
    engram.ingest()
    told = " ".join(row["content"] for row in engram.engine.run("select content from passages where kind = 'guide'"))
    assert "quay" in told
    assert "[REDACTED:" in told
    assert token not in told
    assert "is ours" not in told
    assert "engram" not in told


def test_a_huge_or_unreadable_file_is_not_a_guide(engram: Engram, project: Path) -> None:
    write(project / "AGENTS.md", RULE * 10_000)
    (project / "GEMINI.md").mkdir()
    (project / "CLAUDE.md").write_bytes(b"\xff\xfe\x00" + RULE.encode())
    engram.ingest()
    assert [Path(hit.name or "").name for hit in found(engram)] == ["CLAUDE.md"]


def test_named_transcripts_bring_no_guides(engram: Engram, project: Path, home: Path) -> None:
    write(project / "AGENTS.md", RULE)
    engram.ingest(flavor="codex")
    assert not found(engram)
    engram.ingest(dry_run=True)
    assert not found(engram)


def test_an_agent_gets_only_guides_it_does_not_read_itself(engram: Engram, project: Path) -> None:
    write(project / "CLAUDE.md", RULE)
    engram.ingest()
    ids = {}
    for flavor in ("claude", "codex"):
        ids[flavor] = engram.register(flavor, "Ships.", project=str(project), flavor=flavor)
    told = engram.context(ASKED, session_id=ids["codex"], project=str(project)).text
    assert "quay branch" in told
    assert "CLAUDE.md" in told
    assert engram.context(ASKED, session_id=ids["claude"], project=str(project)).text == ""
    assert engram.context(ASKED, project=str(project)).text == ""


@pytest.mark.parametrize(
    ("flavor", "path", "read"),
    [
        ("claude", "/a/CLAUDE.md", True),
        ("codex", "/a/CLAUDE.md", False),
        ("claude", "/a/AGENTS.md", True),
        ("gemini", "/a/.github/copilot-instructions.md", False),
        ("codex", "host:/home/me/.codex/memories/x.md", True),
        ("claude", "/home/me/.codex/memories/x.md", False),
        ("claude", "/home/me/.claude/projects/-a/memory/MEMORY.md", True),
        ("cursor", "C:\\app\\.cursor\\rules\\a.mdc", True),
        ("claude", "/app/.cursor/rules/a.mdc", False),
    ],
)
def test_the_agents_that_read_a_guide_are_known_by_its_name(flavor: str, path: str, read: bool) -> None:
    assert reads_guide(flavor, path) is read


def test_moved_homes_are_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("c/CLAUDE.md", "x/AGENTS.md", "g/.gemini/GEMINI.md", "k/memory/MEMORY.md"):
        write(tmp_path / name, RULE)
    environ = {
        "HOME": str(tmp_path / "none"), "CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x"),
        "GEMINI_CLI_HOME": str(tmp_path / "g"), "GROK_HOME": str(tmp_path / "k"),
    }  # fmt: skip
    for name, directory in environ.items():
        monkeypatch.setenv(name, directory)
    assert len(list_guides({})) == 4


def test_headings_part_a_guide_but_not_those_in_code() -> None:
    text = "Intro.\n# One\na\n```sh\n# no heading\n```\n## Two\nb\n"
    assert split_guide(text) == ["Intro.", "# One\na\n```sh\n# no heading\n```", "## Two\nb"]


def test_a_bare_heading_is_joined_to_the_next_section() -> None:
    assert split_guide("# App\n\n## Rules\n### One\na\n## Two\nb\n# End\n") == [
        "# App\n## Rules\n### One\na", "## Two\nb", "# End",
    ]  # fmt: skip


@given(st.text(alphabet="ab#`~ \n-<>!", max_size=400))
def test_no_word_of_a_guide_is_lost(text: str) -> None:
    assert "".join("".join(split_guide(text)).split()) == "".join(text.split())


def test_a_long_section_is_cut_at_empty_lines() -> None:
    text = "# Long\n" + "\n\n".join(f"Paragraph {n} " + "word " * 60 for n in range(40)) + "x" * 9000
    pieces = split_guide(text)
    assert max(map(len, pieces)) <= 4_000
    assert "".join("".join(pieces).split()) == "".join(text.split())
