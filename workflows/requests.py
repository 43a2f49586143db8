"""From one message to what a task is started with; the same for a mailbox and for a terminal."""

from datetime import datetime

from temporalio.common import Priority, SearchAttributePair, TypedSearchAttributes

from contracts import search
from contracts.conversation import Delivered
from contracts.task import Phase, TaskInput, TaskRecord
from contracts.transcript import UserTurn
from contracts.verdicts import Actor

GOAL_CHARACTERS = 120


def user_id(delivered: Delivered) -> str:
    """One person on one platform."""
    return f"{delivered.message.platform}:{delivered.message.sender.id}"


def user_turn(delivered: Delivered) -> UserTurn:
    """The person's words as the planner reads them."""
    message = delivered.message
    return UserTurn(
        text=message.content.text,
        text_ref=message.content.text_ref,
        attachments=message.content.attachments,
        message_id=message.message_id,
        at=message.timestamp,
    )


def task_input(
    task_id: str, delivered: Delivered, *, created_at: datetime, conversation_id: str | None = None
) -> TaskInput:
    """What a task is started with for one message."""
    message = delivered.message
    goal = " ".join(message.content.text.split()) or f"({message.content.type})"
    return TaskInput(
        record=TaskRecord(
            task_id=task_id,
            priority=delivered.priority,
            type=delivered.task_type,
            created_at=created_at,
            status=Phase.QUEUED,
        ),
        request=user_turn(delivered),
        goal=goal[:GOAL_CHARACTERS],
        actor=Actor(user_id=user_id(delivered), role=message.role, channel=message.platform),
        address=delivered.address,
        language=message.language,
        conversation_id=conversation_id,
        grants=message.grants,
        limits=delivered.limits,
        pushes=delivered.pushes,
    )


def search_attributes(given: TaskInput) -> TypedSearchAttributes:
    """What a task can be found by from its start."""
    return TypedSearchAttributes(
        [
            SearchAttributePair(search.TASK_PHASE, Phase.QUEUED.value),
            SearchAttributePair(search.NEEDS_HUMAN, False),
            SearchAttributePair(search.CHANNEL, given.address.channel),
            SearchAttributePair(search.USER_ID, given.actor.user_id),
        ]
    )


def priority(given: TaskInput) -> Priority:
    """Ten levels of ours on Temporal's five, and each person their fair share."""
    return Priority(priority_key=(given.record.priority + 1) // 2, fairness_key=given.actor.user_id[:64])
