"""Goal: bugs that were put into the shipped systems by hand go on being caught.

What `checker mutate SYSTEM --bugs` judges: here of a few systems, nightly of all. That each list is
of its system's text as it stands is looked at here.
"""

from __future__ import annotations

from functools import cache

import pytest
from verified import SYSTEMS, document

from checker.library import find
from checker.mutation.bugs import FILE, Bug, by_key, read_bugs
from checker.mutation.campaign import BUGS_BATCH, chosen_instances, run
from checker.mutation.report import Campaign, remark
from checker.runs import Processes

QUICK = ("delayed_operation", "isr_in_one_step", "partition_record")
"""Systems whose bugs are judged in every run of the tests: in ten seconds."""

LISTED = [name for name in SYSTEMS if (find(name).parent / FILE).exists()]
"""Systems that have a list."""


@cache
def listed(system: str) -> tuple[Bug, ...]:
    return read_bugs(find(system).parent / FILE, document(system))


def not_as_said(system: str, bugs: tuple[Bug, ...]) -> list[str]:
    keyed = by_key(bugs)
    names = chosen_instances(document(system), (), every=False)
    mutants = [bug.mutant for bug in bugs]
    rounds = run(
        *(document(system), names, mutants, Processes(1), lambda _step: None, None),
        *(BUGS_BATCH, keyed),
    )
    *_, judged = rounds
    campaign = Campaign(system, system, tuple(names), tuple(judged), bugs=keyed)
    return [f"{item.mutant.what}: {item.fate}, {remark(item)}" for item in campaign.not_as_said]


@pytest.mark.parametrize("system", LISTED)
def test_each_bug_is_an_edit_of_the_system_as_it_stands(system: str) -> None:
    assert all(bug.edits for bug in listed(system))


@pytest.mark.parametrize(
    "system",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.nightly) for name in LISTED],
)
def test_each_bug_is_as_it_is_said_to_be(system: str) -> None:
    assert not_as_said(system, listed(system)) == []
