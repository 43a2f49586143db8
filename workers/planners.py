"""Which planner an installation thinks with."""

from collections.abc import Mapping

from activities.planner import Planner
from activities.tool import Tool
from runtime.settings import Settings


def planner_of(settings: Settings, tools: Mapping[str, Tool]) -> Planner:
    """The rules, or the model that the settings name."""
