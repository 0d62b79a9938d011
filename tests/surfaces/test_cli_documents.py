"""Documents on the command line: what deleting will change, what they said before, and bringing that back."""

from __future__ import annotations

import json

from tests.memory.test_forget_only import several
from tests.memory.test_import_lyra import Lyra
from tests.surfaces.conftest import Run

__all__ = ["several"]


def test_deleting_says_what_will_change_before_it_asks(run: Run, several: Lyra) -> None:
    several.db.execute("update eras set content = 'They grew apples. The parser was mended.'")
    run("import", "lyra", several.path)
    shown = run("delete", "code", "--dry-run").stdout
    assert "Would delete 1 session" in shown
    assert "era 2026-03 (import): 1 of 2 sentences removed" in shown
    assert json.loads(run("delete", "code", "--dry-run", "--json").stdout)["dry_run"] is True
    asked = run("delete", "code", text="n\n", status=1)
    assert "era 2026-03" in asked.stdout + asked.stderr
    assert "Deleted 1 session" in run("delete", "code", "--yes").stdout
