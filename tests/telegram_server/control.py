"""A tiny HTTP API by which another process acts as the people and plans faults."""

import json
from dataclasses import asdict
from typing import Any

from tests.telegram_server.http import Reply, Request
from tests.telegram_server.people import People
from tests.telegram_server.state import Fault


async def control(people: People, request: Request) -> Reply:
    """GET calls, messages, updates; POST say, press, fault, block, again."""
    body: dict[str, Any] = json.loads(request.body) if request.body else {}
    action = request.path.removeprefix("/control/")
    return Reply(200, json.dumps(await _act(people, action, body)).encode())


async def _act(people: People, action: str, body: dict[str, Any]) -> Any:
    state = people.state
    match action:
        case "calls":
            return [asdict(call) for call in state.calls]
        case "messages":
            return [message for _, message in sorted(state.messages.items())]
        case "updates":
            return state.updates
        case "say":
            return await people.say(body.pop("chat_id"), body.pop("text"), **body)
        case "press":
            message = state.messages[body["chat_id"], body["message_id"]]
            return await people.press(
                message, body.get("label", ""), user_id=body.get("user_id"), data=body.get("data")
            )
        case "again":
            return await people.again(body)
        case "fault":
            state.faults.append(Fault(**body))
            return True
        case "block":
            state.blocked.add(body["chat_id"])
            return True
        case _:
            return {"error": f"no action {action!r}"}
