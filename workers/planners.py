"""Which planner an installation thinks with."""

from activities.planner import Planner
from activities.planners.litellm import LiteLlm
from activities.planners.rules import Rules
from contracts.blobs import Blobs
from runtime.settings import Settings


def planner_of(settings: Settings, blobs: Blobs) -> Planner:
    """The rules, or the model that the settings name."""
    if settings.planner_name == "rules":
        return Rules(blobs=blobs)
    return LiteLlm(
        model=settings.model,
        base_url=settings.model_base_url,
        api_key=settings.model_api_key.get_secret_value() if settings.model_api_key else "",
        timeout_seconds=settings.model_timeout_seconds,
        context_tokens=settings.model_context_tokens,
    )
