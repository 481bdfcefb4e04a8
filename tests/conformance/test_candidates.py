"""Goal: released classes of Kafka go along the runs of docs/candidates, state by state."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from adapter import SUBJECTS, build, class_path, missing, module_of
from record import RELEASE

from checker import flow
from checker.conformance.adapter import Adapter
from checker.conformance.bind import bind
from checker.conformance.mapping import read_mapping
from checker.conformance.session import Counts, Session, Tally
from checker.conformance.space import Space
from checker.library import find

HERE = Path(__file__).parent
PAGES = HERE.parents[1] / "docs" / "candidates"
CONFIRMED: dict[tuple[str, str], str | None] = {
    ("classic_group", "append_outlives_the_session"): None,
    ("classic_group", "delay_is_extended_for_nobody"): None,
    ("classic_group", "failover_fences_a_returned_instance"): None,
    ("classic_group", "late_join_fences_its_own_process"): None,
    ("classic_group", "leaving_id_starts_a_rebalance"): None,
    ("classic_group", "left_member_waits_for_nothing"): None,
    ("classic_group", "overtaken_request_is_forgotten"): None,
    ("classic_group", "pending_id_ends_the_initial_delay"): None,
    ("classic_group", "refused_member_holds_the_barrier"): None,
    ("classic_group", "refused_id_is_waited_for"): None,
    ("classic_group", "replaced_id_holds_the_sync_timer"): None,
    ("classic_group", "return_is_answered_with_a_replaced_id"): None,
    ("classic_group", "returned_instance_has_no_room"): None,
    ("classic_group", "rollback_fences_a_joined_instance"): None,
    ("classic_group", "rollback_keeps_the_new_subscription"): None,
    ("classic_group", "rollback_leaves_no_common_protocol"): None,
    ("classic_group", "second_delay_is_not_extended"): None,
    ("classic_group", "sync_of_a_lost_generation"): None,
    ("classic_group", "two_assignments_of_a_generation"): None,
    ("consumer_group_848", "candidate_early_report"): None,
    ("consumer_group_848", "candidate_late_commit"): None,
    ("consumer_group_848", "candidate_late_heartbeat"): None,
    ("consumer_group_848", "candidate_regex_is_kept"): None,
    ("consumer_group_848", "candidate_regex_without_topics"): None,
    ("consumer_group_848", "candidate_two_lost_answers"): None,
    ("consumer_group_848", "kafka_20601"): None,
    ("consumer_group_migration", "candidate_replacement_takes_what_another_has"): None,
    ("consumer_group_migration", "candidate_stalled_consumer_is_ended"): None,
    ("consumer_group_migration", "candidate_target_that_nobody_makes"): None,
    ("consumer_group_migration", "candidate_upgrade_after_a_downgrade"): None,
    ("consumer_group_migration", "candidate_upgrade_before_a_first_rebalance"): None,
    ("consumer_group_migration", "candidate_upgrade_ends_a_rebalance"): None,
    ("consumer_group_migration", "candidate_upgrade_of_a_second_rebalance"): None,
    ("consumer_group_replay", "candidate_group_tombstone"): None,
    ("consumer_group_replay", "kafka_21117"): None,
    ("reassignment", "kafka_13972"): None,
    ("reassignment", "kafka_14424"): None,
    ("reassignment", "stopped_replica_joins"): None,
    ("share_group", "candidate_late_answer"): None,
    ("share_group", "candidate_late_subscription"): None,
    ("share_group", "candidate_members_during_deletion"): None,
    ("share_group", "candidate_repeated_answer"): None,
    ("share_partition", "candidate_compacted_gap"): None,
    ("share_partition", "candidate_emptied_cache"): None,
    ("share_partition", "candidate_expired_below_start"): None,
    ("share_partition", "candidate_expired_without_dead_letter"): "given_up_is_a_dead_letter",
    ("share_partition", "candidate_failed_write_fills_window"): None,
    ("share_partition", "candidate_gap_below_log_start"): None,
    ("share_partition", "candidate_gap_moves_back"): None,
    ("share_partition", "candidate_outranked_release"): None,
    ("share_partition", "candidate_split_during_release"): None,
    ("share_partition", "candidate_stale_record_fills_window"): None,
    ("share_partition", "candidate_truncation_fills_window"): None,
    ("share_state", "candidate_repeated_initialise"): "success_is_durable",
    ("share_state", "candidate_reset_forgets_leader"): None,
    ("topic_deletion", "mark_outlives_its_topic"): None,
    ("topic_deletion", "no_controller_is_elected"): None,
}
"""Systems and instances whose violating run a class goes along: the newest, where not in OLDER.

