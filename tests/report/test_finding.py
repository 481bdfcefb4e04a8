"""Goal: a row is found by its name, what it takes, where it applies, what it reads and writes."""

import pytest

from checker.errors import UsageError
from checker.library import find
from checker.report.finding import Query, find_rows, found_sections
from checker.table import read

GROUP = read(find("classic_group"))


def names(**query: str) -> set[str]:
    return {row.name.text for row in find_rows(GROUP, Query(**query))}


def test_a_rejoin_without_a_change_in_stable_is_found() -> None:
    found = names(on="JoinGroup", inside="Stable")
    assert "join_is_answered_again" in found
    assert "join_waits" not in found
    assert len(found) < 10


def test_rows_by_name() -> None:
    assert names(row="join_waits") == {"join_waits"}
    assert names(row="*_returns*") >= {"instance_returns", "instance_returns_while_preparing"}
    assert names(row="nothing_*") == set()


def test_rows_by_what_they_take() -> None:
    assert names(on="LeaveGroup") == {"leave_group", "leave_finds_a_dead_group"}
    assert "assignment_is_written" in names(on="append_group")
    assert "assignment_is_written" not in names(on="timeout")


def test_rows_by_variables_also_through_procedures() -> None:
    writing = names(writes="pending_sync")
    assert "sync_waits" in writing
    assert "member_expires" in writing, "by way of remove_member and forget"
    assert names(writes="coordinator.pending_sync") == writing
    assert "heartbeat_while_stable" not in writing
    assert "client_joins" in names(reads="rejoin_needed", row="client_*")


def test_few_rows_are_shown_whole() -> None:
    rows = find_rows(GROUP, Query(row="join_waits"))
    listed, whole = found_sections(GROUP, rows)
    assert listed.rows[0][1].startswith("requests.yaml:")
    assert "JoinGroup" in listed.rows[0][1]
    assert whole.blocks[0].name == "join_waits"
    assert len(found_sections(GROUP, GROUP.rows)) == 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"row": "join_wait"}, "did you mean join_waits"),
        ({"on": "JoinGrup"}, "did you mean JoinGroup"),
        ({"inside": "Stabel"}, "did you mean Stable"),
        ({"reads": "coordinator.leeder"}, "did you mean coordinator.leader"),
        ({"writes": "nothing"}, "there is no variable"),
    ],
)
def test_what_is_not_there_is_said(query: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        find_rows(GROUP, Query(**query))
