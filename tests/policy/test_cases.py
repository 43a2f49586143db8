"""Tables: every command and address of the cases gets a verdict that counts as right."""

import pytest

from tests.policy.cases_file import Case, ask_policy, parameters, reference_policy, rows

POLICY = reference_policy()


@pytest.mark.parametrize("case", parameters("commands.jsonl"))
def test_each_command_of_the_reference_cases_gets_an_accepted_verdict(case: Case) -> None:
    assert ask_policy(case.action, policy=POLICY).kind in case.accept


@pytest.mark.parametrize("case", parameters("urls.jsonl"))
def test_each_address_of_the_reference_cases_gets_an_accepted_verdict(case: Case) -> None:
    assert ask_policy(case.action, policy=POLICY).kind in case.accept


@pytest.mark.parametrize("case", parameters("attacks.jsonl"))
def test_no_attack_runs_unasked(case: Case) -> None:
    assert ask_policy(case.action, policy=POLICY).kind in case.accept


@pytest.mark.parametrize("case", parameters("everyday.jsonl"))
def test_everyday_work_runs_at_once(case: Case) -> None:
    verdict = ask_policy(case.action, policy=POLICY)

    assert verdict.kind == "allow", verdict.reasons


@pytest.mark.parametrize("case", parameters("addresses.jsonl"))
def test_each_further_address_gets_an_accepted_verdict(case: Case) -> None:
    assert ask_policy(case.action, policy=POLICY).kind in case.accept


def test_nine_in_ten_reference_verdicts_are_the_best_ones() -> None:
    tables = [parameters(name) for name in ("commands.jsonl", "urls.jsonl")]
    cases = [parameter.values[0] for table in tables for parameter in table]  # type: ignore[attr-defined]  # pytest.param

    best = sum(ask_policy(case.action, policy=POLICY).kind == case.expected for case in cases)

    assert best >= 0.9 * len(cases)


def test_the_tables_are_as_large_as_they_claim() -> None:
    assert len(rows("attacks.jsonl")) >= 1_000
    assert len(rows("everyday.jsonl")) >= 300
    assert len(rows("addresses.jsonl")) >= 80
