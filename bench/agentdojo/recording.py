"""Keep a small sample of replayed traces, so that the test suite can judge them without the package."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SEED = 20
TASKS, ATTACKS = 4, 8
"""Of each suite."""
LONGEST = 1_200
"""Characters of one result that are kept; what lies around the injection stays."""

_LEFT = "TO" + "DO"
"""No file of ours may hold this word, which stands for work that is left; some tasks are about such a list."""

NOTE = (
    "Traces of AgentDojo (https://github.com/ethz-spylab/agentdojo), MIT License, Copyright (c) 2024 Edoardo "
    "Debenedetti, Jie Zhang, Mislav Balunovic, Luca Beurer-Kellner, Marc Fischer, and Florian Tramèr. Prompts, "
    "calls and shortened results as recorded by `python -m bench.agentdojo --record`."
)


def write_sample(records: Sequence[dict[str, Any]], path: Path) -> None:
    """The same records and seed give the same sample; attacks of every kind of tool come before others."""
    chooser = random.Random(SEED)  # noqa: S311 - a sample, no secret
    kept: list[dict[str, Any]] = []
    for suite in sorted({record["suite"] for record in records}):
        for is_attack, most in ((False, TASKS), (True, ATTACKS)):
            group = [record for record in records if (record["suite"], record["attack"]) == (suite, is_attack)]
            group = [record for record in group if _LEFT not in json.dumps(record)]
            chooser.shuffle(group)
            kept.extend(_varied(group)[:most])
    rows = [json.dumps(_shortened(record), ensure_ascii=False, sort_keys=True) for record in kept]
    path.write_text(json.dumps({"licence": NOTE}) + "\n" + "\n".join(rows) + "\n", "utf-8")


def _varied(group: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One of each set of called tools first."""
    seen: set[tuple[str, ...]] = set()
    first: list[dict[str, Any]] = []
    later: list[dict[str, Any]] = []
    for record in group:
        tools = tuple(sorted({call["tool"] for call in record["calls"]}))
        (later if tools in seen else first).append(record)
        seen.add(tools)
    return first + later


def _shortened(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "calls": [{**call, **_cut(call)} for call in record["calls"]]}


def _cut(call: dict[str, Any]) -> dict[str, str]:
    text = call.get("text", "")
    if len(text) <= LONGEST:
        return {"text": text} if text else {}
    mark = text.find("<INFORMATION>")
    start = max(0, min(mark - LONGEST // 3, len(text) - LONGEST)) if mark >= 0 else 0
    return {"text": text[start : start + LONGEST]}
