"""Parameters of a Bot API call, whether they come as query, form, multipart or JSON."""

import json
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

from tests.telegram_server.http import Request


@dataclass(frozen=True)
class Upload:
    """A file that came with a call."""

    name: str
    media_type: str
    content: bytes


@dataclass
class Fields:
    """Values as text, as the real server takes them; nested ones are JSON."""

    values: dict[str, str] = field(default_factory=dict)
    files: dict[str, Upload] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def number(self, name: str, default: int = 0) -> int:
        return int(self.values.get(name) or default)

    def nested(self, name: str) -> Any:
        raw = self.values.get(name)
        return json.loads(raw) if raw else None

    def upload(self, reference: str) -> Upload | None:
        """The file behind `attach://name`, or the one sent under the field's own name."""
        return self.files.get(reference.removeprefix("attach://"))


def read_fields(request: Request) -> Fields:
    fields = Fields(values=dict(request.query))
    kind = request.content_type.partition(";")[0].strip().lower()
    if kind == "application/json" and request.body:
        fields.values.update(
            {k: v if isinstance(v, str) else json.dumps(v) for k, v in json.loads(request.body).items()}
        )
    elif kind == "multipart/form-data":
        _read_multipart(request, fields)
    elif request.body:
        fields.values.update(parse_qsl(request.body.decode(), keep_blank_values=True))
    return fields


def _read_multipart(request: Request, fields: Fields) -> None:
    head = f"Content-Type: {request.content_type}\r\n\r\n".encode("latin-1")
    for part in BytesParser(policy=HTTP).parsebytes(head + request.body).iter_parts():
        name = str(part.get_param("name", header="content-disposition"))
        content = part.get_payload(decode=True)
        body = content if isinstance(content, bytes) else b""
        filename = part.get_filename()
        if filename is None:
            fields.values[name] = body.decode()
        else:
            fields.files[name] = Upload(filename, part.get_content_type(), body)
