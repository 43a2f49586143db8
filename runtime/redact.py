"""Mask secrets in text: every value known to be one, and whatever has the shape of one."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from pydantic import JsonValue, SecretStr

MASK = "[redacted]"

LEAST_CHARACTERS = 6
"""Shorter values are not masked: they would blacken ordinary words."""

_SECRET_NAME = re.compile(r"(?i)(^|[_-])(api)?_?(key|token|secret|password|passwd|passphrase|credentials?)s?($|[_-])")

_SECRET_FIELD = re.compile(
    r"(?i)^((?:.*[_-])?(?:api[_-]?key|secret|password|passwd|passphrase|access[_-]?token|refresh[_-]?token|auth[_-]?token)"
    r"|token|authorization|cookie|set-cookie)$"
)

_SHAPES = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----"
    r"(?:\\[nr]|[A-Za-z0-9+/=\s]){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?",
    r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b",
    r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
    r"\bglpat-[A-Za-z0-9_-]{20,100}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,250}",
    r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b",
    r"\bsk-[A-Za-z0-9_-]{20,250}",
    r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}\b",
    r"\bAIza[A-Za-z0-9_-]{35}",
    r"\bnpm_[A-Za-z0-9]{36}\b",
    r"\bpypi-[A-Za-z0-9_-]{50,250}",
    r"\bhvs\.[A-Za-z0-9_-]{20,250}",
    r"\bey[A-Za-z0-9_-]{10,8000}\.ey[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{0,2000}",
)
"""Tokens that carry their kind in their form; each quantifier is bounded, so that hostile text costs no more."""

_SHAPE = re.compile("|".join(_SHAPES))

_BEARER = re.compile(r"(?i)\b(bearer|basic)( +)[A-Za-z0-9._~+/=-]{12,4000}")

_USERINFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'\\]{0,200}:)[^\s/@\"'\\]{1,500}(?=@)")

_ASSIGNED = re.compile(
    r"(?i)((?:api[_-]?key|secret|token|password|passwd|passphrase)\\{0,2}[\"']?\s{0,3}[:=]\s{0,3}\\{0,2}[\"']?)"
    r"(?=[a-z0-9_./+~-]{0,200}\d)(?=[\d_./+~-]{0,200}[a-z])[a-z0-9_./+~-]{8,500}={0,2}(?![a-z0-9(\[])"
)
"""`password = hunter22`, `"api_key": "…"`: a literal of eight and more characters with a digit and a letter in it."""


def looks_secret(name: str) -> bool:
    """Whether a variable of this name is likely to hold a secret."""
    return _SECRET_NAME.search(name) is not None


class Redactor:
    """Masks what it knows. Share one per process, so that a value registered anywhere is masked everywhere."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: set[str] = set()
        self._known: re.Pattern[str] | None = None
        for secret in secrets:
            self.register(secret)

    def register(self, value: str) -> None:
        """Mask this value from now on, also where it stands URL-encoded, JSON-escaped or in base64."""
        for candidate in {value, value.strip()}:
            if len(candidate) >= LEAST_CHARACTERS:
                self._forms |= _forms(candidate)
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def redact(self, text: str) -> str:
        """The text with every secret replaced by MASK."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        text = _SHAPE.sub(MASK, text)
        text = _BEARER.sub(rf"\1\2{MASK}", text)
        text = _USERINFO.sub(rf"\1{MASK}", text)
        return _ASSIGNED.sub(rf"\1{MASK}", text)

    def redact_json(self, value: JsonValue) -> JsonValue:
        """The same for every string inside, keys included; a field named like a secret is masked whole."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            return [self.redact_json(item) for item in value]
        if isinstance(value, dict):
            return {self.redact(key): self._field(key, item) for key, item in value.items()}
        return value

    def _field(self, name: str, value: JsonValue) -> JsonValue:
        if value and value is not True and _SECRET_FIELD.match(name):
            return MASK
        return self.redact_json(value)


def secrets_of(settings: Mapping[str, object], environment: Mapping[str, str]) -> list[str]:
    """The values to register at start: secret settings, and variables whose names say that they hold a secret."""
    kept = [value.get_secret_value() for value in settings.values() if isinstance(value, SecretStr)]
    return kept + [value for name, value in environment.items() if looks_secret(name)]


def _forms(value: str) -> set[str]:
    raw = value.encode("utf-8", "surrogatepass")
    forms = {
        value,
        quote(value, safe="", errors="surrogatepass"),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        base64.b64encode(raw).decode().rstrip("="),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
        raw.hex(),
    }
    return {form for form in forms if len(form) >= LEAST_CHARACTERS}
