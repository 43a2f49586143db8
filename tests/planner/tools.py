"""Small honest tools for tests: a folder in memory, pages in memory, and a shell that prints what it was told to."""

from collections.abc import Mapping

import jsonschema

from activities.planners.drafts import problem_of
from activities.tool import BadArguments, ToolContext
from contracts.language import Language
from contracts.messages import Attachment
from contracts.provenance import Provenance
from contracts.tools import ToolResult, ToolSpec
from contracts.values import JsonObject
from contracts.verdicts import Action, TalkAction

UNTRUSTED = Provenance(trusted=False, origins=("test",))


class Desk:
    """What the tools share."""

    def __init__(self, pages: Mapping[str, tuple[str, str]] | None = None) -> None:
        self.pages = dict(pages or {})
        self.files: dict[str, str] = {}
        self.sent: list[str] = []
        self.notes: list[str] = []
        self.ran: list[str] = []


def spec(name: str, properties: JsonObject, required: list[str], *, repeatable: bool = True) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=f"The {name} tool.",
        parameters={
            "type": "object",
            "properties": properties,
            "required": [*required],
            "additionalProperties": False,
        },
        repeatable=repeatable,
        needs_sandbox=name in ("shell", "files", "browse", "read"),
    )


class DeskTool:
    """What the tools have in common: a checked call, and a result in the same shape."""

    spec: ToolSpec

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def actions(self, args: JsonObject) -> tuple[Action, ...]:
        self._check(args)
        return (TalkAction(),)

    def summary(self, args: JsonObject, language: Language) -> str:
        self._check(args)
        return f"{self.spec.name} {' '.join(str(value) for value in args.values())}"[:120]

    def preview(self, args: JsonObject) -> str:
        return str(args)

    def timeout_seconds(self, args: JsonObject) -> float:
        return 60.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        raise NotImplementedError

    def _check(self, args: JsonObject) -> None:
        problem = problem_of(args, self.spec.parameters)
        if problem:
            raise BadArguments(problem)

    def result(self, context: ToolContext, text: str, data: JsonObject | None = None, **more: object) -> ToolResult:
        given = {
            "call_id": context.call_id,
            "tool": self.spec.name,
            "ok": True,
            "headline": text.splitlines()[0][:100] if text else "done",
            "text": text,
            "data": data or {},
            "provenance": UNTRUSTED,
            **more,
        }
        return ToolResult.model_validate(given)


class Browse(DeskTool):
    spec = spec("browse", {"url": {"type": "string"}, "screenshot": {"type": "boolean"}}, ["url"])

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        url = str(args["url"])
        if url not in self.desk.pages:
            return self.result(context, f"no answer from {url}", ok=False, error="not_found")
        title, text = self.desk.pages[url]
        return self.result(context, text, {"title": title, "text": text, "url": url, "links": [], "status": 200})


class Read(Browse):
    spec = spec("read", {"url": {"type": "string"}}, ["url"])


class Files(DeskTool):
    spec = spec(
        "files",
        {
            "operation": {"enum": ["read", "write", "list", "send", "delete"]},
            "path": {"type": "string"},
            "content": {"type": "string"},
        },
        ["operation", "path"],
    )

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        path, files = str(args["path"]), self.desk.files
        match args["operation"]:
            case "write":
                files[path] = str(args.get("content", ""))
                return self.result(context, f"wrote {path}", {"path": path, "size": len(files[path])})
            case "list":
                return self.result(context, "\n".join(files) or "empty", {"path": path})
            case _ if path not in files:
                return self.result(context, f"{path} does not exist", ok=False, error="not_found")
            case "send":
                self.desk.sent.append(path)
                attachment = Attachment(name=path, size=len(files[path]))
                return self.result(context, f"sent {path}", {"path": path}, send=(attachment,))
            case "delete":
                del files[path]
                return self.result(context, f"deleted {path}", {"path": path})
            case _:
                return self.result(context, files[path], {"path": path, "text": files[path]})


class Shell(DeskTool):
    spec = spec(
        "shell",
        {"script": {"type": "string"}, "timeout_seconds": {"type": "number"}, "cwd": {"type": "string"}},
        ["script"],
        repeatable=False,
    )

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        script = str(args["script"])
        self.desk.ran.append(script)
        fails = script.startswith("false")
        output = script.removeprefix("echo ") if script.startswith("echo ") else ""
        data: JsonObject = {"exit_code": 1 if fails else 0, "stdout": output, "stderr": ""}
        if fails:
            return self.result(context, "exit code 1", data, ok=False, error="failed")
        return self.result(context, output, data)


class Remember(DeskTool):
    spec = spec("remember", {"text": {"type": "string", "minLength": 1}}, ["text"])

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        self.desk.notes.append(str(args["text"]))
        return self.result(context, "remembered")


class Recall(DeskTool):
    spec = spec("recall", {"query": {"type": "string"}}, ["query"])

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        return self.result(context, "\n".join(self.desk.notes), {"notes": [*self.desk.notes]})


class AskUser(DeskTool):
    spec = spec(
        "ask_user",
        {"question": {"type": "string"}, "choices": {"type": "array", "items": {"type": "string"}}},
        ["question"],
    )


def tools_of(desk: Desk) -> dict[str, DeskTool]:
    made = [kind(desk) for kind in (Browse, Read, Files, Shell, Remember, Recall, AskUser)]
    return {tool.spec.name: tool for tool in made}


def check_schemas(desk: Desk) -> None:
    for tool in tools_of(desk).values():
        jsonschema.Draft202012Validator.check_schema(tool.spec.parameters)
