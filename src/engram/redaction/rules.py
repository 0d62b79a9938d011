"""Known kinds of secrets: one line each, from which anchor, pattern and test value are made.

A shape is literal text with runs in braces: `{w36}` is 36 letters or digits, `{a20-64}` twenty to
sixty-four of another alphabet. No line contains a secret, so no scanner reports this file as a leak.
"""

from __future__ import annotations

import base64
import random
import re

from engram.platform.value import value

ALPHABETS = {
    "w": "A-Za-z0-9",
    "a": "A-Za-z0-9_-",
    "x": "A-Za-z0-9_",
    "b": "A-Za-z0-9+/",
    "p": "A-Za-z0-9+/%",  # base64 in a URL query
    "t": "A-Za-z0-9_.=-",
    "h": "0-9a-f",
    "u": "A-Z0-9",
    "l": "a-z0-9",
    "d": "0-9",
}
_RUN = re.compile(r"\{([a-z])(\d+)(?:-(\d+))?\}")
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
# A Discord token starts with the bot's number in base64.
_BOT_NUMBERS = sorted({base64.b64encode(b"%d0" % number).decode()[:3] for number in range(10, 100)})
UUID = "{h8}-{h4}-{h4}-{h4}-{h12}"


@value
class SecretRule:
    """One kind of secret: its shapes, and the words that must precede a common shape."""

    id: str
    shapes: tuple[str, ...]
    words: tuple[str, ...] = ()


def _make_rule(kind: str, *shapes: str, words: str = "") -> SecretRule:
    return SecretRule(id=kind, shapes=shapes, words=tuple(words.split()))