With a property the run is the one that violates it where every candidate is as the class has it:
what another candidate does lies on the way.
"""

OLDER = {
    ("classic_group", "return_is_answered_with_a_replaced_id"): "3.9.1",
    ("classic_group", "rollback_keeps_the_new_subscription"): "3.9.1",
    ("classic_group", "second_delay_is_not_extended"): "3.9.1",
}
"""Those that a newer release has no more."""

WIDER = {("classic_group", "second_delay_is_not_extended"): {"generation_max": 3}}
"""Those whose run ends outside the bounds, with wider ones: nothing is driven outside."""

FAST = {
    ("classic_group", "append_outlives_the_session"),
    ("share_group", "candidate_members_during_deletion"),
    ("share_partition", "candidate_gap_below_log_start"),
    ("share_partition", "candidate_outranked_release"),
    ("share_state", "candidate_reset_forgets_leader"),
}
"""Those that are driven by default; all together take minutes."""


def driven(system: str, instance: str) -> str:
    """Return the release that has the defect of an instance."""
    return OLDER.get((system, instance), SUBJECTS[system].releases[-1])


def along(system: str, instance: str) -> tuple[int, str | None]:
    """Drive a class along the violating run of an instance; how far it went, what then differed."""
    judged = CONFIRMED[system, instance]
    kafka: dict[str, int | bool | str] = {"as_in_kafka": True} if judged else {}
    kafka |= WIDER.get((system, instance), {})
    properties = (judged,) if judged else None
    asked = flow.Request(system, instance, kafka, properties=properties)
    trace = flow.check(asked, flow.Silent()).failures[0]
    request = flow.Request(system, instance, kafka, properties=(), symmetry=False)
    document, machine = flow.prepare(request, flow.Silent())
    mapping = read_mapping(find(system).parent / "conformance.yaml")
    space = Space(bind(document, machine, mapping, kafka))
    release = driven(system, instance)
    command = f"{sys.executable} {HERE / 'adapter.py'} {system} --release {release}"
    with Adapter(command, 60, 120) as adapter:
        session = Session(space, adapter, Counts([Tally() for _ in space.bound.rows]))
        first = trace.steps[0].state
        start = next(key for key in space.initial() if space.state(key) == first)
        assert session.begin(start) is None
        for step in trace.steps[1:]:
            assert session.here is not None
            choice, edge = next(
                (choice, edge)
                for choice in space.node(session.here).choices
                for edge in choice.edges
                if space.state(edge.target) == step.state
            )
            difference = session.take(choice, edge)
            if difference is not None:
                return step.number, ", ".join(item.name for item in difference.items)
            assert session.here is not None
            assert space.state(session.here) == step.state
    return trace.length, None


@pytest.mark.parametrize(
    ("system", "instance"),
    [
        pytest.param(*named, marks=() if named in FAST else pytest.mark.slow)
        for named in sorted(CONFIRMED)
    ],
)
def test_the_class_goes_along_the_violating_run(system: str, instance: str) -> None:
    lacking = missing() or build(module_of(system), driven(system, instance))
    if lacking is not None:
        pytest.skip(lacking[-300:])
    steps, difference = along(system, instance)
    assert difference is None, f"step {steps}: {difference}"


def said(module: str, release: str, main: str, *words: str) -> list[str]:
    """Return the lines that a program of a Maven module prints, skipping where it cannot run."""
    lacking = missing() or build(module, release)
    if lacking is not None:
        pytest.skip(lacking[-300:])
    path = class_path(module, release)
    with TemporaryDirectory() as folder:
        command = ["java", f"-Djava.io.tmpdir={folder}", "-cp", path, main, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_combiner_keeps_the_larger_state_of_one_delivery() -> None:
    lines = said(
        "share_state",
        SUBJECTS["share_state"].releases[-1],
        "org.apache.kafka.coordinator.share.Combined",
    )
    assert lines == ["ACKNOWLEDGED", "AVAILABLE"]  # of the same delivery, and of the next one


def test_the_upgrade_of_a_group_in_its_first_rebalance_throws() -> None:
    release = SUBJECTS["consumer_group_848"].releases[-1]
    lines = said("consumer_group_848", release, "org.apache.kafka.coordinator.group.EarlyUpgrade")
    # who joined was waiting, and is refused, though the group stays what it was
    assert lines == ["false", "NoSuchElementException", "REBALANCE_IN_PROGRESS", "classic"]


@pytest.mark.parametrize("release", ["4.2.0", "4.4.0"])
def test_a_leader_that_leads_again_commits_what_it_has_alone(release: str) -> None:
    lines = said("partition", release, "kafka.cluster.LeadsAgain")
    told = "broker 3 is cut to 0, broker 1 leads in epoch 2, takes it to end at"
    assert lines == [f"one delta: {told} 1, and commits 1", f"two deltas: {told} -1, and commits 0"]


@pytest.mark.nightly
@pytest.mark.slow
def test_a_consumer_that_meets_a_first_rebalance_is_ended_by_its_broker() -> None:
    lines = said("recorder", RELEASE, "checker.recorder.EarlyUpgrade")
    assert "group consumer ended: UnknownServerException" in lines
    assert "group classic has 2 partitions" in lines


@pytest.mark.nightly
@pytest.mark.slow
def test_the_last_consumer_that_misses_its_session_is_ended() -> None:
    lines = said("recorder", RELEASE, "checker.recorder.StalledConsumer")
    assert "one stalled ended: GroupIdNotFoundException" in lines
    assert any(re.match(r"two stalled2 has [1-3] partitions", line) for line in lines)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_static_consumer_that_upgrades_a_group_ends_its_rebalance() -> None:
    """Half a minute later the partitions of the member that left are nobody's."""
    lines = said("recorder", RELEASE, "checker.recorder.EndedRebalance")
    members = [line for line in lines if "is a member" in line]
    assert members == ["group young is a member and has 2 partitions"]
    assert "group other has 2 partitions" in lines


