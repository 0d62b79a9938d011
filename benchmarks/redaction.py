"""Measure redaction: what is found in which surroundings, what is touched that should not be, how fast, and at worst.

python benchmarks/redaction.py [--quick] [--misses] [directory of transcripts ...]
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from engram.redaction.redactor import Redactor
from engram.redaction.rules import RULES, Rule, sample

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
TRANSCRIPTS = (DATA / "transcripts", DATA / "labelled" / "transcripts")
BATCH = 2_000_000
SEEDS = 5
_COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")


@dataclass(frozen=True)
class Planted:
    """A secret, the name it goes by, and the text that carries it."""

    rule: str
    name: str
    carried: str
    value: str


def by_rule(rule: Rule, seed: int = 0) -> Iterator[Planted]:
    """Plant each shape of a rule; of many alike, three."""
    for shape in rule.shapes[:6]:
        made = sample(shape, seed)
        yield Planted(rule.id, f"{(rule.words or (rule.id,))[0].strip('_-').upper().replace('-', '_')}_KEY", made, made)


def by_name(seed: int = 0) -> Iterator[Planted]:
    """Plant what only its surroundings give away."""
    long, short = sample("{w32}", seed), sample("{w6}", seed) + "#7k"
    yield Planted("assignment", "INTERNAL_API_TOKEN", long, long)
    yield Planted("assignment", "app_secret", sample("{h40}", seed), sample("{h40}", seed))
    yield Planted("assignment", "DB_PASSWORD", short, short)
    yield Planted("url", "DATABASE_URL", f"postgres://app:{long}@db.internal:5432/app", long)
    yield Planted("bearer", "Authorization", f"Bearer {long}", long)
    basic = base64.b64encode(f"deploy:{long}".encode()).decode()
    yield Planted("authorization", "Authorization", f"Basic {basic}", basic.rstrip("="))
    yield Planted("cookie", "Cookie", f"theme=dark; sid={long}", long)


def planted(seed: int = 0) -> list[Planted]:
    """Return everything we look for, once."""
    return [*(one for rule in RULES for one in by_rule(rule, seed)), *by_name(seed)]


def _wrapped(one: Planted) -> str:
    source = random.Random(one.value)
    start = 79 - source.randrange(2, max(3, min(len(one.carried), 70) - 2))
    line = f"{one.name}: {one.carried}" if one.rule in HEADERS else f"{one.name}={one.carried}"
    at = line.index(one.value)
    pad = "x " * 60
    line = (pad[: start - at] if start > at else "") + line
    return "\n".join(line[index : index + 80] for index in range(0, len(line), 80))


def _coloured(one: Planted) -> str:
    middle = 4 + len(one.value) % 7
    shown = f"{one.value[:middle]}\x1b[0m\x1b[1;33m{one.value[middle:]}\x1b[0m"
    return f"\x1b[32m{one.name}\x1b[0m: \x1b[1;31m" + one.carried.replace(one.value, shown)


HEADERS = {"bearer", "authorization", "cookie"}


def _line(one: Planted) -> str:
    return f"{one.name}: {one.carried}" if one.rule in HEADERS else f"{one.name}={one.carried}"


CONTEXTS: dict[str, Callable[[Planted], str]] = {
    "env": lambda one: f"export {_line(one)}",
    "json": lambda one: json.dumps({"a": 1, one.name: one.carried, "z": [2]}),
    "prose": lambda one: f"Take {one.name.replace('_', ' ').lower()}: {one.carried}, but tell nobody.",
    "yaml": lambda one: f"env:\n  {one.name}: {one.carried}\n  OTHER: 1",
    "diff": lambda one: f"@@ -1 +1 @@\n-a=1\n+{_line(one)}\n b=2",
    "escaped": lambda one: json.dumps(json.dumps({"text": json.dumps({one.name: one.carried})})),
    "colour": _coloured,
    "query": lambda one: "https://x.test/?q=" + quote(_line(one), safe=""),
    "wrapped": _wrapped,
    "base64": lambda one: f"data: {base64.b64encode(_line(one).encode()).decode()} end",
}


def leaks(one: Planted, context: str, text: str) -> bool:
    """Tell whether a dozen characters of the value in a row are still there."""
    if context == "base64":
        plain = " ".join(_decoded(run) for run in re.findall(r"[A-Za-z0-9+/]{8,}=*", text))
    else:
        plain = unquote(_COLOUR.sub("", text)).replace("\n", "")
    return any(one.value[at : at + 12] in plain for at in range(max(1, len(one.value) - 11)))


def _decoded(run: str) -> str:
    return base64.b64decode(run[: len(run) // 4 * 4] + "==", validate=False).decode("latin-1")


def recall(seeds: int, misses: bool) -> None:
    """Print how much is found in each surrounding, and the rules that miss some."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for seed in range(seeds):
        for one in planted(seed):
            for context, make in CONTEXTS.items():
                text = make(one)
                hit = not leaks(one, context, Redactor(b"benchmark").clean(text))
                total[context] += 1
                found[context] += hit
                missed[f"{one.rule} {context}"] += not hit
                if misses and not hit:
                    print(f"  missed {one.rule:16} {context:8} {text[:200]!r}")
    hits, all_of_them = sum(found.values()), sum(total.values())
    print(f"recall: {len(RULES) + 5} kinds, {hits}/{all_of_them} = {hits / all_of_them:.2%}")
    for context in CONTEXTS:
        print(f"  {context:8} {found[context]:5}/{total[context]} {found[context] / total[context]:.2%}")
    worst = [f"{name} {count}" for name, count in missed.most_common(12) if count]
    print(f"  most missed: {', '.join(worst) or 'none'}")


