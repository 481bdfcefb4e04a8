"""Goal: the shipped state tables are Kafka's (which state is entered from which) and say why."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.library import shipped
from checker.table import StateTable, read_table

TABLES = {entry.name: entry.path for entry in shipped() if entry.kind == "table"}

PREVIOUS: dict[str, dict[str, set[str]]] = {
    "coordinator_context": {
        "INITIAL": set(),
        "LOADING": {"INITIAL", "FAILED"},
        "ACTIVE": {"LOADING"},
        "FAILED": {"LOADING", "ACTIVE"},
        "CLOSED": {"INITIAL", "LOADING", "ACTIVE", "FAILED"},
    },
    "delayed_operation": {
        "CREATED": set(),
        "WATCHED": {"CREATED"},
        "COMPLETED": {"CREATED", "WATCHED"},
    },
    "group": {
        "Empty": {"PreparingRebalance"},
        "PreparingRebalance": {"Empty", "CompletingRebalance", "Stable"},
        "CompletingRebalance": {"PreparingRebalance"},
        "Stable": {"CompletingRebalance"},
        "Dead": {"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"},
    },
    "isr_state": {
        "COMMITTED": {"COMMITTED", "PENDING_EXPAND", "PENDING_SHRINK"},
        "PENDING_EXPAND": {"COMMITTED"},
        "PENDING_SHRINK": {"COMMITTED"},
    },
    "member": {
        "UNJOINED": {"UNJOINED", "PREPARING_REBALANCE", "COMPLETING_REBALANCE", "STABLE"},
        "PREPARING_REBALANCE": {
            "UNJOINED",
            "PREPARING_REBALANCE",
            "COMPLETING_REBALANCE",
            "STABLE",
        },
        "COMPLETING_REBALANCE": {"PREPARING_REBALANCE"},
        "STABLE": {"COMPLETING_REBALANCE"},
    },
    "partition": {
        "NonExistentPartition": {"OfflinePartition"},
        "NewPartition": {"NonExistentPartition"},
        "OnlinePartition": {"NewPartition", "OnlinePartition", "OfflinePartition"},
        "OfflinePartition": {"NewPartition", "OnlinePartition", "OfflinePartition"},
    },
    "replica": {
        "NonExistentReplica": {"ReplicaDeletionSuccessful"},
        "NewReplica": {"NonExistentReplica"},
        "OnlineReplica": {
            "NewReplica",
            "OnlineReplica",
            "OfflineReplica",
            "ReplicaDeletionIneligible",
        },
        "OfflineReplica": {
            "NewReplica",
            "OnlineReplica",
            "OfflineReplica",
            "ReplicaDeletionIneligible",
        },
        "ReplicaDeletionStarted": {"OfflineReplica"},
        "ReplicaDeletionSuccessful": {"ReplicaDeletionStarted"},
        "ReplicaDeletionIneligible": {"OfflineReplica", "ReplicaDeletionStarted"},
    },
    "consumer_group": {
        "EMPTY": {"ASSIGNING", "RECONCILING", "STABLE"},
        "ASSIGNING": {"EMPTY", "RECONCILING", "STABLE"},
        "RECONCILING": {"EMPTY", "ASSIGNING", "STABLE"},
        "STABLE": {"EMPTY", "ASSIGNING", "RECONCILING"},
        "DEAD": {"EMPTY"},
    },
    "consumer_group_member": {
        "NOT_A_MEMBER": {"STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS", "UNKNOWN"},
        "STABLE": {
            "NOT_A_MEMBER",
            "STABLE",
            "UNREVOKED_PARTITIONS",
            "UNRELEASED_PARTITIONS",
            "UNKNOWN",
        },
        "UNREVOKED_PARTITIONS": {"STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS"},
        "UNRELEASED_PARTITIONS": {
            "STABLE",
            "UNREVOKED_PARTITIONS",
            "UNRELEASED_PARTITIONS",
            "UNKNOWN",
        },
        "UNKNOWN": set(),
    },
    "consumer_member": {
        "UNSUBSCRIBED": {"PREPARE_LEAVING", "LEAVING", "FENCED"},
        "JOINING": {"UNSUBSCRIBED", "FENCED", "STALE"},
        "RECONCILING": {"STABLE", "JOINING", "ACKNOWLEDGING", "RECONCILING"},
        "ACKNOWLEDGING": {"RECONCILING"},
        "STABLE": {"JOINING", "ACKNOWLEDGING", "RECONCILING"},
        "FENCED": {
            "JOINING",
            "STABLE",
            "RECONCILING",
            "ACKNOWLEDGING",
            "PREPARE_LEAVING",
            "LEAVING",
        },
        "PREPARE_LEAVING": {"JOINING", "STABLE", "RECONCILING", "ACKNOWLEDGING", "UNSUBSCRIBED"},
        "LEAVING": {"PREPARE_LEAVING"},
        "STALE": {"LEAVING"},
        "FATAL": {
            "JOINING",
            "STABLE",
            "RECONCILING",
            "ACKNOWLEDGING",
            "PREPARE_LEAVING",
            "LEAVING",
            "UNSUBSCRIBED",
        },
    },
    "rewrite_consumer": {
        "DOWN": {
            "STARTING",
            "PART_OF_A_GROUP",
            "REDISCOVERING",
            "STOPPED_CONSUMPTION",
            "BLOCKED",
        },
        "STARTING": {"DOWN"},
        "PART_OF_A_GROUP": {"STARTING", "STOPPED_CONSUMPTION", "REDISCOVERING"},
        "REDISCOVERING": {"PART_OF_A_GROUP"},
        "STOPPED_CONSUMPTION": {"PART_OF_A_GROUP", "BLOCKED"},
        "BLOCKED": {"PART_OF_A_GROUP", "STOPPED_CONSUMPTION"},
    },
    "rewrite_coordinator": {
        "DOWN": {"CATCH_UP", "READY", "STEADY", "PREPARE_FOR_REBALANCE", "REBALANCING"},
        "CATCH_UP": {"DOWN"},
        "READY": {"CATCH_UP"},
        "STEADY": {"READY", "PREPARE_FOR_REBALANCE", "REBALANCING"},
        "PREPARE_FOR_REBALANCE": {"READY", "STEADY"},
        "REBALANCING": {"PREPARE_FOR_REBALANCE"},
    },
    "share_group": {"EMPTY": {"STABLE"}, "STABLE": {"EMPTY"}, "DEAD": {"EMPTY"}},
    "share_member": {
        "UNSUBSCRIBED": {"JOINING", "STABLE"},
        "JOINING": {"UNSUBSCRIBED", "JOINING", "STABLE"},
        "STABLE": {"JOINING", "STABLE"},
        "CRASHED": {"UNSUBSCRIBED", "JOINING", "STABLE"},
    },
    "share_record": {
        "AVAILABLE": {"ACQUIRED"},
        "ACQUIRED": {"AVAILABLE", "ACQUIRED"},
        "ACKNOWLEDGED": {"ACQUIRED"},
        "ARCHIVING": {"ACQUIRED"},
        "ARCHIVED": {"AVAILABLE", "ACQUIRED", "ARCHIVING"},
    },
}

CREATED = {
    "isr_state": set(),
    "coordinator_context": {"INITIAL"},
    "delayed_operation": set(),
    "group": {"Empty", "Stable"},
    "member": set(),
    "partition": {"NewPartition", "OnlinePartition", "OfflinePartition"},
    "replica": {"OnlineReplica", "ReplicaDeletionIneligible"},
    "consumer_group": {"EMPTY", "ASSIGNING", "RECONCILING", "STABLE"},
    "consumer_group_member": {
        "STABLE",
        "UNREVOKED_PARTITIONS",
        "UNRELEASED_PARTITIONS",
        "UNKNOWN",
    },
    "consumer_member": {"UNSUBSCRIBED"},
    "rewrite_consumer": set(),
    "rewrite_coordinator": set(),
    "share_group": {"EMPTY"},
    "share_member": set(),
    "share_record": {"AVAILABLE", "ACKNOWLEDGED", "ARCHIVING", "ARCHIVED"},
}


def shipped_table(name: str) -> StateTable:
    """Return a shipped table, read."""
    return read_table(Path(TABLES[name]))


def test_these_tables_are_shipped() -> None:
    """None is missing, and none is there that this file does not hold to its facts."""
    assert set(PREVIOUS) == set(TABLES)


@pytest.mark.parametrize("name", sorted(PREVIOUS))
def test_previous_states(name: str) -> None:
    """Each state is entered from its legal previous states, and from no other."""
    table = shipped_table(name)
    found: dict[str, set[str]] = {state: set() for state, _ in table.states}
    for move in table.transitions:
        found[move.target].add(move.origin)
    assert found == PREVIOUS[name]


@pytest.mark.parametrize("name", sorted(PREVIOUS))
def test_created(name: str) -> None:
    """Only these states are ever loaded or read back."""
    assert set(shipped_table(name).created) == CREATED[name]


@pytest.mark.parametrize("name", sorted(PREVIOUS))
def test_prose_and_sources(name: str) -> None:
    """The table is called as its file; every state has a line of prose, every move its source."""
    table = shipped_table(name)
    assert table.name == name
    assert table.about
    assert table.source
    assert all(about.strip() for _, about in table.states)
    assert all(move.event and move.about and move.source for move in table.transitions)


def test_one_initial_state() -> None:
    """A machine that nobody created starts in one state."""
    for name in TABLES:
        assert len(shipped_table(name).initial) == 1, name


def test_group_loses_only_what_was_never_written() -> None:
    """A group is loaded as Empty or Stable, never in the middle of a rebalance."""
    table = shipped_table("group")
    assert table.allows("create", "Dead", "Stable")
    assert not table.allows("create", "Dead", "CompletingRebalance")


def test_share_record_rolls_back() -> None:
    """A failed write restores ACQUIRED from every acknowledged state; no transition does."""
    table = shipped_table("share_record")
    for state in ("ACKNOWLEDGED", "ARCHIVED", "ARCHIVING"):
        assert table.allows("restore", state, "ACQUIRED")
        assert not table.allows("transition", state, "ACQUIRED")
    assert not table.allows("restore", "ACQUIRED", "ACKNOWLEDGED")
