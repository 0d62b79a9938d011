"""Measure redaction: recall by context, changes to real text, speed, and the worst case.

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
from engram.redaction.rules import RULES, SecretRule, make_sample

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
TRANSCRIPTS = (DATA / "transcripts", DATA / "labelled" / "transcripts")
BATCH = 2_000_000
SEEDS = 5
_COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")


@dataclass(frozen=True)
class Planted:
    """A secret with its name and the text that contains it."""

    rule: str
    name: str
    carried: str
    value: str


def by_rule(rule: SecretRule, seed: int = 0) -> Iterator[Planted]:
    """Yield samples of the first six shapes of a rule."""
    for shape in rule.shapes[:6]:
        made = make_sample(shape, seed)
        yield Planted(rule.id, f"{(rule.words or (rule.id,))[0].strip('_-').upper().replace('-', '_')}_KEY", made, made)


def by_name(seed: int = 0) -> Iterator[Planted]:
    """Yield secrets that only their context reveals."""
    long, short = make_sample("{w32}", seed), make_sample("{w6}", seed) + "#7k"
    yield Planted("assignment", "INTERNAL_API_TOKEN", long, long)
    yield Planted("assignment", "app_secret", make_sample("{h40}", seed), make_sample("{h40}", seed))
    yield Planted("assignment", "DB_PASSWORD", short, short)
    yield Planted("url", "DATABASE_URL", f"postgres://app:{long}@db.internal:5432/app", long)
    yield Planted("bearer", "Authorization", f"Bearer {long}", long)
    basic = base64.b64encode(f"deploy:{long}".encode()).decode()
    yield Planted("authorization", "Authorization", f"Basic {basic}", basic.rstrip("="))
    yield Planted("cookie", "Cookie", f"theme=dark; sid={long}", long)


def planted(seed: int = 0) -> list[Planted]:
    """Return one sample of every kind of secret."""
    return [*(secret for rule in RULES for secret in by_rule(rule, seed)), *by_name(seed)]


def _wrapped(secret: Planted) -> str:
    source = random.Random(secret.value)
    start = 79 - source.randrange(2, max(3, min(len(secret.carried), 70) - 2))
    line = f"{secret.name}: {secret.carried}" if secret.rule in HEADERS else f"{secret.name}={secret.carried}"
    at = line.index(secret.value)
    pad = "x " * 60
    line = (pad[: start - at] if start > at else "") + line
    return "\n".join(line[index : index + 80] for index in range(0, len(line), 80))


def _coloured(secret: Planted) -> str:
    middle = 4 + len(secret.value) % 7
    shown = f"{secret.value[:middle]}\x1b[0m\x1b[1;33m{secret.value[middle:]}\x1b[0m"
    return f"\x1b[32m{secret.name}\x1b[0m: \x1b[1;31m" + secret.carried.replace(secret.value, shown)


HEADERS = {"bearer", "authorization", "cookie"}


def _line(secret: Planted) -> str:
    return f"{secret.name}: {secret.carried}" if secret.rule in HEADERS else f"{secret.name}={secret.carried}"


CONTEXTS: dict[str, Callable[[Planted], str]] = {
    "env": lambda secret: f"export {_line(secret)}",
    "json": lambda secret: json.dumps({"a": 1, secret.name: secret.carried, "z": [2]}),
    "prose": lambda secret: f"Take {secret.name.replace('_', ' ').lower()}: {secret.carried}, but tell nobody.",
    "yaml": lambda secret: f"env:\n  {secret.name}: {secret.carried}\n  OTHER: 1",
    "diff": lambda secret: f"@@ -1 +1 @@\n-a=1\n+{_line(secret)}\n b=2",
    "escaped": lambda secret: json.dumps(json.dumps({"text": json.dumps({secret.name: secret.carried})})),
    "colour": _coloured,
    "query": lambda secret: "https://x.test/?q=" + quote(_line(secret), safe=""),
    "wrapped": _wrapped,
    "base64": lambda secret: f"data: {base64.b64encode(_line(secret).encode()).decode()} end",
}


def leaks(secret: Planted, context: str, text: str) -> bool:
    """Return whether 12 consecutive characters of the value are still in the text."""
    if context == "base64":
        plain = " ".join(_decoded(run) for run in re.findall(r"[A-Za-z0-9+/]{8,}=*", text))
    else:
        plain = unquote(_COLOUR.sub("", text)).replace("\n", "")
    return any(secret.value[at : at + 12] in plain for at in range(max(1, len(secret.value) - 11)))


def _decoded(run: str) -> str:
    return base64.b64decode(run[: len(run) // 4 * 4] + "==", validate=False).decode("latin-1")


def recall(seeds: int, misses: bool) -> None:
    """Print the recall in each context, and the rules that missed secrets."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for seed in range(seeds):
        for secret in planted(seed):
            for context, make in CONTEXTS.items():
                text = make(secret)
                hit = not leaks(secret, context, Redactor(b"benchmark").redact(text))
                total[context] += 1
                found[context] += hit
                missed[f"{secret.rule} {context}"] += not hit
                if misses and not hit:
                    print(f"  missed {secret.rule:16} {context:8} {text[:200]!r}")
    hits, all_of_them = sum(found.values()), sum(total.values())
    print(f"recall: {len(RULES) + 5} kinds, {hits}/{all_of_them} = {hits / all_of_them:.2%}")
    for context in CONTEXTS:
        print(f"  {context:8} {found[context]:5}/{total[context]} {found[context] / total[context]:.2%}")
    worst = [f"{name} {count}" for name, count in missed.most_common(12) if count]
    print(f"  most missed: {', '.join(worst) or 'none'}")


