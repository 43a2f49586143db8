"""Search attributes: what the Temporal UI can filter tasks and sandboxes by. Stored in clear, so never a secret."""

from temporalio.common import SearchAttributeKey

TASK_PHASE = SearchAttributeKey.for_keyword("TaskPhase")
NEEDS_HUMAN = SearchAttributeKey.for_bool("NeedsHuman")
CHANNEL = SearchAttributeKey.for_keyword("Channel")
USER_ID = SearchAttributeKey.for_keyword("UserId")
HOST_ID = SearchAttributeKey.for_keyword("HostId")
RISK_SCORE = SearchAttributeKey.for_int("RiskScore")
COST_USD = SearchAttributeKey.for_float("CostUsd")
STEP = SearchAttributeKey.for_int("Step")
SANDBOX_STATE = SearchAttributeKey.for_keyword("SandboxState")

ALL = (TASK_PHASE, NEEDS_HUMAN, CHANNEL, USER_ID, HOST_ID, RISK_SCORE, COST_USD, STEP, SANDBOX_STATE)

TYPES: dict[str, str] = {
    TASK_PHASE.name: "Keyword",
    NEEDS_HUMAN.name: "Bool",
    CHANNEL.name: "Keyword",
    USER_ID.name: "Keyword",
    HOST_ID.name: "Keyword",
    RISK_SCORE.name: "Int",
    COST_USD.name: "Double",
    STEP.name: "Int",
    SANDBOX_STATE.name: "Keyword",
}
"""Every attribute with its type, as the Temporal command line spells it."""
