"""Types of application errors that cross Temporal, where an exception's class is lost and its type name stays."""

SANDBOX_LOST = "SandboxLost"
SANDBOX_UNAVAILABLE = "SandboxUnavailable"
PLANNER_BUSY = "PlannerBusy"
MACHINE_FULL = "MachineFull"
"""The disk, or the like, has no room; trying again helps only after somebody has made some."""

TASK_FAILED = "TaskFailed"
"""Ends a task whose outcome is `failed`, so that the Temporal UI tells the truth; its details hold the TaskResult."""

TASK_CLOSING = "TaskClosing"
STALE_APPROVAL = "StaleApproval"
ALREADY_DECIDED = "AlreadyDecided"
NOT_ALLOWED = "NotAllowed"
STALE_QUESTION = "StaleQuestion"
TOO_LARGE = "TooLarge"
BAD_BUDGET = "BadBudget"
