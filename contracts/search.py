"""The search attributes of a task, by which people find it in the Temporal UI. They are plain text there."""

from temporalio.common import SearchAttributeKey

TASK_PHASE = SearchAttributeKey.for_keyword("TaskPhase")
NEEDS_HUMAN = SearchAttributeKey.for_bool("NeedsHuman")
CHANNEL = SearchAttributeKey.for_keyword("Channel")
USER_ID = SearchAttributeKey.for_keyword("UserId")
HOST_ID = SearchAttributeKey.for_keyword("HostId")
RISK_SCORE = SearchAttributeKey.for_int("RiskScore")
COST_USD = SearchAttributeKey.for_float("CostUsd")
STEP = SearchAttributeKey.for_int("Step")

ALL = (TASK_PHASE, NEEDS_HUMAN, CHANNEL, USER_ID, HOST_ID, RISK_SCORE, COST_USD, STEP)
