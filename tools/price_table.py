"""Write src/engram/models/prices.json from the public list of prices in the package litellm.

pip download --no-deps litellm && unzip -p litellm-*.whl 'litellm/model_prices*' > prices.json
python3 -m tools.price_table prices.json 2026-11-18

Only facts are taken: prices per token of chat models, above which context they change, and in fast mode. A provider's
model is left out if it costs what the vendor's own does. Prices of zero are left out: a plan pays, or nobody knows.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engram.models.prices import find_entry, strip_ending
from engram.store.token_usage import BANDS

TARGET = Path(__file__).resolve().parents[1] / "src" / "engram" / "models" / "prices.json"
MODES = ("chat", "completion", "responses")
# Who sells its own models, and who sells at the vendor's price what Anthropic and Google no longer list.
VENDORS = (
    "anthropic", "openai", "gemini", "xai", "deepseek", "mistral", "dashscope", "moonshot", "zai", "minimax",
    "cohere_chat", "cohere", "ai21", "meta_llama", "meta", "amazon_nova", "xiaomi_mimo", "tencent", "volcengine",
    "cognition", "morph", "v0", "inception", "codestral", "text-completion-openai",
)  # fmt: skip
RESELLERS = ("bedrock_converse", "bedrock", "vertex_ai-anthropic_models", "vertex_ai-language-models")
# Names that agents write and the list does not have: what they stand for.
ALIASES = {
    "claude-opus-4-0": "claude-opus-4", "claude-sonnet-4-0": "claude-sonnet-4", "claude-mythos": "claude-mythos-5",
    "gpt-5.3": "gpt-5.3-codex", "grok-build": "grok-4.5",
}  # fmt: skip
NOBODY = len(VENDORS) + len(RESELLERS)
_FIELDS = (
    ("input_cost_per_token",), ("output_cost_per_token",),
    ("cache_read_input_token_cost", "input_cost_per_token_cache_hit"),
    ("cache_creation_input_token_cost",), ("cache_creation_input_token_cost_above_1hr",),
)  # fmt: skip
_DATE = re.compile(r"[-@](20\d{6}|20\d\d-\d\d-\d\d|\d{4})$|-v\d(?::\d)?$|-preview(?:-\d\d-\d\d)?$")

Entry = dict[str, list[float | None]]


def main(words: list[str]) -> int:
    """Write the table."""
    listed = json.loads(Path(words[0]).read_text(encoding="utf-8"))
    models = choose_names(read_models(listed))
    lines = ",\n".join(f"{json.dumps(name)}:{format_entry(models[name])}" for name in sorted(models))
    TARGET.write_text(f'{{"dated":"{words[1]}","models":{{\n{lines}\n}}}}\n', encoding="utf-8")
    print(f"Wrote {len(models)} models, {TARGET.stat().st_size:,} bytes, to {TARGET}.")
    return 0


def read_models(listed: dict[str, Any]) -> dict[str, tuple[str, Entry, int]]:
    """Return provider, prices and longest input of every chat model that has a price."""
    models = {}
    for name, facts in listed.items():
        if facts.get("mode") in MODES and not name.startswith("ft:") and (entry := read_entry(name, facts)):
            longest = facts.get("max_input_tokens")
            models[strip_ending(name.lower())] = (
                facts["litellm_provider"],
                entry,
                longest if isinstance(longest, int) else 0,
            )
    return models


def read_entry(name: str, facts: dict[str, Any]) -> Entry:
    """Return the lists of prices of one model, none if it is free or priced otherwise."""
    tiers = [tier for tier in facts.get("tiered_pricing", ()) if "range" in tier]
    base = read_list(tiers[0] if tiers else facts, "")
    if not base[0] or not base[1]:
        return {}
    entry = {"prices": base}
    entry |= {f"above_{int(tier['range'][0] / 1000)}k": read_list(tier, "", base) for tier in tiers[1:]}
    entry |= read_bands(facts, "", base, "")
    multiplier = facts.get("provider_specific_entry", {}).get("fast")
    if multiplier:
        entry["fast"] = [None if price is None else round(price * multiplier, 6) for price in base]
    elif facts.get("input_cost_per_token_priority"):
        entry["fast"] = read_list(facts, "_priority", base)
        entry |= read_bands(facts, "fast_", entry["fast"], "_priority")
    if "claude" in name:
        for prices in entry.values():  # Anthropic's rule: writing for an hour costs twice the input
            prices[4] = prices[4] or (prices[3] and round(2 * (prices[0] or 0), 6))
    return entry


def read_bands(facts: dict[str, Any], prefix: str, base: list[float | None], ending: str) -> Entry:
    """Return the prices above limits of the context."""
    pattern = re.compile(rf"input_cost_per_token_above_(\d+)k_tokens{ending}")
    found = {int(match[1]) for key in facts if (match := pattern.fullmatch(key))}
    return {f"{prefix}above_{limit}k": read_list(facts, f"_above_{limit}k_tokens{ending}", base) for limit in found}


def read_list(facts: dict[str, Any], ending: str, default: list[float | None] | None = None) -> list[float | None]:
    """Return the five prices per million tokens; one that is not named is that of the shorter context."""
    prices = []
    for index, names in enumerate(_FIELDS):
        stated = (facts.get(name + ending) for name in names)
        price = next((price for price in stated if isinstance(price, int | float)), None)
        shorter = default[index] if default else None
        is_named = price is not None and (default is None or shorter is not None)
        prices.append(round((price or 0) * 1e6, 6) if is_named else shorter)
    return prices


def choose_names(models: dict[str, tuple[str, Entry, int]]) -> dict[str, Entry]:
    """Return the vendors' own models by their plain names, and those of others that cost something else."""
    sellers: dict[str, list[tuple[int, str]]] = {}
    for name, (provider, _, _) in models.items():
        for plain in iter_plain_names(name):
            sellers.setdefault(plain, []).append((rank_seller(provider, plain), name))
    for _, listed, _ in models.values():
        check_bands(listed)
    chosen: dict[str, Entry] = {}
    for plain, ranked in sorted(sellers.items(), key=lambda item: (len(item[0]), item[0])):
        ranked.sort(
            key=lambda pair: (pair[0], strip_seller(pair[1]) != plain, -read_date(pair[1]), len(pair[1]), pair[1])
        )
        entry = choose_entry(models, ranked)
        if entry and not is_known(chosen, plain, entry):
            chosen[plain] = entry
    for alias, name in ALIASES.items():
        meant = find_entry(chosen, name)  # type: ignore[arg-type]
        if isinstance(meant, dict):
            chosen.setdefault(alias, meant)  # type: ignore[arg-type]
    for name in sorted(models, key=lambda name: (len(name), name)):
        if not is_known(chosen, name, models[name][1]):
            chosen[name] = models[name][1]
    return chosen


