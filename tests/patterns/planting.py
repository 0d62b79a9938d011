"""Sessions, signals and patterns, written through the store's functions."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence

from engram import Engram
from engram.store import captures, digests, dream_inbox, patterns, rules, sessions, signals

DAY = 86_400_000_000
START = 1_780_000_000_000_000


def session(
    engram: Engram, name: str, *, began: int = START, flavor: str = "claude", project: str = "", tests: bool = False
) -> str:
    """Add a captured session that was already scanned."""
    engine = engram.engine
    sessions.insert(
        engine, id=name, flavor=flavor, native_id=name, session_type=flavor, summary=name, status="completed",
        project=project, started_at=began, last_heartbeat=began,
    )  # fmt: skip
    num = captures.get_or_add(engine, name, began)["num"]
    facts = json.dumps({"goal": name, **({"tests": {"runs": 1, "failed": 0}} if tests else {})})
    digests.save(
        engine, capture=num, version=1, now=began, through=0, facts=facts, state=None, outcome="success", confidence=1.0
    )
    engine.run("delete from news where step = :step", step=dream_inbox.DETECT)
    return name


def signal(
    engram: Engram, session_id: str, fingerprint: str, *, kind: str = "known-fix", at: int = START, times: int = 1,
    flavor: str = "claude", project: str = "", text: str = "It fails.", tokens: int = 1000, seconds: int = 60,
) -> None:  # fmt: skip
    """Add a signal to a session."""
    event = zlib.crc32(f"{session_id} {fingerprint}".encode())
    row = {
        "session_id": session_id, "kind": kind, "fingerprint": fingerprint, "text": text, "quote": "", "fix": "",
        "evidence": f"[{event}]", "times": times, "project": project, "flavor": flavor, "at": at, "tokens": tokens,
        "seconds": seconds,
    }  # fmt: skip
    signals.replace_signals(engram.engine, session_id, [row], keep=True)


def pattern(
    engram: Engram, fingerprint: str, *, kind: str = "known-fix", title: str = "The build fails.",
    seen: Sequence[str] = (), rule: str = "",
) -> str:  # fmt: skip
    """Add a candidate whose fingerprint occurs in some sessions; return its id."""
    for each in seen:
        signal(engram, each, fingerprint, kind=kind)
    name = f"p{hashlib.sha256(f'{kind} {fingerprint}'.encode()).hexdigest()[:8]}"
    with engram.engine.transaction():
        patterns.mark_changed(
            engram.engine, [{"kind": kind, "fingerprint": fingerprint, "pattern": name, "vector": None}]
        )  # fmt: skip
        facts = {"signals": len(seen), "sessions": len(seen), "times": len(seen), "tokens": 1000, "seconds": 60}
        row = {**facts, "flavors": '["claude"]', "projects": '[""]', "confidence": 0.9, "first_at": START}
        row |= {"id": name, "kind": kind, "title": title, "seed": fingerprint, "last_at": START + DAY}
        patterns.save(engram.engine, [{**row, "proposed": rule, "proposed_fix": "", "proposed_by": "template"}])
        patterns.mark_all_counted(engram.engine)
        rules.recount_patterns(engram.engine, [name])
    return name
