"""The words that policies in Cedar may use: who, which effect or tool, and the facts of one question."""

from functools import lru_cache
from typing import get_args

from cedarpy import Schema

from contracts.provenance import Effect

USE = "use"
"""The action of calling a tool at all."""

EGRESS: Effect = "egress"
EFFECTS: tuple[Effect, ...] = get_args(Effect)

MOST = 9_223_372_036_854_775_807
"""The largest number that Cedar knows; stands for an amount that nobody can tell."""

_FACTS = """
entity Role;
entity User in [Role];
entity Tool { space: String, reversible: Bool, output: String };
entity Host in [Host];

type Facts = {
    channel: String,
    hour: Long,
    weekday: String,
    tainted: Bool,
    private: Bool,
    trusted: Bool,
    task_risk: Long,
    amount: Long,
    host: String,
    tool: String,
    kinds: Set<String>,
    destinations: Set<String>,
    own: Bool,
    granted: Bool,
};
"""


@lru_cache(maxsize=1)
def schema_text() -> str:
    """Reaching out is asked of each host, everything else of the tool."""
    others = ", ".join(f'"{action}"' for action in (USE, *EFFECTS) if action != EGRESS)
    tool = "{ principal: [User], resource: [Tool], context: Facts }"
    reach = "{ principal: [User], resource: [Tool, Host], context: Facts }"
    return f'{_FACTS}\naction {others} appliesTo {tool};\naction "{EGRESS}" appliesTo {reach};\n'


@lru_cache(maxsize=1)
def schema() -> Schema:
    """Parsed once."""
    return Schema.from_str(schema_text())
