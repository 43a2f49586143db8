"""Which planner an installation thinks with."""

import importlib
import os

from activities.planner import Planner
from activities.planners.rules import Rules
from contracts.blobs import Blobs
from runtime.settings import Settings

OFFLINE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_OFFLINE_MODE": "true", "LITELLM_LOG": "ERROR"}
"""LiteLLM reads these when it is imported, and would fetch its price list from the network without them."""


def planner_of(settings: Settings, blobs: Blobs) -> Planner:
    """The rules, or the model that the settings name."""
    if settings.planner_name == "rules":
        return Rules(blobs=blobs)
    os.environ.update(OFFLINE)
    # Importing LiteLLM takes seconds and 200 MB, which an installation without a model should not pay.
    planner: Planner = importlib.import_module("activities.planners.litellm").LiteLlm(
        model=settings.model,
        base_url=settings.model_base_url,
        api_key=settings.model_api_key.get_secret_value() if settings.model_api_key else "",
        timeout_seconds=settings.model_timeout_seconds,
        context_tokens=settings.model_context_tokens,
    )
    return planner