@pytest.mark.slow
def test_a_member_whose_leave_was_rolled_back_stays() -> None:
    """Five sessions long nothing is heard of it, and its partitions are nobody else's."""
    lines = said("recorder", RELEASE, "checker.recorder.RolledBackLeave", "consumer")
    assert any(
        line.endswith("group first is a member of epoch 2 and has 3 partitions") for line in lines
    )
    assert any(line.endswith("group second has 0 partitions") for line in lines)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_member_of_a_share_group_whose_leave_was_rolled_back_stays() -> None:
    """Five sessions long nothing is heard of it, and nobody reads the records of its partition."""
    lines = said("recorder", RELEASE, "checker.recorder.RolledBackLeave", "share")
    assert any(re.search(r"group first is a member of epoch \d+ and has", line) for line in lines)
    assert any(re.search(r"group second has read of [12] partitions$", line) for line in lines)


@pytest.mark.parametrize("protocol", ["consumer", "share"])
def test_the_end_of_a_session_that_was_written_late_ends_the_next_membership(protocol: str) -> None:
    """Of a consumer that joined anew a second after the end; a heartbeat sets its timer in time."""
    lines = said("group_service", RELEASE, "checker.service.LateEnd", protocol)
    assert lines == [
        "in time, 1000 ms: heartbeat UNKNOWN_MEMBER_ID",
        "in time, 4900 ms: join NONE",
        "in time, 5900 ms: heartbeat NONE",
        "in time, 6900 ms: heartbeat NONE",
        "late, and a heartbeat, 1000 ms: heartbeat UNKNOWN_MEMBER_ID",
        "late, and a heartbeat, 5200 ms: join NONE",
        "late, and a heartbeat, 5200 ms: heartbeat NONE",
        "late, and a heartbeat, 6200 ms: heartbeat NONE",
        "late, 1000 ms: heartbeat UNKNOWN_MEMBER_ID",
        "late, 5200 ms: join NONE",
        "late, 6200 ms: heartbeat UNKNOWN_MEMBER_ID",
        "late, 7200 ms: heartbeat UNKNOWN_MEMBER_ID",
        "later, 1000 ms: heartbeat UNKNOWN_MEMBER_ID",
        "later, 5800 ms: join NONE",
        "later, 5800 ms: heartbeat UNKNOWN_MEMBER_ID",
        "later, 6800 ms: heartbeat UNKNOWN_MEMBER_ID",
    ]


def test_every_page_names_runs_that_were_driven() -> None:
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"checker check (\w+) --instance (\w+)", text))
        assert named or page.name == "README.md", page.name
        assert named <= set(CONFIRMED) or "seen in the model only" in text, page.name