RULES = (
    _make_rule("aws-key-id", "AKIA{u16}", "ASIA{u16}", "ABIA{u16}", "ACCA{u16}"),
    _make_rule("aws-secret", "{b40}", words="aws_secret secret_access_key secretaccesskey aws"),
    _make_rule("aws-presigned", "X-Amz-Signature={h64}", "X-Amz-Security-Token={p60-2000}"),
    _make_rule("github", *(f"gh{kind}_{{w36-255}}" for kind in "pousr"), "github_pat_{x50-255}"),
    _make_rule(
        "gitlab", *(f"gl{kind}-{{t20-300}}" for kind in ("pat", "dt", "rt", "cbt", "ptt", "ft", "soat", "agent"))
    ),
    _make_rule("bitbucket", "ATBB{w32-40}", "ATCTT3x{t150-400}"),
    _make_rule("atlassian", "ATATT3x{t150-400}"),
    _make_rule("anthropic", "sk-ant-{a40-250}"),
    _make_rule("openai", *(f"sk-{kind}-{{a40-250}}" for kind in ("proj", "svcacct", "admin", "None")), "sk-{w32-64}"),
    _make_rule("openrouter", "sk-or-v1-{h64}"),
    _make_rule("langfuse", f"sk-lf-{UUID}"),
    _make_rule("langsmith", "lsv2_pt_{h32}_{h10}", "lsv2_sk_{h32}_{h10}"),
    _make_rule("xai", "xai-{w60-120}"),
    _make_rule("google-api", "AIza{a35}"),
    _make_rule("google-oauth", "GOCSPX-{a28}", "ya29.{a40-1000}", "1//0{a40-120}"),
    _make_rule("groq", "gsk_{w48-64}"),
    _make_rule("huggingface", "hf_{w30-64}", "api_org_{w30-64}"),
    _make_rule("replicate", "r8_{w37-40}"),
    _make_rule("perplexity", "pplx-{w40-64}"),
    _make_rule("nvidia", "nvapi-{a60-80}"),
    _make_rule("tavily", "tvly-{a28-64}"),
    _make_rule("firecrawl", "fc-{h32}"),
    _make_rule("cerebras", "csk-{l40-64}"),
    _make_rule("pinecone", "pcsk_{x50-90}"),
    _make_rule("jina", "jina_{x50-70}"),
    _make_rule("elevenlabs", "sk_{h48}"),
    _make_rule("slack", *(f"xox{kind}-{{a20-250}}" for kind in "abeoprs"), "xapp-{a40-250}"),
    _make_rule("slack-webhook", "hooks.slack.com/services/T{u8-12}/B{u8-12}/{w20-30}"),
    _make_rule("discord", *(f"{head}{{w20-25}}.{{a6}}.{{a27-40}}" for head in _BOT_NUMBERS)),
    _make_rule(
        "discord-webhook", "discord.com/api/webhooks/{d17-20}/{a60-90}", "discordapp.com/api/webhooks/{d17-20}/{a60-90}"
    ),
    _make_rule("teams-webhook", f".webhook.office.com/webhookb2/{UUID}@{UUID}/IncomingWebhook/{{h32}}"),
    _make_rule("telegram", "{d8-10}:AA{a32-34}"),
    _make_rule("stripe", *(f"{kind}_{mode}_{{w16-250}}" for kind in ("sk", "rk") for mode in ("live", "test", "prod"))),
    _make_rule("webhook-secret", "whsec_{b24-64}"),
    _make_rule("twilio", "SK{h32}", "AC{h32}", "{h32}", words="twilio"),
    _make_rule("sendgrid", "SG.{a20-24}.{a39-50}"),
    _make_rule("mailgun", "key-{h32}"),
    _make_rule("mailgun-key", "{h32}-{h8}-{h8}", words="mailgun"),
    _make_rule("mailchimp", "{h32}-us{d1-2}", words="mailchimp"),
    _make_rule("brevo", "xkeysib-{h64}-{w16}", "xsmtpsib-{h64}-{w16}"),
    _make_rule("resend", "re_{w8}_{w24}"),
    _make_rule("npm", "npm_{w36}"),
    _make_rule("pypi", "pypi-AgE{a50-300}"),
    _make_rule("rubygems", "rubygems_{h48}"),
    _make_rule("crates", "cio{w32}", words="crates cargo"),
    _make_rule("docker", "dckr_pat_{a27}", "dckr_oat_{a32}"),
    _make_rule("digitalocean", "dop_v1_{h64}", "doo_v1_{h64}", "dor_v1_{h64}"),
    _make_rule("heroku", UUID, words="heroku"),
    _make_rule("heroku-key", "HRKU-{a36-64}"),
    _make_rule("vercel", "{w24}", words="vercel"),
    _make_rule("vercel-token", "vcp_{w24-80}", "vercel_blob_rw_{x40-80}"),
    _make_rule("netlify", "nfp_{w36-40}", "nfc_{w36-40}"),
    _make_rule("netlify-token", "{a40-46}", words="netlify"),
    _make_rule("cloudflare", "{a40}", "{h37}", words="cloudflare cf_api cf_token"),
    _make_rule("cloudflare-ca", "v1.0-{h24}-{h146}"),
    _make_rule("fly", "fo1_{a40-50}", "fm2_{b100-1000}"),
    _make_rule("render", "rnd_{w28-40}"),
    _make_rule("railway", UUID, words="railway"),
    _make_rule("neon", "napi_{l60-70}"),
    _make_rule("databricks", "dapi{h32}"),
    _make_rule("azure-storage", "AccountKey={b86}==", "SharedAccessKey={b43}="),
    _make_rule("azure-sas", "sig={p43-90}"),
    _make_rule("azure-ad", *(f"{{a3}}{digit}Q~{{t31-34}}" for digit in "78")),
    _make_rule("azure", "{h32}", "{w84}", words="azure ocp-apim"),
    _make_rule("alibaba", "LTAI{w16-24}"),
    _make_rule("tencent", "AKID{w32}"),
    _make_rule("linear", "lin_api_{w40}", "lin_oauth_{w40-64}"),
    _make_rule("notion", "secret_{w43}", "ntn_{w44-50}"),
    _make_rule("figma", "figd_{a40-44}", "figo_{a40-44}"),
    _make_rule("airtable", "pat{w14}.{h64}", words="airtable"),
    _make_rule("asana", "{d1}/{d16}:{h32}", words="asana"),
    _make_rule("sentry", "sntryu_{h64}", "sntrys_eyJ{t60-400}"),
    _make_rule("datadog", "{h32}", "{h40}", words="datadog dd_api dd_app dd-api"),
    _make_rule("newrelic", "NRAK-{u27}", "NRJS-{h19}"),
    _make_rule("grafana", "glc_{b32-400}", "glsa_{w32}_{h8}"),
    _make_rule("posthog", "phx_{a40-50}"),
    _make_rule("supabase", "sbp_{h40}", "sb_secret_{a31-40}"),
    _make_rule("planetscale", "pscale_tkn_{a32-64}", "pscale_pw_{a32-64}"),
    _make_rule("shopify", *(f"shp{kind}_{{h32}}" for kind in ("at", "ss", "ca", "pa", "tka"))),
    _make_rule("square", "sq0atp-{a22}", "sq0csp-{a43}", "EAAA{a60}"),
    _make_rule("facebook", "EAAG{w80-300}", "EAAC{w80-300}", "EAAB{w80-300}"),
    _make_rule("postman", "PMAK-{h24}-{h34}"),
    _make_rule("terraform", "{w14}.atlasv1.{a60-80}"),
    _make_rule("vault", "hvs.{a24-200}", "hvb.{a90-300}", "hvr.{a24-200}"),
    _make_rule("doppler", "dp.pt.{w40-44}", "dp.st.{t40-70}", "dp.sa.{w40-44}"),
    _make_rule("pulumi", "pul-{h40}"),
    _make_rule("tailscale", "tskey-auth-{a20-64}", "tskey-api-{a20-64}", "tskey-client-{a20-64}"),
    _make_rule("onepassword", "ops_eyJ{t200-2000}"),
    _make_rule("age", "AGE-SECRET-KEY-1{u58}"),
    _make_rule("hubspot", f"pat-na1-{UUID}", f"pat-eu1-{UUID}"),
    _make_rule("launchdarkly", f"api-{UUID}", f"sdk-{UUID}", words="launchdarkly launch_darkly"),
    _make_rule("dropbox", "sl.{a130-200}", "sl.u.{a130-2000}"),
    _make_rule("contentful", "CFPAT-{a43}"),
    _make_rule("mapbox", "sk.eyJ{a40-120}.{a20-24}"),
    _make_rule("circleci", "CCIPAT_{w22}_{h40}"),
    _make_rule("buildkite", "bkua_{h40}"),
    _make_rule("sonar", "sqp_{h40}", "squ_{h40}", "sqa_{h40}"),
    _make_rule("sourcegraph", "sgp_{h16}_{h40}", "sgp_local_{h40}"),
    _make_rule("jfrog", "AKCp{w60-75}", "cmVmdGtu{w56}"),
    _make_rule("prefect", "pnu_{w36}", "pnb_{w36}"),
    _make_rule("typeform", "tfp_{a40-62}"),
    _make_rule("plaid", f"access-production-{UUID}", f"access-sandbox-{UUID}"),
    _make_rule("twitter", "AAAAAAAAAAAAAAAAAA{p70-130}", words="twitter"),
    _make_rule("jwt", "eyJ{a10-4000}.eyJ{a10-8000}.{a10-2000}"),
)

