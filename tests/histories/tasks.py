"""Scenarios of one task, from a plain reply to one that loses its sandbox."""

import asyncio
import uuid

from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from contracts import errors
from contracts.activities import RunOutcome, RunRequest
from contracts.blobs import BlobRef
from contracts.planning import AskUser, NextStep, PlanOutcome, PlanRequest, Reply
from contracts.task import ApprovalSignal, GivenAnswer, Limits, PauseRequest, Phase, Says, SetBudget
from contracts.verdicts import Deny, Reason
from gateway.reset import retry_task
from tests.histories.scenario import approval, by_name, end, question
from tests.workflows.places import failing
from tests.workflows.saying import asks, decision, says, scripted
from tests.workflows.stage import USER, Script, call, calls, failed, ok, on_stage
from workflows.task import TaskWorkflow

DONE = Reply(text="done")


async def simple_reply(client: Client) -> list[str]:
    async with on_stage(client, scripted(Reply(text="hello"))) as on:
        return await end(await on.start())


async def calls_in_a_sandbox(client: Client) -> list[str]:
    steps = (calls(call(script="ls")), calls(call("ask_user"), call(script="pwd")), DONE)
    async with on_stage(client, scripted(*steps)) as on:
        return await end(await on.start())


async def calls_that_come_after_others(client: Client) -> list[str]:
    def one_fails(request: RunRequest) -> RunOutcome:
        return failed(request) if request.judged.call.call_id == "b" else ok(request, trusted=False)

    group = (call(call_id="d", after=("b",)), call(call_id="c", after=("a",)), call(call_id="b"), call(call_id="a"))
    script = scripted(calls(*group), DONE)
    script.tool = one_fails
    async with on_stage(client, script) as on:
        return await end(await on.start())


async def denied_by_policy(client: Client) -> list[str]:
    script = scripted(calls(call(script="rm -rf /")), Reply(text="not permitted"))
    script.verdict = lambda _: Deny(reasons=(Reason(rule="destroys", detail="/"),))
    async with on_stage(client, script) as on:
        return await end(await on.start())


async def _decided(client: Client, *, approve: bool) -> list[str]:
    script = scripted(calls(call(script="rm x")), DONE)
    script.verdict = asks
    async with on_stage(client, script) as on:
        handle = await on.start()
        given = decision(await approval(on, handle), approve=approve, note="so be it")
        await handle.execute_update(TaskWorkflow.decide, given)
        return await end(handle)


async def approved(client: Client) -> list[str]:
    return await _decided(client, approve=True)


async def denied_by_the_person(client: Client) -> list[str]:
    return await _decided(client, approve=False)


async def approved_by_signal(client: Client) -> list[str]:
    script = scripted(calls(call(script="rm x")), DONE)
    script.verdict = asks
    async with on_stage(client, script) as on:
        handle = await on.start()
        asked = await approval(on, handle)
        for approval_id in ("wrong", asked.approval_id):
            await handle.signal(TaskWorkflow.approve, ApprovalSignal(approval_id=approval_id))
        return await end(handle)


async def approval_expired(client: Client) -> list[str]:
    script = scripted(calls(call(script="rm x")), Reply(text="left alone"))
    script.verdict = asks
    async with on_stage(client, script) as on:
        return await end(await on.start(on.input(limits=Limits(approval_hours=1 / 3600))))


async def question_answered(client: Client) -> list[str]:
    async with on_stage(client, scripted(AskUser(question="Which one?", choices=("red", "blue")), DONE)) as on:
        handle = await on.start()
        asked = await question(on, handle)
        given = GivenAnswer(question_id=asked.question_id, turn=says("the red one"), by=USER)
        await handle.execute_update(TaskWorkflow.answer, given)
        return await end(handle)


async def said_while_it_thinks(client: Client) -> list[str]:
    said, thinking = asyncio.Event(), asyncio.Event()

    async def think(request: PlanRequest) -> NextStep:
        thinking.set()
        await said.wait()
        return Reply(text=f"reply {request.step}")

    async with on_stage(client, Script(plan_step=think)) as on:
        handle = await on.start()
        await thinking.wait()
        await handle.execute_update(TaskWorkflow.say, Says(turn=says("one more thing"), by=USER))
        said.set()
        return await end(handle)


def _endless(*after: NextStep) -> tuple[Script, asyncio.Event]:
    """A task whose first call never ends by itself, and the word that it has begun."""
    begun = asyncio.Event()

    async def never_ends(request: RunRequest) -> RunOutcome:
        begun.set()
        await asyncio.sleep(600)
        return ok(request)

    script = scripted(calls(call(script="sleep 600")), *after)
    script.tool = never_ends
    return script, begun


async def stopped_during_a_call(client: Client) -> list[str]:
    script, begun = _endless()
    async with on_stage(client, script) as on:
        handle = await on.start()
        await begun.wait()
        await handle.cancel(reason="enough")
        return await end(handle)


async def stopped_while_it_asks(client: Client) -> list[str]:
    script = scripted(calls(call(script="rm x")))
    script.verdict = asks
    async with on_stage(client, script) as on:
        handle = await on.start()
        await approval(on, handle)
        await handle.cancel()
        return await end(handle)


async def paused_and_resumed(client: Client) -> list[str]:
    script, begun = _endless(DONE)
    async with on_stage(client, script) as on:
        handle = await on.start()
        await begun.wait()
        await handle.execute_update(TaskWorkflow.pause, PauseRequest(by=USER, interrupt=True))
        await on.until(handle, lambda seen: seen.phase is Phase.PAUSED)
        await handle.execute_update(TaskWorkflow.resume, PauseRequest(by=USER))
        return await end(handle)


