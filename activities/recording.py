"""What judging, acting and planning tell the audit: facts lie open, and a person's or a page's words are sealed."""

import hashlib

from temporalio import activity

from activities.examining import Examined
from contracts.activities import JudgeRequest, RunRequest
from contracts.audit import Event
from contracts.blobs import BlobRef
from contracts.planning import PlanRequest, Usage
from contracts.tools import ToolResult, canonical_json
from contracts.values import JsonObject
from contracts.verdicts import Allow, Deny, Verdict

MOST_ARGUMENT_BYTES = 65_536
"""Of longer arguments the record has only the digest."""


def position() -> str:
    """Where in the task's history this is: `<run id>/<activity id>/<attempt>`; empty outside of any."""
    if not activity.in_activity():
        return ""
    info = activity.info()
    return f"{info.workflow_run_id}/{info.activity_id}/{info.attempt}"


def verdict(request: JudgeRequest, examined: Examined) -> Event:
    """One line for a question and what policy said to it."""
    said, call = examined.outcome.verdict, request.call
    words: JsonObject = {
        "tool": call.tool,
        "summary": call.summary,
        "problem": examined.outcome.problem,
        "reasons": [reason.model_dump(mode="json") for reason in said.reasons],
        "risk_parts": [part.model_dump(mode="json") for part in said.risk_parts],
        "destinations": [] if isinstance(said, Deny) else list(said.destinations),
        "question": _question(examined),
    }
    return Event(
        kind="verdict",
        actor=request.actor.user_id,
        task_id=request.task_id,
        call_id=call.call_id,
        digest=call.args_sha256,
        policy_version=said.policy_version,
        position=position(),
        data=_open(said) | {"tool": examined.tool.spec.name if examined.tool else None, "tainted": request.tainted},
        words=words,
    )


def begun(request: RunRequest, said: Verdict, place: str) -> Event:
    """Before an effect."""
    approval = request.approval
    data: JsonObject = {"place": place, "approval_id": approval.approval_id if approval else None, "risk": said.risk}
    return _of_call(request, "effect.begun", data, said.policy_version)


def ended(request: RunRequest, result: ToolResult, ref: BlobRef, seconds: float) -> Event:
    """After an effect, or after a look at what an earlier attempt gave."""
    data: JsonObject = {
        "ok": result.ok,
        "error": result.error,
        "result_sha256": ref.sha256,
        "result_bytes": ref.size,
        "seconds": round(seconds, 3),
        "files": [{"sha256": file.blob.sha256, "size": file.size} for file in result.files + result.send if file.blob],
    }
    return _of_call(request, "effect.ended", data)


def cut(request: RunRequest, error: str, seconds: float) -> Event:
    """After an effect that gave no result: it may have happened in part."""
    return _of_call(request, "effect.ended", {"ok": False, "error": error, "seconds": round(seconds, 3)})


def standing_used(request: RunRequest, said: Allow) -> Event:
    """Something that a person has allowed for good spared them a question."""
    return _of_call(request, "standing.used", {"rule_id": said.standing}, said.policy_version)


def replayed(request: RunRequest, ref: BlobRef) -> Event:
    """An earlier attempt had the effect; its result was read back."""
    return _of_call(request, "effect.ended", {"replayed": True, "result_sha256": ref.sha256, "result_bytes": ref.size})


def refused(request: RunRequest, result: ToolResult) -> Event:
    """The last look before an effect found that it may not happen."""
    data: JsonObject = {"error": result.error, "rules": result.data.get("rules", [])}
    return _of_call(request, "effect.refused", data)


def model_begun(request: PlanRequest, model: str) -> Event:
    """Before a model is asked."""
    return _of_model(request, "model.begun", {"model": model, "step": request.step})


def model_ended(request: PlanRequest, model: str, usage: Usage, error: str, seconds: float) -> Event:
    """After it; what was asked and answered is in the transcript."""
    spent: JsonObject = usage.model_dump(mode="json")
    ends: JsonObject = {"model": model, "step": request.step, "error": error, "seconds": round(seconds, 3)}
    return _of_model(request, "model.ended", ends | spent)


def _of_call(request: RunRequest, kind: str, data: JsonObject, policy_version: str = "") -> Event:
    judged, approval = request.judged, request.approval
    return Event.model_validate(
        {
            "kind": kind,
            "actor": judged.actor.user_id,
            "task_id": judged.task_id,
            "call_id": judged.call.call_id,
            "digest": approval.digest if approval else judged.call.args_sha256,
            "policy_version": policy_version,
            "position": position(),
            "data": data | {"tool": judged.call.tool, "args_sha256": judged.call.args_sha256},
        }
    )


def _of_model(request: PlanRequest, kind: str, data: JsonObject) -> Event:
    given = {"kind": kind, "actor": "planner", "task_id": request.task_id, "position": position(), "data": data}
    return Event.model_validate(given)


def _open(said: Verdict) -> JsonObject:
    """Ids, numbers and hosts; details and destinations may be somebody's words."""
    hosts = [] if isinstance(said, Deny) else sorted({f"{grant.host}:{grant.port}" for grant in said.egress})
    return {
        "verdict": said.kind,
        "reasons": [{"rule": reason.rule} for reason in said.reasons],
        "rules": list(said.rules),
        "effects": list(said.effects),
        "risk": said.risk,
        "risk_parts": {part.name: part.points for part in said.risk_parts},
        "hosts": list(hosts),
    }


def _question(examined: Examined) -> JsonObject | None:
    if examined.question is None:
        return None
    question: JsonObject = examined.question.model_dump(mode="json")
    args = canonical_json(examined.args).encode("utf-8", "surrogatepass")
    if len(args) > MOST_ARGUMENT_BYTES:
        question["args"] = {"sha256": hashlib.sha256(args).hexdigest(), "bytes": len(args)}
    return question