# A name that ends in one of these, or continues a little, holds a secret; word pairs match in every spelling.
LABELS = (
    "token", "secret", "password", "passwd", "pwd", "passphrase", "credential", "credentials", "authorization",
    "api key", "access key", "private key", "signing key", "encryption key", "auth key", "account key",
    "service key", "master key", "license key", "jwt", "sessionid", "phpsessid", "connect.sid", "npm _auth",
)  # fmt: skip
# In base64 an anchor has three forms, by its offset in a group of three bytes; these are anchors there too.
BASE64_ANCHORS = ("_KEY=", "_key=", "_KEY:", "_key:", '_key"', "_pass", "_PASS", "_URL=", "_url=")


def list_spellings(label: str) -> set[str]:
    """Return the spellings of a one- or two-word name in code, configuration and prose."""
    first, _, last = label.partition(" ")
    if not last:
        return {label, label.upper(), label.capitalize()}
    joined = {first + mark + last for mark in ("", "_", "-", " ", ".")}
    camel = {first + last.capitalize(), first.capitalize() + last.capitalize()}
    titles = {first.capitalize() + mark + last.capitalize() for mark in ("-", "_", " ")}
    return joined | {word.upper() for word in joined} | camel | titles | {first.capitalize() + " " + last}


def list_base64_forms(word: str) -> list[tuple[int, str]]:
    """Return the base64 forms of a word, each with its offset in a group of four."""
    forms = []
    for offset in range(3):
        coded = base64.b64encode(b"\0" * offset + word.encode()).decode()
        first = (0, 2, 3)[offset]
        forms.append((first, coded[first : (offset + len(word)) * 8 // 6]))
    return forms


def split_shape(shape: str) -> tuple[str, tuple[str, ...]]:
    """Return the part of a shape before its anchor, and the spellings of the anchor, if it has one."""
    at, literal = next(((at, text) for at, text in _find_literals(shape) if len(text) > 2), (0, ""))
    plain = literal[: len(literal) - len(literal.lstrip(_PLAIN))]
    if not literal:
        return "", ()
    return shape[:at], (plain,) if plain == literal or len(plain) > 3 else tuple(list_url_spellings(literal))


def _find_literals(shape: str) -> list[tuple[int, str]]:
    ends = [0, *(run.end() for run in _RUN.finditer(shape))]
    starts = [*(run.start() for run in _RUN.finditer(shape)), len(shape)]
    return [(start, shape[start:end]) for start, end in zip(ends, starts, strict=True)]


def list_url_spellings(text: str) -> list[str]:
    """Return a text plain and URL-encoded."""
    return [
        text,
        *(
            "".join(mark if mark in _PLAIN else f"%{ord(mark):02{letter_case}}" for mark in text)
            for letter_case in "Xx"
        ),
    ]


def build_pattern(shape: str) -> str:
    """Return a pattern for a value of this shape; runs are possessive, so it never backtracks."""
    parts = []
    at = 0
    for run in _RUN.finditer(shape):
        parts.append(_build_literal_pattern(shape[at : run.start()]))
        least, most = run[2], run[3] or run[2]
        parts.append(f"[{ALPHABETS[run[1]]}]{{{least},{most}}}+")
        at = run.end()
    return "".join(parts) + _build_literal_pattern(shape[at:])


def _build_literal_pattern(text: str) -> str:
    """Return a pattern for literal text, plain or URL-encoded."""
    return "".join(
        re.escape(mark) if mark in _PLAIN else "(?:" + "|".join(map(re.escape, list_url_spellings(mark))) + ")"
        for mark in text
    )


def make_sample(shape: str, seed: int = 0) -> str:
    """Return a made-up value of this shape, deterministic by seed."""
    source = random.Random(f"{shape}{seed}")  # noqa: S311  nobody relies on it
    return _RUN.sub(lambda run: _pick_letters(source, run[1], int(run[2])), shape)


def _pick_letters(source: random.Random, alphabet: str, count: int) -> str:
    letters = [chr(code) for code in range(33, 127) if re.match(f"[{ALPHABETS[alphabet]}]", chr(code))]
    letters = [letter for letter in letters if letter.isalnum()]
    return "".join(source.choice(letters) for _ in range(count))
