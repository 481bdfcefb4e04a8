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
    assert "coordinator_join_follower_unchanged_in_stable" in found
    assert "coordinator_join_known_in_preparing" not in found
    assert len(found) == 12


def test_rows_by_name() -> None:
    assert names(row="coordinator_join_refused") == {"coordinator_join_refused"}
    assert names(row="*_returns_*") >= {
        "coordinator_join_instance_returns_in_stable",
        "coordinator_join_instance_returns_in_preparing",
    }
    assert names(row="nothing_*") == set()


def test_rows_by_what_they_take() -> None:
    assert names(on="LeaveGroup") == {
        "coordinator_leave_member",
        "coordinator_leave_pending_id",
        "coordinator_leave_in_dead",
        "other_broker_refuses_leave",
    }
    assert "coordinator_append_assignment_ok" in names(on="append_group")
    assert "coordinator_append_assignment_ok" not in names(on="timeout")


def test_rows_by_variables_also_through_procedures() -> None:
    writing = names(writes="pending_sync")
    assert "coordinator_sync_in_completing" in writing
    assert "coordinator_member_timer_expires" in writing, "by way of remove_member and forget"
    assert names(writes="coordinator.pending_sync") == writing
    assert "coordinator_heartbeat_in_stable" not in writing
    assert "client_poll_sends_join" in names(reads="rejoin_needed", row="client_*")


def test_few_rows_are_shown_whole() -> None:
    rows = find_rows(GROUP, Query(row="coordinator_join_refused"))
    listed, whole = found_sections(GROUP, rows)
    assert listed.rows[0][1].startswith("joins.yaml:")
    assert "JoinGroup" in listed.rows[0][1]
    assert whole.blocks[0].name == "coordinator_join_refused"
    assert len(found_sections(GROUP, GROUP.rows)) == 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"row": "coordinator_join_refuse"}, "did you mean coordinator_join_refused"),
        ({"on": "JoinGrup"}, "did you mean JoinGroup"),
        ({"inside": "Stabel"}, "did you mean Stable"),
        ({"reads": "coordinator.leeder"}, "did you mean coordinator.leader"),
        ({"writes": "nothing"}, "there is no variable"),
    ],
)
def test_what_is_not_there_is_said(query: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        find_rows(GROUP, Query(**query))