def strings(value: object) -> Iterator[str]:
    """Yield every string in a decoded document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def corpus(directories: list[Path]) -> list[str]:
    """Return the strings of all transcripts."""
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
    """Yield the texts in batches, like ingest does."""
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
    """Print the speed for real text, and how much of it is changed."""
    texts = corpus(directories)
    if not texts:
        print("real text: no transcripts found")
        return
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    rates = []
    for _ in range(5):
        redactor = Redactor(b"benchmark")
        redactor.redact("")
        began = time.process_time()
        cleaned = [text for batch in batches(texts) for text in redactor.redact_many(batch)]
        rates.append(size / (time.process_time() - began))
    altered = sum(new is not old for new, old in zip(cleaned, texts, strict=True))
    messages = sum(len(text) > 40 for text in texts)
    middle = sorted(rates)[len(rates) // 2]
    print(f"real text: {size:.1f} MB in {len(texts)} texts, {max(rates):.0f} MB/s best, {middle:.0f} median of 5")
    print(
        f"  changed {altered} of {messages} texts over 40 characters = {altered / messages:.3%}: "
        f"{dict(redactor.rule_counts)}"
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
    "secrets": make_sample("ghp_{w36}") + " ",
    "atlas": "a.atlasv1.",
    "newlines": "token=\n",
    "nul": "token=\x00",
}


def hostile(size: int) -> None:
    """Print the slowest of the inputs that are designed to be slow."""
    redactor = Redactor(b"benchmark")
    times = {}
    for name, piece in HOSTILE.items():
        text = piece * (size // len(piece))
        redactor.redact(piece)
        began = time.process_time()
        redactor.redact(text)
        times[name] = (time.process_time() - began) * 1000
    worst = sorted(times, key=lambda name: -times[name])[:6]
    print(f"hostile, {size // 1000} KB: " + ", ".join(f"{name} {times[name]:.0f} ms" for name in worst))


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directories", nargs="*", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    recall(1 if options.quick else SEEDS, options.misses)
    hostile(20_000 if options.quick else 200_000)
    if not options.quick:
        real(options.directories or list(TRANSCRIPTS))


if __name__ == "__main__":
    main()
