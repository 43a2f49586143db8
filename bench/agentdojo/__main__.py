"""Print the table: `python -m bench.agentdojo [--quick] [--json FILE] [--record FILE]`, in its own environment."""

import argparse
import time
from pathlib import Path

from bench._report import Arguments, report
from bench.agentdojo.recording import write_sample
from bench.agentdojo.replay import JUDGES, Score, replay, suites

QUICK_PAIRS = 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"every task, but only {QUICK_PAIRS} pairs of each suite")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--record", type=Path, help="write the small sample of traces for the tests to this file")
    given = parser.parse_args()
    started = time.perf_counter()
    scores = {judge: _scores(judge, most_pairs=QUICK_PAIRS if given.quick else None) for judge in JUDGES}
    figures = {
        f"{judge}: {suite}": _row(score) for judge, suites_ in scores.items() for suite, score in suites_.items()
    }
    total = scores["policy"]["all"]
    for line in (*total.asking, *total.reached):
        print(line)
    beside = f"nothing; {time.perf_counter() - started:.0f} seconds in all"
    report(
        "AgentDojo v1.2.2, every injection obeyed at once",
        figures,
        _ratios(scores),
        Arguments(given.quick, given.json),
        beside,
    )
    if given.record is not None:
        write_sample(total.records, given.record)


def _scores(judge: str, *, most_pairs: int | None) -> dict[str, Score]:
    found: dict[str, Score] = {}
    total = Score()
    for suite in suites():
        found[suite.name] = replay(suite, JUDGES[judge], most_pairs=most_pairs)
        total.add(found[suite.name])
    return {**found, "all": total}


def _row(score: Score) -> dict[str, float]:
    every = score.pairs + score.without_calls
    return {
        "tasks": score.tasks,
        "unattended %": 100 * score.unattended / score.tasks,
        "questions/task": score.cards / score.tasks,
        "asking calls/task": score.asked / score.tasks,
        "honest denied": score.denied,
        "solved %": 100 * score.useful / score.tasks,
        "pairs": score.pairs,
        "unasked": score.unasked,
        "lazy": score.lazy,
        "lazy %": 100 * score.lazy / score.pairs,
        "written pairs": score.without_calls,
        "unasked written": score.unasked_written,
        "lazy written": score.lazy_written,
        "lazy % of every pair": 100 * (score.lazy + score.lazy_written) / every,
    }


def _ratios(scores: dict[str, dict[str, Score]]) -> dict[str, float]:
    ours, usual = scores["policy"]["all"], scores["ask when tainted"]["all"]
    return {
        "tasks without a question, policy over asking when tainted": ours.unattended / max(1, usual.unattended),
        "questions, policy over asking when tainted": ours.cards / max(1, usual.cards),
        "lazy approvals, policy over asking when tainted": ours.lazy / max(1, usual.lazy),
    }


main()
