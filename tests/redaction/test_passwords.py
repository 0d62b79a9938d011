"""A password after a clear label is removed, whatever punctuation it has; placeholders stay."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable

import pytest

from engram.redaction.redactor import Redactor
from engram.redaction.rules import make_sample

_ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "shell-safe punctuation": _ALNUM + "!#$%^*-_+.",
    "dollars": _ALNUM + "$$$$$$",
    "sentence marks": _ALNUM + "!?.:-_",
    "letters and digits": _ALNUM,
    "small letters and digits": string.ascii_lowercase + string.digits,
}
FORMS: dict[str, Callable[[str], str]] = {
    "env": lambda one: f"DB_PASSWORD={one}",
    "export": lambda one: f"A=1\nexport DB_PASSWORD={one}\nB=2",
    "short name": lambda one: f"SMTP_PASS={one}",
    "json": lambda one: json.dumps({"user": "app", "password": one, "port": 5432}),
    "json in json": lambda one: json.dumps({"text": json.dumps({"password": one})}),
    "yaml": lambda one: f"db:\n  user: app\n  password: {one}\n  port: 5432",
    "quoted": lambda one: f'connect(host, password="{one}", port=5432)',
    "jdbc": lambda one: f"jdbc:postgresql://db:5432/app?user=app&password={one}&ssl=true",
    "ado": lambda one: f"Server=db;Database=app;User Id=app;Password={one};Encrypt=true",
    "psql": lambda one: f"PGPASSWORD={one} psql -h db -U app",
    "curl": lambda one: f"curl -u admin:{one} https://host/api",
    "flag": lambda one: f"tool login --password {one} --verbose",
    "url": lambda one: f"psql postgres://app:{one}@db.internal:5432/app",
    "mysql": lambda one: f"mysql -h db -u root -p{one} app",
    "sshpass": lambda one: f"sshpass -p {one} ssh root@host",
    "netrc": lambda one: f"machine host login app password {one}",
    "netrc lines": lambda one: f"machine host\n  login app\n  password {one}\n",
    "next line": lambda one: f"password:\n{one}\n",
    "next line, escaped": lambda one: json.dumps({"text": f"password:\n{one}\nok"}),
}


def _draw(source: random.Random, alphabet: str) -> str:
    """Return a value with a letter and two digits, as password rules require."""
    while True:
        drawn = "".join(source.choices(alphabet, k=14))
        if sum(map(str.isdigit, drawn)) > 1 and any(map(str.isalpha, drawn)):
            return drawn


def _remains(value: str, text: str) -> bool:
    """Return whether eight consecutive characters of a value are still there."""
    coded = json.dumps(value)[1:-1]
    return any(coded[at : at + 8] in text for at in range(len(coded) - 7))


@pytest.mark.parametrize("form", FORMS)
def test_a_random_password_is_removed_whatever_its_alphabet(form: str, thorough: bool) -> None:
    left = []
    for name, alphabet in ALPHABETS.items():
        source = random.Random(f"{form} {name}")
        values = [_draw(source, alphabet) for _ in range(150 if thorough else 50)]
        left += [one for one in values if _remains(one, Redactor(b"key").redact(FORMS[form](one)))]
    assert not left


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_quoted_password_may_hold_any_punctuation(quote: str) -> None:
    source = random.Random(quote)
    alphabet = _ALNUM + string.punctuation.replace(quote, "").replace("\\", "")
    values = [_draw(source, alphabet) for _ in range(400)]
    texts = [f"connect(password={quote}{one}{quote}, port=1)" for one in values]
    left = [one for one, text in zip(values, texts, strict=True) if _remains(one, Redactor(b"key").redact(text))]
    assert not left


def test_a_json_string_may_hold_any_punctuation() -> None:
    source = random.Random(3)
    values = [_draw(source, _ALNUM + string.punctuation) for _ in range(400)]
    texts = [json.dumps({"password": one, "port": 1}) for one in values]
    left = [one for one, text in zip(values, texts, strict=True) if _remains(one, Redactor(b"key").redact(text))]
    assert not left


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('password="correct-horse-battery"', "correct-horse-battery"),
        ("postgres://app:P@ssw0rd!2024@db/app", "ssw0rd!2024"),
        ("redis://:p#ss/w0rd?9x@cache:6379/0", "ss/w0rd"),
        ("DB_PASSWORD=pa$$W0rd9xKq2", "W0rd9xKq2"),
        ("api_key: >-\n  " + make_sample("{h40}"), make_sample("{h40}")),
        ("api_key: |\n  " + make_sample("{w32}") + "\nother: 1", make_sample("{w32}")),
        ("said \\u0022" + make_sample("ghp_{w36}") + "\\u0022", make_sample("ghp_{w36}")),
        ("{\\u0022password\\u0022:\\u0022Xk29!dkQ8zz\\u0022}", "Xk29!dkQ8zz"),
        ("token" + make_sample("ghp_{w36}"), make_sample("ghp_{w36}")),
        ("my_" + make_sample("glpat-{w20}"), make_sample("glpat-{w20}")),
        ("**Password:** Xk29!dkQ8zz", "Xk29!dkQ8zz"),
        ("client_secret=Xk29!dk$Q8zz", "Xk29!dk$Q8zz"),
        ("mysqldump --single-transaction -uroot -p'Xk29!dkQ8zz' app", "Xk29!dkQ8zz"),
        ("redis-cli -h cache -a Xk29!dkQ8zz ping", "Xk29!dkQ8zz"),
        ("docker login -u ci -p Xk29!dkQ8zz registry", "Xk29!dkQ8zz"),
        ("smtpPass: 'Xk29!dkQ8zz',", "Xk29!dkQ8zz"),
    ],
)
def test_a_password_in_an_unusual_place_is_removed(text: str, secret: str) -> None:
    assert secret not in Redactor(b"key").redact(text)


@pytest.mark.parametrize("name", ["DB_PASSWORD", "export PGPASSWORD", "SMTP_PASS"])
def test_a_value_in_an_environment_file_extends_to_the_end_of_its_line(name: str) -> None:
    source = random.Random(name)
    values = [_draw(source, _ALNUM + "!#$%&*+,-./:;?@[]^_|~") for _ in range(300)]
    texts = [f"A=1\n{name}={one}\nB=2" for one in values]
    left = [one for one, text in zip(values, texts, strict=True) if _remains(one, Redactor(b"key").redact(text))]
    assert not left


HARMLESS = (
    # Variables and templates
    "DB_PASSWORD=$DB_PASSWORD_V2",
    'export DB_PASSWORD="${DB_PASSWORD:-changeme1}"',
    'PASSWORD="$(openssl rand -base64 32)"',
    "PASSWORD=$(aws secretsmanager get-secret-value --secret-id db1)",
    "set PASSWORD=%DB_PASSWORD2%",
    "$env:DB_PASSWORD = $env:CI_DB_PASSWORD2",
    'mysql -u root -p"$MYSQL_ROOT_PASSWORD" app1',
    "mysql -u root -p${MYSQL_ROOT_PASSWORD1} app1",
    "mysql -h 10.0.0.1 -P 3306 -u root -p app1",
    "sshpass -p $SSHPASS2 ssh root@host1",
    "sshpass -f /run/secrets/ssh1 ssh root@host1",
    "docker login -u ci -p $CI_JOB_TOKEN2 registry",
    "curl -u $USER1:$PASS1 https://host",
    'curl -u "user:${API_TOKEN_2}" https://host',
    "postgres://app:${DB_PASSWORD}@db:5432/app",
    "postgres://app:$DB_PASSWORD@db:5432/app",
    "postgres://app:{password}@db:5432/app",
    "postgres://user:password@localhost:5432/app",
    "postgres://app:<password>@db/app",
    'f"postgres://{user}:{password}@{host}:{port1}/{name}"',
    '"postgres://%s:%s@%s/%s" % (user, password, host, name1)',
    "password: {{ vault_db_password2 }}",
    "password: '{{ db.password_v2 }}'",
    "password: !vault db_password2",
    "password: !secret mqtt_password2",
    "password: !Ref DbPassword2",
    "password: *default_password2",
    "password: &db_password2",
    "password: @password2",
    "WHERE password = :password1 AND token = @token1",
    "INSERT INTO users (name, password) VALUES ($1, $2)",
    "password = #{user.password1}",
    'password="#{ENV[\'DB_PASSWORD2\']}"',
    "password: <your-password-1>",
    "--password <PASSWORD1> --user <USER1>",
    "docker run -e POSTGRES_PASSWORD=<Your_Password1> -p 5433:5432 -d postgres:14",
    "TOKEN=$(echo $response | jq -r '.access_token2')",
    'sshpass -p "${{ secrets.VM_PASSWORD2 }}" ssh root@host',
    'f"sshpass -p {password2} ssh-copy-id root@{host}"',
    'client_secret=%s&username=%s&password=%s&scope=%s", client_id2',
    "<Home location={location} token={token2} password={state.password2}/>",
    # Code
    "client_secret: cfg.adminClientSecret2,",
    "google_client_secret: &str, retries: u32",
    "render_pass: wgpu.RenderPassEncoder2, second_pass: bool",
    "new_pass: str = generate_password(length=12)",
    "custom_pre_pass: torch._inductor.graph_pass.PassType2 = None",
    "const token=bearer(req,payload2);if(!token)throw error('X1')",
    'Fatalf("final=%v token=%v audio=%d", got1, token1, frames)',
    "password = os.environ['DB_PASSWORD2']",
    'password = os.getenv("DB_PASSWORD2", "")',
    "password=config.database2.password,",
    "password=args.mysql_password,",
    "password=cfg.xyz_passwd, secret=opts.jwt_pwd)",
    "password=cfg.smtp_pass,",
    "'X-Amz-Credential': '%s/%s/%s/%s/aws4_request' % (",
    "const password = req.body.password2;",
    "self.password = hash_password(password, salt2)",
    "password = base64.b64decode(value1)",
    "$password = $this->config['password1'];",
    "$password = $_POST['password1'];",
    "char *password = *argv1;",
    "if (password != password2) { fail(12) }",
    "def login(user: str, password: str | None = None) -> Token2:",
    "password: Optional[str] = None",
    "private password: FormControl<string2>;",
    "password = forms.CharField(min_length=8)",
    "password VARCHAR(255) NOT NULL",
    "showPassword=!e.showPassword),n(1)",
    'password_regex = "^(?=.*[A-Z])(?=.*[0-9]).{8,}$"',
    'password: z.string().min(8).regex(/[A-Z]+/)',
    "token = tokens[index2]",
    'token: "T_VARIABLE_2"',
    "tokenStart=i+1}}return result1",
    'publicKeyToken="1fc8b3b9a1e18e3b"',
    "let secret = Secret::new(&config.secret_key2);",
    "api_key=settings.OPENAI_API_KEY2,",
    '<input type="password" name="password1" id="password1" autocomplete="current-password">',
    "$('#password').val(); password: '#password-field2'",
    # Configuration, vaults and tests
    "password:\n  secretKeyRef:\n    name: db-credentials1\n    key: password2",
    "password:\n  type: string\n  minLength: 8",
    "token:\n  description: The token2 to use",
    "DB_PASSWORD=\nDB_PORT=5432\nDB_NAME=app1",
    "api_key: >-\n  The key of the api2, see the wiki",
    "password: vault:secret/data/db1#password",
    "password: op://vault1/database/password",
    "password: secret/data/prod/database1",
    "password: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db1",
    "PASSWORD=********1",
    "password: null\ntoken: true\nsecret: None",
    "'password' => 'required|string|min:8|confirmed',",
    "--- PASS: TestLogin2/with_password_(fallback_to_1) (0.00s)",
    "PASS tests/login2.test.js, pass: 12/15, fail: 3",
    'prompt --pwd "D:/oh-my-posh2"',
    # Prose
    "password: see the wiki, page 12",
    "Password: at least 8 characters, 1 digit",
    "The login and password fields2 are required",
    "The password is stored in config/database2.yml",
    "If the token is expired, HTTP/1.1 401 is answered",
    "https://example.com:8080/@scope/package1@2.0.0",
    "npm install https://registry1/@types/node@18 user@host1:/path",
    "task-management-system-for-teams2 risk-assessment-and-mitigation-plan-2024",
    "see mysql docs at page -p12 and unzip -p archive1.zip",
)  # fmt: skip


def test_placeholders_for_a_password_stay() -> None:
    assert [text for text in HARMLESS if Redactor(b"key").redact(text) is not text] == []