async def paused_while_it_thinks(client: Client) -> list[str]:
    thinking, go = asyncio.Event(), asyncio.Event()

    async def think(request: PlanRequest) -> NextStep:
        thinking.set()
        await go.wait()
        return calls(call(script="ls")) if request.step == 1 else DONE

    async with on_stage(client, Script(plan_step=think)) as on:
        handle = await on.start()
        await thinking.wait()
        await handle.execute_update(TaskWorkflow.pause, PauseRequest(by=USER))
        go.set()
        await on.until(handle, lambda seen: seen.phase is Phase.PAUSED)
        await handle.execute_update(TaskWorkflow.resume, PauseRequest(by=USER))
        return await end(handle)


async def lost_sandbox(client: Client) -> list[str]:
    def lost_once(request: RunRequest) -> RunOutcome:
        if len(script.runs) == 1:
            raise ApplicationError("gone", type=errors.SANDBOX_LOST, non_retryable=True)
        return ok(request)

    script = scripted(calls(call(script="ls")), DONE)
    script.repeatable = True
    script.tool = lost_once
    async with on_stage(client, script) as on:
        return await end(await on.start())


async def no_sandbox_and_given_up(client: Client) -> list[str]:
    script = scripted(calls(call(script="ls")))

    def no_engine(_: str) -> None:
        raise failing(errors.SANDBOX_UNAVAILABLE)

    script.trouble = no_engine
    async with on_stage(client, script) as on:
        handle = await on.start()
        asked = await question(on, handle)
        given = GivenAnswer(question_id=asked.question_id, turn=says("stop"), by=USER)
        await handle.execute_update(TaskWorkflow.answer, given)
        return await end(handle)


async def the_same_failure_again(client: Client) -> list[str]:
    def think(request: PlanRequest) -> NextStep:
        return calls(call(script="false")) if request.step <= 3 else DONE

    async with on_stage(client, Script(plan_step=think, tool=failed)) as on:
        handle = await on.start()
        asked = await question(on, handle)
        given = GivenAnswer(question_id=asked.question_id, turn=says("try something else"), by=USER)
        await handle.execute_update(TaskWorkflow.answer, given)
        return await end(handle)


async def over_budget(client: Client) -> list[str]:
    def think(request: PlanRequest) -> NextStep | PlanOutcome:
        if request.step > 1:
            return DONE
        ref = BlobRef(sha256="0" * 64, size=1)
        return PlanOutcome(next_step=AskUser(question="More money?"), transcript_ref=ref, over_budget=True)

    async with on_stage(client, Script(plan_step=think)) as on:
        handle = await on.start()
        asked = await question(on, handle)
        await handle.execute_update(TaskWorkflow.set_budget, SetBudget(budget_usd=5.0, by=USER))
        given = GivenAnswer(question_id=asked.question_id, turn=says("go on"), by=USER)
        await handle.execute_update(TaskWorkflow.answer, given)
        return await end(handle)


async def continued_as_new(client: Client) -> list[str]:
    steps = [calls(call(script=f"echo {number}")) for number in range(6)]
    async with on_stage(client, scripted(*steps, DONE)) as on:
        return await end(await on.start(on.input(limits=Limits(continue_after_events=40))))


async def failed_outcome(client: Client) -> list[str]:
    async with on_stage(client, scripted(Reply(text="I could not", outcome="failed"))) as on:
        return await end(await on.start())


async def planner_refused(client: Client) -> list[str]:
    def refuse(_: PlanRequest) -> NextStep:
        raise ApplicationError("the key is wrong", type="authentication", non_retryable=True)

    async with on_stage(client, Script(plan_step=refuse)) as on:
        return await end(await on.start())


async def pushing_channel(client: Client) -> list[str]:
    async def slow(request: RunRequest) -> RunOutcome:
        await asyncio.sleep(1.2)
        return ok(request)

    script = scripted(calls(call(script="ls")), DONE)
    script.tool = slow
    async with on_stage(client, script) as on:
        return await end(await on.start(on.input(pushes=True)))


async def after_another_task(client: Client) -> list[str]:
    async with on_stage(client, scripted(DONE)) as on:
        given = on.input()
        record = given.record.model_copy(update={"dependencies": (uuid.uuid4().hex,)})
        return await end(await on.start(given.model_copy(update={"record": record})))


async def retried_from_a_step(client: Client) -> list[str]:
    def think(request: PlanRequest) -> NextStep:
        return (calls(call(script="ls")), DONE)[request.step - 1]

    async with on_stage(client, Script(plan_step=think)) as on:
        given = on.input()
        handle = await on.start(given)
        await end(handle)
        await retry_task(client, given.record.task_id, 2, reason="again", request_id=uuid.uuid4().hex)
        return await end(client.get_workflow_handle_for(TaskWorkflow.run, handle.id))


TASKS = by_name(
    simple_reply,
    calls_in_a_sandbox,
    calls_that_come_after_others,
    denied_by_policy,
    approved,
    denied_by_the_person,
    approved_by_signal,
    approval_expired,
    question_answered,
    said_while_it_thinks,
    stopped_during_a_call,
    stopped_while_it_asks,
    paused_and_resumed,
    paused_while_it_thinks,
    lost_sandbox,
    no_sandbox_and_given_up,
    the_same_failure_again,
    over_budget,
    continued_as_new,
    failed_outcome,
    planner_refused,
    pushing_channel,
    after_another_task,
    retried_from_a_step,
)