def strings(value: object) -> Iterator[str]:
    """Return every text inside a decoded document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def corpus(directories: list[Path]) -> list[str]:
    """Return the decoded texts of all transcripts."""
    texts: list[str] = []
    for path in sorted(path for directory in directories for path in directory.rglob("*") if path.is_file()):
        if path.suffix in {".jsonl", ".json"}:
            for line in [path.read_bytes()] if path.suffix == ".json" else path.read_bytes().splitlines():
                try:
                    texts += strings(json.loads(line))
                except ValueError:
                    continue
        elif path.suffix in {".md", ".txt", ".log", ".yaml"}:
            texts.append(path.read_text(errors="replace"))
    return texts


def batches(texts: list[str]) -> Iterator[list[str]]:
    """Return texts in batches as ingest makes them."""
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size > BATCH:
            yield batch
            batch, size = [], 0
    yield batch


def real(directories: list[Path]) -> None:
    """Print how fast real text goes through, and how much of it is altered."""
    texts = corpus(directories)
    if not texts:
        print("real text: no transcripts here")
        return
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    rates = []
    for _ in range(5):
        redactor = Redactor(b"benchmark")
        redactor.clean("")
        began = time.process_time()
        cleaned = [text for batch in batches(texts) for text in redactor.clean_many(batch)]
        rates.append(size / (time.process_time() - began))
    altered = sum(new is not old for new, old in zip(cleaned, texts, strict=True))
    messages = sum(len(text) > 40 for text in texts)
    middle = sorted(rates)[len(rates) // 2]
    print(f"real text: {size:.1f} MB in {len(texts)} texts, {max(rates):.0f} MB/s best, {middle:.0f} median of 5")
    print(
        f"  altered {altered} of {messages} texts over 40 characters = {altered / messages:.3%}: {dict(redactor.found)}"
    )


HOSTILE = {
    "jwt heads": "eyJ",
    "jwt parts": "eyJaaaaaaaaaa.",
    "jwt near": "eyJabcdefghij0123.eyJ",
    "sk": "sk-",
    "sk spaced": "sk- ",
    "github": "ghp_ ",
    "labels": "token",
    "assigned": "token=",
    "quoted": 'token="',
    "alternating": "token='token=\"",
    "passwords": "password=aaaaaaa1 ",
    "spoken": "token is ",
    "near": "token a ",
    "urls": "://a:",
    "url users": "://",
    "at": "://a:b",
    "pem": "-----BEGIN PRIVATE KEY-----",
    "pem real": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n",
    "private": "<private>",
    "private lines": "\n<private>\n",
    "base64": "cGFzc3dvcmQ9",
    "base64 deep": base64.b64encode(b"password=Xk29dkQ8d8 ").decode(),
    "colour": "ghp_\x1b[0m",
    "broken": "ghp_" + "a1" * 38 + "\n",
    "cookies": "Cookie: a=",
    "authorization": "Authorization: Basic ",
    "bearer": "Bearer ",
    "aws": "aws key ",
    "telegram": "123456789:AA",
    "percent": "token%3D",
    "zeros": "A",
    "backslashes": "\\",
    "escaped": 'token\\\\\\"',
    "brackets": "[REDACTED:",
    "secrets": sample("ghp_{w36}") + " ",
    "atlas": "a.atlasv1.",
    "newlines": "token=\n",
    "nul": "token=\x00",
}


def hostile(size: int) -> None:
    """Print the slowest of the inputs made to slow us down."""
    redactor = Redactor(b"benchmark")
    times = {}
    for name, piece in HOSTILE.items():
        text = piece * (size // len(piece))
        redactor.clean(piece)
        began = time.process_time()
        redactor.clean(text)
        times[name] = (time.process_time() - began) * 1000
    worst = sorted(times, key=lambda name: -times[name])[:6]
    print(f"hostile, {size // 1000} KB: " + ", ".join(f"{name} {times[name]:.0f} ms" for name in worst))


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directories", nargs="*", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args()
    recall(1 if given.quick else SEEDS, given.misses)
    hostile(20_000 if given.quick else 200_000)
    if not given.quick:
        real(given.directories or list(TRANSCRIPTS))


if __name__ == "__main__":
    main()
