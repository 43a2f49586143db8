"""Names that processes must agree on: task queues, workflow ids, search attributes, error types."""

WORKFLOWS = "asos-workflows"
"""Workflows and planning: an activity on the workflow's own queue starts in the same worker without a round trip."""
CONTROL = "asos-control"
HOSTS = "asos-hosts"
"""Polled by every sandbox host; whoever takes a lease request makes the sandbox."""
GATEWAY = "asos-gateway"


def host_queue(host_id: str) -> str:
    """The queue of one host; the same after its worker restarts."""
    return f"asos-host-{host_id}"


def conversation_workflow_id(channel: str, chat_id: str) -> str:
    return f"chat/{channel}/{chat_id}"


def task_workflow_id(task_id: str) -> str:
    return f"task/{task_id}"


def sandbox_workflow_id(owner: str) -> str:
    """owner: the task id, or the name of a fork."""
    return f"sandbox/{owner}"
