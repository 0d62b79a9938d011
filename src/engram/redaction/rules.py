"""The secrets we know by their looks: one line each, from which anchor, pattern and test value are made.

A shape is literal text with runs in braces: `{w36}` is 36 letters or digits, `{a20-64}` twenty to
sixty-four of another alphabet. No line holds a secret, so no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import random
import re

from engram.value import value

ALPHABETS = {
    "w": "A-Za-z0-9",
    "a": "A-Za-z0-9_-",
    "x": "A-Za-z0-9_",
    "b": "A-Za-z0-9+/",
    "p": "A-Za-z0-9+/%",  # base64 as it stands in a query
    "t": "A-Za-z0-9_.=-",
    "h": "0-9a-f",
    "u": "A-Z0-9",
    "l": "a-z0-9",
    "d": "0-9",
}
_RUN = re.compile(r"\{([a-z])(\d+)(?:-(\d+))?\}")
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
# A Discord token begins with its bot's number in base64.
_BOT_NUMBERS = sorted({base64.b64encode(b"%d0" % number).decode()[:3] for number in range(10, 100)})
UUID = "{h8}-{h4}-{h4}-{h4}-{h12}"


@value
class Rule:
    """One kind of secret: the shapes it takes, and the words that must precede a shape anyone could have."""

    id: str
    shapes: tuple[str, ...]
    words: tuple[str, ...] = ()


def _rule(kind: str, *shapes: str, near: str = "") -> Rule:
    return Rule(id=kind, shapes=shapes, words=tuple(near.split()))


RULES = (
    _rule("aws-key-id", "AKIA{u16}", "ASIA{u16}", "ABIA{u16}", "ACCA{u16}"),
    _rule("aws-secret", "{b40}", near="aws_secret secret_access_key secretaccesskey aws"),
    _rule("aws-presigned", "X-Amz-Signature={h64}", "X-Amz-Security-Token={p60-2000}"),
    _rule("github", *(f"gh{kind}_{{w36-255}}" for kind in "pousr"), "github_pat_{x50-255}"),
    _rule("gitlab", *(f"gl{kind}-{{t20-300}}" for kind in ("pat", "dt", "rt", "cbt", "ptt", "ft", "soat", "agent"))),
    _rule("bitbucket", "ATBB{w32-40}", "ATCTT3x{t150-400}"),
    _rule("atlassian", "ATATT3x{t150-400}"),
    _rule("anthropic", "sk-ant-{a40-250}"),
    _rule("openai", *(f"sk-{kind}-{{a40-250}}" for kind in ("proj", "svcacct", "admin", "None")), "sk-{w32-64}"),
    _rule("openrouter", "sk-or-v1-{h64}"),
    _rule("langfuse", f"sk-lf-{UUID}"),
    _rule("langsmith", "lsv2_pt_{h32}_{h10}", "lsv2_sk_{h32}_{h10}"),
    _rule("xai", "xai-{w60-120}"),
    _rule("google-api", "AIza{a35}"),
    _rule("google-oauth", "GOCSPX-{a28}", "ya29.{a40-1000}", "1//0{a40-120}"),
    _rule("groq", "gsk_{w48-64}"),
    _rule("huggingface", "hf_{w30-64}", "api_org_{w30-64}"),
    _rule("replicate", "r8_{w37-40}"),
    _rule("perplexity", "pplx-{w40-64}"),
    _rule("nvidia", "nvapi-{a60-80}"),
    _rule("tavily", "tvly-{a28-64}"),
    _rule("firecrawl", "fc-{h32}"),
    _rule("cerebras", "csk-{l40-64}"),
    _rule("pinecone", "pcsk_{x50-90}"),
    _rule("jina", "jina_{x50-70}"),
    _rule("elevenlabs", "sk_{h48}"),
    _rule("slack", *(f"xox{kind}-{{a20-250}}" for kind in "abeoprs"), "xapp-{a40-250}"),
    _rule("slack-webhook", "hooks.slack.com/services/T{u8-12}/B{u8-12}/{w20-30}"),
    _rule("discord", *(f"{head}{{w20-25}}.{{a6}}.{{a27-40}}" for head in _BOT_NUMBERS)),
    _rule(
        "discord-webhook", "discord.com/api/webhooks/{d17-20}/{a60-90}", "discordapp.com/api/webhooks/{d17-20}/{a60-90}"
    ),
    _rule("teams-webhook", f".webhook.office.com/webhookb2/{UUID}@{UUID}/IncomingWebhook/{{h32}}"),
    _rule("telegram", "{d8-10}:AA{a32-34}"),
    _rule("stripe", *(f"{kind}_{mode}_{{w16-250}}" for kind in ("sk", "rk") for mode in ("live", "test", "prod"))),
    _rule("webhook-secret", "whsec_{b24-64}"),
    _rule("twilio", "SK{h32}", "AC{h32}", "{h32}", near="twilio"),
    _rule("sendgrid", "SG.{a20-24}.{a39-50}"),
    _rule("mailgun", "key-{h32}"),
    _rule("mailgun-key", "{h32}-{h8}-{h8}", near="mailgun"),
    _rule("mailchimp", "{h32}-us{d1-2}", near="mailchimp"),
    _rule("brevo", "xkeysib-{h64}-{w16}", "xsmtpsib-{h64}-{w16}"),
    _rule("resend", "re_{w8}_{w24}"),
    _rule("npm", "npm_{w36}"),
    _rule("pypi", "pypi-AgE{a50-300}"),
    _rule("rubygems", "rubygems_{h48}"),
    _rule("crates", "cio{w32}", near="crates cargo"),
    _rule("docker", "dckr_pat_{a27}", "dckr_oat_{a32}"),
    _rule("digitalocean", "dop_v1_{h64}", "doo_v1_{h64}", "dor_v1_{h64}"),
    _rule("heroku", UUID, near="heroku"),
    _rule("heroku-key", "HRKU-{a36-64}"),
    _rule("vercel", "{w24}", near="vercel"),
    _rule("vercel-token", "vcp_{w24-80}", "vercel_blob_rw_{x40-80}"),
    _rule("netlify", "nfp_{w36-40}", "nfc_{w36-40}"),
    _rule("netlify-token", "{a40-46}", near="netlify"),
    _rule("cloudflare", "{a40}", "{h37}", near="cloudflare cf_api cf_token"),
    _rule("cloudflare-ca", "v1.0-{h24}-{h146}"),
    _rule("fly", "fo1_{a40-50}", "fm2_{b100-1000}"),
    _rule("render", "rnd_{w28-40}"),
    _rule("railway", UUID, near="railway"),
    _rule("neon", "napi_{l60-70}"),
    _rule("databricks", "dapi{h32}"),
    _rule("azure-storage", "AccountKey={b86}==", "SharedAccessKey={b43}="),
    _rule("azure-sas", "sig={p43-90}"),
    _rule("azure-ad", *(f"{{a3}}{digit}Q~{{t31-34}}" for digit in "78")),
    _rule("azure", "{h32}", "{w84}", near="azure ocp-apim"),
    _rule("alibaba", "LTAI{w16-24}"),
    _rule("tencent", "AKID{w32}"),
    _rule("linear", "lin_api_{w40}", "lin_oauth_{w40-64}"),
    _rule("notion", "secret_{w43}", "ntn_{w44-50}"),
    _rule("figma", "figd_{a40-44}", "figo_{a40-44}"),
    _rule("airtable", "pat{w14}.{h64}", near="airtable"),
    _rule("asana", "{d1}/{d16}:{h32}", near="asana"),
    _rule("sentry", "sntryu_{h64}", "sntrys_eyJ{t60-400}"),
    _rule("datadog", "{h32}", "{h40}", near="datadog dd_api dd_app dd-api"),
    _rule("newrelic", "NRAK-{u27}", "NRJS-{h19}"),
    _rule("grafana", "glc_{b32-400}", "glsa_{w32}_{h8}"),
    _rule("posthog", "phx_{a40-50}"),
    _rule("supabase", "sbp_{h40}", "sb_secret_{a31-40}"),
    _rule("planetscale", "pscale_tkn_{a32-64}", "pscale_pw_{a32-64}"),
    _rule("shopify", *(f"shp{kind}_{{h32}}" for kind in ("at", "ss", "ca", "pa", "tka"))),
    _rule("square", "sq0atp-{a22}", "sq0csp-{a43}", "EAAA{a60}"),
    _rule("facebook", "EAAG{w80-300}", "EAAC{w80-300}", "EAAB{w80-300}"),
    _rule("postman", "PMAK-{h24}-{h34}"),
    _rule("terraform", "{w14}.atlasv1.{a60-80}"),
    _rule("vault", "hvs.{a24-200}", "hvb.{a90-300}", "hvr.{a24-200}"),
    _rule("doppler", "dp.pt.{w40-44}", "dp.st.{t40-70}", "dp.sa.{w40-44}"),
    _rule("pulumi", "pul-{h40}"),
    _rule("tailscale", "tskey-auth-{a20-64}", "tskey-api-{a20-64}", "tskey-client-{a20-64}"),
    _rule("onepassword", "ops_eyJ{t200-2000}"),
    _rule("age", "AGE-SECRET-KEY-1{u58}"),
    _rule("hubspot", f"pat-na1-{UUID}", f"pat-eu1-{UUID}"),
    _rule("launchdarkly", f"api-{UUID}", f"sdk-{UUID}", near="launchdarkly launch_darkly"),
    _rule("dropbox", "sl.{a130-200}", "sl.u.{a130-2000}"),
    _rule("contentful", "CFPAT-{a43}"),
    _rule("mapbox", "sk.eyJ{a40-120}.{a20-24}"),
    _rule("circleci", "CCIPAT_{w22}_{h40}"),
    _rule("buildkite", "bkua_{h40}"),
    _rule("sonar", "sqp_{h40}", "squ_{h40}", "sqa_{h40}"),
    _rule("sourcegraph", "sgp_{h16}_{h40}", "sgp_local_{h40}"),
    _rule("jfrog", "AKCp{w60-75}", "cmVmdGtu{w56}"),
    _rule("prefect", "pnu_{w36}", "pnb_{w36}"),
    _rule("typeform", "tfp_{a40-62}"),
    _rule("plaid", f"access-production-{UUID}", f"access-sandbox-{UUID}"),
    _rule("twitter", "AAAAAAAAAAAAAAAAAA{p70-130}", near="twitter"),
    _rule("jwt", "eyJ{a10-4000}.eyJ{a10-8000}.{a10-2000}"),
)

# A name that ends in one of these, or goes on a little, holds a secret; a pair is written in every way.
LABELS = (
    "token", "secret", "password", "passwd", "pwd", "passphrase", "credential", "credentials", "authorization",
    "api key", "access key", "private key", "signing key", "encryption key", "auth key", "account key",
    "service key", "master key", "license key", "jwt", "sessionid", "phpsessid", "connect.sid", "npm _auth",
)  # fmt: skip
# In base64 every anchor shows through whichever byte of three it begins at; there, these are anchors too.
HIDDEN = ("_KEY=", "_key=", "_KEY:", "_key:", '_key"', "_pass", "_PASS", "_URL=", "_url=")


def spellings(label: str) -> set[str]:
    """Return the ways a name of one or two words is written in code, configuration and prose."""
    first, _, last = label.partition(" ")
    if not last:
        return {label, label.upper(), label.capitalize()}
    joined = {first + mark + last for mark in ("", "_", "-", " ", ".")}
    camel = {first + last.capitalize(), first.capitalize() + last.capitalize()}
    titles = {first.capitalize() + mark + last.capitalize() for mark in ("-", "_", " ")}
    return joined | {word.upper() for word in joined} | camel | titles | {first.capitalize() + " " + last}


def encodings(word: str) -> list[tuple[int, str]]:
    """Return what a word looks like inside base64, with how far into a group of four it then begins."""
    found = []
    for offset in range(3):
        coded = base64.b64encode(b"\0" * offset + word.encode()).decode()
        first = (0, 2, 3)[offset]
        found.append((first, coded[first : (offset + len(word)) * 8 // 6]))
    return found


def split(shape: str) -> tuple[str, tuple[str, ...]]:
    """Return what stands before the text a shape is found by, and the spellings of that text; none, if it has none."""
    at, literal = next(((at, text) for at, text in _literals(shape) if len(text) > 2), (0, ""))
    plain = literal[: len(literal) - len(literal.lstrip(_PLAIN))]
    if not literal:
        return "", ()
    return shape[:at], (plain,) if plain == literal or len(plain) > 3 else tuple(quoted(literal))


def _literals(shape: str) -> list[tuple[int, str]]:
    ends = [0, *(run.end() for run in _RUN.finditer(shape))]
    starts = [*(run.start() for run in _RUN.finditer(shape)), len(shape)]
    return [(start, shape[start:end]) for start, end in zip(ends, starts, strict=True)]


def quoted(text: str) -> list[str]:
    """Return a text plain and as a query writes it."""
    return [text, *("".join(mark if mark in _PLAIN else f"%{ord(mark):02{x}}" for mark in text) for x in "Xx")]


def pattern(shape: str) -> str:
    """Return a pattern that reads a value of this shape, each run possessively, so that it never goes back."""
    parts = []
    at = 0
    for run in _RUN.finditer(shape):
        parts.append(_literal(shape[at : run.start()]))
        least, most = run[2], run[3] or run[2]
        parts.append(f"[{ALPHABETS[run[1]]}]{{{least},{most}}}+")
        at = run.end()
    return "".join(parts) + _literal(shape[at:])


def _literal(text: str) -> str:
    """Return literal text as it stands plain or in a query, where marks are written as numbers."""
    return "".join(
        re.escape(mark) if mark in _PLAIN else "(?:" + "|".join(map(re.escape, quoted(mark))) + ")" for mark in text
    )


def sample(shape: str, seed: int = 0) -> str:
    """Return a made-up value of this shape, the same for the same seed."""
    source = random.Random(f"{shape}{seed}")  # noqa: S311  nobody relies on it
    return _RUN.sub(lambda run: _letters(source, run[1], int(run[2])), shape)


def _letters(source: random.Random, alphabet: str, count: int) -> str:
    letters = [chr(code) for code in range(33, 127) if re.match(f"[{ALPHABETS[alphabet]}]", chr(code))]
    letters = [letter for letter in letters if letter.isalnum()]
    return "".join(source.choice(letters) for _ in range(count))
