"""No secret passes, and ordinary text does."""

import base64
import json
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, SecretStr

from runtime.redact import MASK, Redactor, looks_secret, secrets_of

SECRET = 'pa"ss wörd/42\\'


@pytest.mark.parametrize(
    "shown",
    [
        SECRET,
        quote(SECRET, safe=""),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
        SECRET.encode().hex(),
    ],
)
def test_a_known_value_is_masked_in_every_spelling(shown: str) -> None:
    redactor = Redactor([SECRET])

    masked = redactor.redact(f"before {shown} after")

    assert shown.rstrip("=") not in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


def test_a_value_is_masked_from_its_registration_on() -> None:
    redactor = Redactor()
    before = redactor.redact("correct horse")

    redactor.register("correct horse")

    assert before == "correct horse"
    assert redactor.redact("a correct horse!") == f"a {MASK}!"


def test_a_secret_within_a_longer_secret_leaves_nothing_of_either() -> None:
    redactor = Redactor(["abcdefgh", "abcdefghijklmnop"])

    assert redactor.redact("abcdefghijklmnop") == MASK


@pytest.mark.parametrize("value", ["", " ", "a", "true", "12345"])
def test_values_too_short_to_be_secrets_mask_nothing(value: str) -> None:
    text = "it is true that 12345 a b"

    assert Redactor([value]).redact(text) == text


@pytest.mark.parametrize(
    "token",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "11ABCDEFG0" * 5,
        "glpat-" + "x" * 20,
        "xoxb-123456789012-abcdefABCDEF",
        "1234567890:AAE" + "x" * 32,
        "sk-proj-" + "a1" * 20,
        "sk-ant-api03-" + "a_-1" * 10,
        "sk_live_" + "4eC39HqLyjWDarjt",
        "AIza" + "B" * 35,
        "npm_" + "a" * 36,
        "pypi-" + "AgEIcHlwaS5vcmc" * 5,
        "hvs." + "CAESI" * 8,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC+/=\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\\nMIIEow\\n-----END PRIVATE KEY-----",
    ],
)
def test_a_token_is_known_by_its_shape(token: str) -> None:
    assert Redactor().redact(f"got {token} from it") == f"got {MASK} from it"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: Bearer abcdef1234567890", "abcdef1234567890"),
        ("authorization: basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="),
        ("https://me:hunter22@example.org/x", "hunter22"),
        ("postgres://u:p4ssw0rd@db:5432/x", "p4ssw0rd"),
        ("password = hunter2hunter2", "hunter2hunter2"),
        ("export DB_PASSWORD='s3cr3t-value'", "s3cr3t-value"),
        ('{"api_key": "abc123def456"}', "abc123def456"),
        ('{\\"api_key\\": \\"abc123def456\\"}', "abc123def456"),
        ("CLIENT_SECRET:9f8e7d6c5b4a", "9f8e7d6c5b4a"),
        ("https://host/x?access_token=a1b2c3d4e5&y=1", "a1b2c3d4e5"),
    ],
)
def test_a_secret_is_known_by_its_place(text: str, hidden: str) -> None:
    masked = Redactor().redact(text)

    assert hidden not in masked
    assert MASK in masked


@pytest.mark.parametrize(
    "text",
    [
        "The token was refused; ask for a new one.",
        "password: string",
        "token = get_token(user)",
        "max_tokens=32000, total_tokens: 1234567",
        "https://example.org:8080/path@2x.png",
        "the key is under the mat, keyboard shortcuts: ctrl+k",
        "2026-11-30T16:09:00+00:00 step 12345678:9",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "密码错误，请重试",
        "",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert Redactor(["another secret"]).redact(text) == text


def test_json_is_masked_in_keys_values_and_secret_fields() -> None:
    redactor = Redactor(["canary-value"])
    value: JsonValue = {
        "canary-value": 1,
        "deep": [{"note": "has canary-value in it"}, 2.5, None, True],
        "api_key": "short",
        "Authorization": "anything",
        "password": 12345678,
        "key": "Enter",
        "tokens": 12,
    }

    assert redactor.redact_json(value) == {
        MASK: 1,
        "deep": [{"note": f"has {MASK} in it"}, 2.5, None, True],
        "api_key": MASK,
        "Authorization": MASK,
        "password": MASK,
        "key": "Enter",
        "tokens": 12,
    }


@given(text=st.text(max_size=300))
def test_masked_text_is_not_changed_further(text: str) -> None:
    redactor = Redactor(["canary-value"])
    once = redactor.redact(text)

    assert redactor.redact(once) == once


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a.",
        "ey",
        "eyA",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "password=",
        "password = a",
        "x_password",
        "1",
        "sk-",
        "a://",
        "Bearer ",
        "a1:",
        "\\",
        'token"',
        "secret:   ",
    ],
)
def test_hostile_text_costs_no_more_than_other_text(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    redactor = Redactor(["canary-value"])

    began = time.process_time()
    redactor.redact(text)

    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("GITHUB_TOKEN", True),
        ("DB_PASSWORD", True),
        ("ASOS_TELEGRAM_TOKEN", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("client_secret", True),
        ("PATH", False),
        ("KEYBOARD", False),
        ("TOKENIZERS_PARALLELISM", False),
        ("MONKEY", False),
    ],
)
def test_names_of_variables_that_hold_secrets(name: str, secret: bool) -> None:
    assert looks_secret(name) is secret


def test_secrets_are_taken_from_settings_and_variables() -> None:
    settings = {"telegram_token": SecretStr("from-settings"), "model": "openai/x", "model_api_key": None}
    environment = {"GITHUB_TOKEN": "from-environment", "HOME": "/home/me"}

    assert secrets_of(settings, environment) == ["from-settings", "from-environment"]