def iter_plain_names(name: str) -> Iterable[str]:
    """Yield a model's name without provider and region, and without its date."""
    yield (plain := strip_seller(name))
    undated = _DATE.sub("", _DATE.sub("", plain))
    if undated != plain and re.search(r"\d", undated):
        yield undated


def rank_seller(provider: str, name: str) -> int:
    """Return whose price counts first."""
    ranking = (*VENDORS, *RESELLERS) if "claude" in name or "gemini" in name else VENDORS
    return ranking.index(provider) if provider in ranking else NOBODY


def strip_seller(name: str) -> str:
    """Return a model's name without provider and region."""
    return re.sub(r"^(?:[a-z-]+\.)*", "", name.rsplit("/", 1)[-1])


def read_date(name: str) -> int:
    """Return the date in a model's name as a number, 0 without one."""
    found = _DATE.search(name)
    return int(found[1].replace("-", "")) if found and found[1] else 0


def choose_entry(models: dict[str, tuple[str, Entry, int]], ranked: list[tuple[int, str]]) -> Entry | None:
    """Return the prices of the best seller; of sellers that are nobody's vendor only if several agree."""
    _, best, longest = models[ranked[0][1]]
    same = [models[name] for _, name in ranked if models[name][1]["prices"][:2] == best["prices"][:2]]
    if ranked[0][0] == NOBODY:
        return best if len(same) == len(ranked) and len({provider for provider, _, _ in same}) > 1 else None
    entry = {**best, "prices": list(best["prices"])}
    for _, other, _ in (
        same if "claude" in ranked[0][1] else ()
    ):  # what the vendor no longer lists, from who sells the model at the same price
        for index, price in enumerate(other["prices"]):
            entry["prices"][index] = price if entry["prices"][index] is None else entry["prices"][index]
        reach = {key: prices for key, prices in other.items() if key.startswith("above_")}
        entry |= {key: prices for key, prices in reach.items() if key not in entry and 0 < longest <= read_limit(key)}
    return entry


def check_bands(entry: Entry) -> None:
    """Stop if a band is not told apart in the sums."""
    for key in entry:
        if "above" in key and read_limit(key) not in BANDS:
            raise SystemExit(f"{key} is no band yet. Add it to BANDS, and recompute the sums in a migration.")


def read_limit(key: str) -> int:
    """Return the limit of a band in tokens."""
    return int(key.rpartition("above_")[2].removesuffix("k")) * 1000


def is_known(chosen: dict[str, Entry], name: str, entry: Entry) -> bool:
    """Return whether the table already gives these prices; what a seller does not state counts as the same."""
    known = find_entry(chosen, name)  # type: ignore[arg-type]
    if not isinstance(known, dict):
        return False
    return all(
        key in known and all(ours in (theirs, None) for ours, theirs in zip(prices, known[key], strict=True))
        for key, prices in entry.items()
    )


def format_entry(entry: Entry) -> str:
    """Return the lists of a model as JSON, only the list if it is the only one."""
    lists = {key: trim_list(entry[key]) for key in sorted(entry, key=lambda key: (key != "prices", key))}
    return json.dumps(lists["prices"] if len(lists) == 1 else lists, separators=(",", ":"))


def trim_list(prices: list[float | None]) -> list[float]:
    """Return prices without what is not known at the end; between others it is the uncached price."""
    while prices[-1] is None:
        prices = prices[:-1]
    known = [prices[0] or 0.0 if price is None else price for price in prices]
    return [int(price) if price == int(price) else price for price in known]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
