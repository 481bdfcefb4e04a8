"""Goal: what a released broker and its consumers did is a run of the model; falsified, it is not.

`recorded/` has beginnings of logs that `record.py` wrote of a broker of Kafka 4.4.0 (of one the
lines of its records alone), and three that begin in the middle of a run.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from validating import validated

from checker.cli.mapped import Mapped, mapped

RECORDED = Path(__file__).parent / "recorded"
JOINS = RECORDED / "three_consumers_join_4.4.0.jsonl"

nightly = partial(pytest.param, marks=pytest.mark.nightly)
"""A changed line that takes ten processor seconds or more, beside others of the same run."""


@pytest.fixture(scope="module", autouse=True)
def _models() -> Iterator[None]:
    """Elaborate and bind once for all logs that decide the same: most are of one run, falsified."""
    known: dict[object, Mapped] = {}

    def shared(*asked: Any, decided: Any) -> Mapped:
        *same, _observer = asked
        key = (*same, decided)
        if key not in known:
            known[key] = mapped(*asked, decided=decided)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("checker.cli.validate.mapped", shared)
        yield


def judge(log: Path, *options: str, system: str = "consumer_group_848") -> dict[str, Any]:
    return validated(system, str(log), *options)


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in JOINS.read_text().splitlines()]


def answers(lines: list[dict[str, Any]], who: str) -> list[dict[str, Any]]:
    """Return the answers with an assignment to one consumer."""
    return [
        line
        for line in lines
        if line.get("dir") == "resp" and line["who"] == who and line["assigned"]
    ]


def judged(
    changed: list[dict[str, Any]], folder: Path, system: str = "consumer_group_848"
) -> dict[str, Any]:
    log = folder / "changed.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in changed))
    return judge(log, system=system)


def test_three_consumers_that_join_are_explained() -> None:
    found = judge(JOINS)
    assert found["verdict"] == "explained"
    assert found["rows"]["heartbeat_is_answered"] == found["rows"]["heartbeat"]


def doubled_owner(run: list[dict[str, Any]]) -> int:
    """B is given a partition that A still has."""
    held = answers(run, "A")[-1]["assigned"]
    line = answers(run, "B")[-1]
    line["assigned"] = sorted([*line["assigned"], held[0]])
    return int(line["i"])


def epoch_ahead(run: list[dict[str, Any]]) -> int:
    """A is told an epoch that the group has not reached."""
    line = answers(run, "A")[-1]
    line["epoch"] += 3
    return int(line["i"])


def unknown_member(run: list[dict[str, Any]]) -> int:
    """A member that the group has just answered is fenced at once."""
    line = next(
        line for line in run if line.get("dir") == "resp" and line["who"] == "A" and line["i"] > 40
    )
    line["err"] = "UNKNOWN_MEMBER_ID"
    return int(line["i"])


def owner_too_early(run: list[dict[str, Any]]) -> int:
    """B has what A is to give up before A says that it did."""
    line = next(line for line in run if line.get("dir") == "resp" and line["who"] == "B")
    line["assigned"] = [2, 3]
    return int(line["i"])


@pytest.mark.parametrize("falsify", [doubled_owner, epoch_ahead, unknown_member, owner_too_early])
def test_a_run_with_one_line_changed_is_not(falsify: Any, tmp_path: Path) -> None:
    run = lines()
    number = falsify(run)
    found = judged(run, tmp_path)
    assert found["verdict"] == "diverges"
    assert found["event"]["i"] >= number


def test_a_log_that_begins_midway_is_explained_only_as_one(tmp_path: Path) -> None:
    run = [line for line in lines() if line["i"] >= 40]
    log = tmp_path / "late.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in run[:6]))
    assert judge(log)["verdict"] == "diverges"


CLASSIC = RECORDED / "classic_consumers_4.4.0.jsonl"
CUT = RECORDED / "cut_and_killed_consumers_4.4.0.jsonl"


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize(
    ("file", "system", "options"),
    [
        (CUT, "consumer_group_848", ()),
        (CLASSIC, "classic_group", ()),
        (RECORDED / "stalled_classic_consumers_4.4.0.jsonl", "classic_group", ()),
        (RECORDED / "classic_joins_midway_4.4.0.jsonl", "classic_group", ("--midway",)),
        (RECORDED / "consumer_joins_midway_4.4.0.jsonl", "consumer_group_848", ("--midway",)),
        (RECORDED / "share_joins_midway_4.4.0.jsonl", "share_group", ("--midway",)),
        (RECORDED / "stalled_share_consumers_4.4.0.jsonl", "share_group", ()),
    ],
)
def test_what_a_broker_did_is_explained(file: Path, system: str, options: tuple[str, ...]) -> None:
    assert judge(file, *options, system=system)["verdict"] == "explained"


Run = list[dict[str, Any]]


def answered(run: Run, kind: str, **fields: Any) -> dict[str, Any]:
    """Return the last answer of a kind with some fields."""
    return next(
        line
        for line in reversed(run)
        if line.get("dir") == "resp"
        and line["kind"] == kind
        and all(line.get(name) == value for name, value in fields.items())
    )


def generation_ahead(run: Run) -> None:
    answered(run, "JoinGroup", err="NONE")["gen"] += 1


def another_leader(run: Run) -> None:
    line = next(
        line for line in run if line.get("dir") == "resp" and len(line.get("members", ())) == 3
    )
    line["leader"] = next(one for one in line["members"] if one != line["leader"])


def member_left_out(run: Run) -> None:
    next(line for line in run if line.get("dir") == "resp" and len(line.get("members", ())) == 3)[
        "members"
    ].pop()


def stranger_at_once(run: Run) -> None:
    """A member of the generation that there is, is told that it is of another."""
    next(line for line in run if line.get("err") == "NONE" and line["kind"] == "Heartbeat")[
        "err"
    ] = "ILLEGAL_GENERATION"


def another_assignment(run: Run) -> None:
    """A member gets besides what the leader gave it a partition that the leader gave to another."""
    assigned = answered(run, "SyncGroup", who="B", err="NONE")["assigned"]
    assigned.append(next(one for one in range(4) if one not in assigned))


def assignment_ahead(run: Run) -> None:
    """The leader gives two members a partition, and one of them gets it."""
    line = next(line for line in run if len(line.get("assign", {})) == 3)
    line["assign"]["C"].append(0)


def refused_by_the_only_broker(run: Run) -> None:
    """There is one broker, nothing moves, and it refuses whom it has just answered."""
    answered(run, "Heartbeat", err="NONE")["err"] = "NOT_COORDINATOR"


CLASSIC_CHANGES = [
    generation_ahead,
    another_leader,
    member_left_out,
    stranger_at_once,
    another_assignment,
    assignment_ahead,
    refused_by_the_only_broker,
]


@pytest.mark.parametrize("falsify", CLASSIC_CHANGES)
def test_a_classic_run_with_one_line_changed_is_not(
    falsify: Callable[[Run], None], tmp_path: Path
) -> None:
    run = read(CLASSIC)
    falsify(run)
    assert judged(run, tmp_path, "classic_group")["verdict"] == "diverges"


def partition_too_many(run: Run) -> None:
    """The third of three consumers is given three partitions of four."""
    line = answered(run, "ShareGroupHeartbeat", who="C", epoch=6, assigned=[2])
    line["assigned"] = [1, 2, 3]


def epoch_that_skips_one(run: Run) -> None:
    """A comes back after its session has ended, and the epoch is one more than that takes."""
    answered(run, "ShareGroupHeartbeat", who="A", epoch=5, assigned=[1, 2])["epoch"] = 6


@pytest.mark.parametrize("falsify", [partition_too_many, epoch_that_skips_one])
def test_a_share_run_with_one_line_changed_is_not(
    falsify: Callable[[Run], None], tmp_path: Path
) -> None:
    run = read(RECORDED / "stalled_share_consumers_4.4.0.jsonl")
    falsify(run)
    assert judged(run, tmp_path, "share_group")["verdict"] == "diverges"


SHARE_FIVE = RECORDED / "five_share_consumers_4.4.0.jsonl"
SHARE_FAILING = RECORDED / "failing_appends_share_4.4.0.jsonl"
SHARE_MOVING = RECORDED / "moving_coordinator_share_4.4.0.jsonl"
SHARE_LATE = RECORDED / "late_appends_share_4.4.0.jsonl"


@pytest.mark.parametrize(
    "file", [SHARE_FIVE, SHARE_FAILING, SHARE_MOVING, SHARE_LATE], ids=lambda one: one.stem
)
def test_what_share_consumers_did_is_explained(file: Path) -> None:
    found = judge(file, system="share_group")
    assert (found["verdict"], found["why"]) == ("explained", None)


def share_of_another(run: Run) -> dict[str, Any]:
    """D is given besides its own a partition that two others have."""
    line = answered(run, "ShareGroupHeartbeat", who="D", epoch=7, assigned=[2, 3])
    line["assigned"] = [0, 2, 3]
    return line


def stranger_after_a_move(run: Run) -> dict[str, Any]:
    """A consumer that was heard half a second ago is unknown."""
    line = next(one for one in run if one["i"] >= 53 and one.get("err") == "NONE")
    line |= {"err": "UNKNOWN_MEMBER_ID", "epoch": 0}
    return line


def failed_join_counts(run: Run) -> dict[str, Any]:
    """The log did not take D's join, and D is let in."""
    line = answered(run, "ShareGroupHeartbeat", who="D", err="UNKNOWN_SERVER_ERROR")
    line |= {"err": "NONE", "m": "D", "epoch": 4, "assigned": [0]}
    return line


def served_by_who_has_refused_another(run: Run) -> dict[str, Any]:
    """The coordinator has moved, and its former broker, which knows that, serves B."""
    line = answered(run, "ShareGroupHeartbeat", who="B", err="NOT_COORDINATOR")
    line |= {"err": "NONE", "m": "B", "epoch": 6, "hb_ms": 500, "assigned": None}
    return line


def partition_of_nobody(run: Run) -> dict[str, Any]:
    """A new target leaves a partition out."""
    line = next(one for one in run if len(one.get("assigned") or ()) == 2 and one["i"] > 40)
    line["assigned"] = line["assigned"][1:]
    return line


def epoch_of_a_late_append_skipped(run: Run) -> dict[str, Any]:
    """What was answered in vain raised the epoch by one, and it is two more."""
    line = next(one for one in run if one.get("epoch") == 5 and one.get("dir") == "resp")
    for one in run:
        if one.get("epoch") == 5:
            one["epoch"] = 6
    return line


@pytest.mark.parametrize(
    ("file", "falsify"),
    [
        nightly(SHARE_FIVE, share_of_another),
        (SHARE_FAILING, failed_join_counts),
        (SHARE_MOVING, stranger_after_a_move),
        (SHARE_MOVING, partition_of_nobody),
        (SHARE_MOVING, served_by_who_has_refused_another),
        nightly(SHARE_LATE, epoch_of_a_late_append_skipped),
    ],
)
def test_what_share_consumers_did_with_one_line_changed_is_not(
    file: Path, falsify: Callable[[Run], dict[str, Any]], tmp_path: Path
) -> None:
    run = read(file)
    line = falsify(run)
    found = judged(run, tmp_path, "share_group")
    assert found["verdict"] == "diverges"
    assert found["event"]["i"] >= line["i"]


# ------------------------------------------------------------------- records of a share partition

RECORDS = RECORDED / "share_records_4.4.0.jsonl"


def of_partition(run: Run, partition: int) -> Run:
    """Return what a run says of one partition's records."""
    for line in run:
        for key in ("acks", "parts"):
            if key in line:
                line[key] = [p for p in line[key] if p == partition or partition_of(p) == partition]
    return run


def partition_of(part: Any) -> int | None:
    return part["p"] if isinstance(part, dict) else None


def test_what_happened_to_each_record_is_explained() -> None:
    """Locks expire, a connection breaks, an answer comes too late and does nothing."""
    found = judge(RECORDS, system="share_partition")
    assert found["verdict"] == "explained"
    assert len(found["each"]) > 30


def held_by_two(run: Run) -> None:
    """C gets what B holds, before B's lock can have expired."""
    acquired(run, 44).append([15, 17, 2])


def delivery_too_many(run: Run) -> None:
    acquired(run, 94)[0][2] += 1


def delivery_too_few(run: Run) -> None:
    acquired(run, 62)[0][2] -= 1


def accepted_by_another(run: Run) -> None:
    """What B holds is accepted by C."""
    (part,) = at(run, 45)["acks"]
    part["batches"].append([15, 17, 1])


def delivered_after_it_was_rejected(run: Run) -> None:
    acquired(run, 98).append([27, 27, 2])


def at(run: Run, number: int) -> dict[str, Any]:
    return next(line for line in run if line["i"] >= number)


def acquired(run: Run, number: int) -> list[list[int]]:
    """Return what an answer says was acquired of the partition."""
    (part,) = at(run, number)["parts"]
    found = part["acquired"]
    assert isinstance(found, list)
    return found


FALSIFIED = [
    held_by_two,
    delivery_too_many,
    delivery_too_few,
    accepted_by_another,
    delivered_after_it_was_rejected,
]


@pytest.mark.parametrize("falsify", FALSIFIED)
def test_records_of_a_run_with_one_line_changed_are_not(
    falsify: Callable[[Run], None], tmp_path: Path
) -> None:
    run = of_partition(read(RECORDS), 0)
    falsify(run)
    assert judged(run, tmp_path, "share_partition")["verdict"] == "diverges"


# ------------------------------------------------ several brokers, and a log that takes no records

MOVING = RECORDED / "moving_coordinator_consumer_4.4.0.jsonl"
ZOMBIE = RECORDED / "zombie_consumer_4.4.0.jsonl"
CLASSIC_LATE = RECORDED / "late_appends_classic_4.4.0.jsonl"
FAILING = RECORDED / "failing_appends_consumer_4.4.0.jsonl"
CLASSIC_MOVING = RECORDED / "moving_coordinator_classic_4.4.0.jsonl"
LATE = RECORDED / "late_appends_consumer_4.4.0.jsonl"
OVERLAPPING = RECORDED / "overlapping_late_appends_consumer_4.4.0.jsonl"
CLASSIC_LEAVING = RECORDED / "leave_during_a_join_classic_4.4.0.jsonl"
CLASSIC_FAILING = RECORDED / "failing_appends_classic_4.4.0.jsonl"
CLASSIC_LATE_JOINS = RECORDED / "late_joins_classic_4.4.0.jsonl"
CLASSIC_FORMER = RECORDED / "former_coordinator_classic_4.4.0.jsonl"
CLASSIC_UNWRITTEN = RECORDED / "unwritten_group_classic_4.4.0.jsonl"
CLASSIC_SYNC = RECORDED / "sync_after_a_leave_classic_4.4.0.jsonl"


@pytest.mark.parametrize(
    ("file", "system"),
    [
        (MOVING, "consumer_group_848"),
        (ZOMBIE, "consumer_group_848"),
        (FAILING, "consumer_group_848"),
        (LATE, "consumer_group_848"),
        (OVERLAPPING, "consumer_group_848"),
        (CLASSIC_MOVING, "classic_group"),
        (CLASSIC_LEAVING, "classic_group"),
        (CLASSIC_FAILING, "classic_group"),
        (CLASSIC_LATE, "classic_group"),
        (CLASSIC_LATE_JOINS, "classic_group"),
        (CLASSIC_FORMER, "classic_group"),
        (CLASSIC_UNWRITTEN, "classic_group"),
        (CLASSIC_SYNC, "classic_group"),
    ],
    ids=lambda one: getattr(one, "stem", one),
)
def test_what_several_brokers_did_is_explained(file: Path, system: str) -> None:
    found = judge(file, system=system)
    assert (found["verdict"], found["why"]) == ("explained", None)


def heard_by_who_is_no_coordinator(run: Run) -> None:
    """B's heartbeat after the move is answered with an epoch that the next one does not know."""
    line = next(one for one in run if one.get("who") == "B" and one.get("err") == "NOT_COORDINATOR")
    line |= {"err": "NONE", "m": "B", "epoch": 6, "hb_ms": 500, "assigned": None}


def zombie_lets_in(run: Run) -> None:
    """The joins that the paused broker did not answer count: the epoch is 3 by then."""
    line = next(one for one in run if one.get("who") == "A" and one.get("err") == "NONE")
    line["epoch"] = 3


def rolled_back_join_counts(run: Run) -> None:
    """Neither A nor B got in, and C does not have the group to itself all the same."""
    answered(run, "ConsumerGroupHeartbeat", who="C", epoch=2, assigned=[0, 1, 2, 3])["assigned"] = [
        0
    ]


def join_without_an_epoch(run: Run) -> None:
    """C joins after the late records were committed, and the epoch stays what it was with B."""
    for line in run:
        if line.get("epoch") == 5:
            line["epoch"] = 4


def refused_without_a_wait(run: Run) -> None:
    """A is told at once that the log was not in time."""
    at(run, 6)["err"] = "COORDINATOR_NOT_AVAILABLE"


def fenced_while_it_waits(run: Run) -> None:
    """B waits for the log a second time, with the epoch that it has."""
    at(run, 20)["err"] = "FENCED_MEMBER_EPOCH"


def late_heartbeats_raise_the_epoch(run: Run) -> None:
    """A's leave was late and raised the epoch, B's heartbeats meanwhile did not."""
    for line in run:
        if line.get("epoch") == 6:
            line["epoch"] = 7


def partition_of_who_left_is_missing(run: Run) -> None:
    """A left late, and B after it; C has the group to itself, and half of the partitions."""
    at(run, 30)["assigned"] = [0, 1]


def leave_of_a_stranger(run: Run) -> None:
    """B has just been heard, and leaves as one whom nobody knows."""
    at(run, 27)["err"] = "UNKNOWN_MEMBER_ID"


def late_join_is_forgotten(run: Run) -> None:
    """D waits in vain twice; what its joins, E's and C's end did to the epoch stays done."""
    for line in run:
        if line.get("epoch") == 10:
            line["epoch"] = 9


def late_joiner_has_nothing(run: Run) -> None:
    """E has left by then, and D does not get what E was to have."""
    at(run, 48)["assigned"] = [0, 1]


def refused_by_the_only_one_asked(run: Run) -> None:
    """Nothing moves, and the coordinator says that it is none."""
    at(run, 57)["err"] = "NOT_COORDINATOR"


def generation_again(run: Run) -> None:
    """The coordinator moved twice, and C's generation is the one that B had left."""
    for line in run:
        if line.get("gen") == 6:
            line["gen"] = 4


def generation_without_a_record(run: Run) -> None:
    """Generation 2 was not written, and the next coordinator goes on from it."""
    for line in run:
        if line["i"] > 28 and line.get("gen") == 2:
            line["gen"] = 3


def assignment_in_spite_of_it(run: Run) -> None:
    """The append of B's assignment failed, and B gets it."""
    line = answered(run, "SyncGroup", who="B", err="UNKNOWN_SERVER_ERROR")
    line |= {"err": "NONE", "assigned": [2, 3]}


def generation_taken_back(run: Run) -> None:
    """A's generations were not committed in time and are not gone: B's cannot be the first."""
    for line in run:
        if line["who"] == "B" and line.get("gen") == 3:
            line["gen"] = 1


def forgotten_by_the_next_one(run: Run) -> None:
    """D heard its generation's assignment, which is in the log, and the next broker knows no D."""
    line = next(one for one in run if one["i"] == 43)
    line["err"] = "UNKNOWN_MEMBER_ID"


def generation_skipped_by_the_next_one(run: Run) -> None:
    """The next broker goes on from generation 3 with the fifth."""
    for line in run:
        if line.get("gen") == 4:
            line["gen"] = 5


def owner_doubled_by_the_next_one(run: Run) -> None:
    """E is given what the leader gave to D."""
    answered(run, "SyncGroup", who="E", err="NONE")["assigned"] = [1, 2, 3]


def told_at_once_that_it_was_late(run: Run) -> None:
    """A's heartbeat did not wait for the log, and is answered as if it had, in vain."""
    next(line for line in run if line.get("kind") == "Heartbeat" and line.get("err") == "NONE")[
        "err"
    ] = "COORDINATOR_NOT_AVAILABLE"


def generation_before_the_late_joins(run: Run) -> None:
    """B and C wait in vain and join again; the group is as it was before."""
    for line in run:
        if line.get("gen") == 5:
            line["gen"] = 4


def new_group_forgotten_by_a_log_that_takes_it(run: Run) -> None:
    """B's first id is unknown although the record of its group was taken."""
    run.remove(next(line for line in run if line["kind"] == "Limit"))


def sync_of_who_has_left(run: Run) -> None:
    """A's sync goes after its leave, and A is given what it asks for."""
    answered(run, "SyncGroup", who="A").update(err="NONE", assigned=[0, 1, 2, 3])


@pytest.mark.parametrize(
    ("file", "falsify"),
    [
        (MOVING, heard_by_who_is_no_coordinator),
        (ZOMBIE, zombie_lets_in),
        (FAILING, rolled_back_join_counts),
        (LATE, join_without_an_epoch),
        nightly(OVERLAPPING, refused_without_a_wait),
        nightly(OVERLAPPING, fenced_while_it_waits),
        nightly(OVERLAPPING, late_heartbeats_raise_the_epoch),
        nightly(OVERLAPPING, partition_of_who_left_is_missing),
        (OVERLAPPING, leave_of_a_stranger),
        nightly(OVERLAPPING, late_join_is_forgotten),
        (OVERLAPPING, late_joiner_has_nothing),
        nightly(OVERLAPPING, refused_by_the_only_one_asked),
        (CLASSIC_MOVING, generation_without_a_record),
        (CLASSIC_LEAVING, generation_again),
        (CLASSIC_FAILING, assignment_in_spite_of_it),
        (CLASSIC_LATE, generation_taken_back),
        (CLASSIC_LATE_JOINS, told_at_once_that_it_was_late),
        nightly(CLASSIC_LATE_JOINS, generation_before_the_late_joins),
        nightly(CLASSIC_FORMER, forgotten_by_the_next_one),
        (CLASSIC_FORMER, generation_skipped_by_the_next_one),
        nightly(CLASSIC_FORMER, owner_doubled_by_the_next_one),
        (CLASSIC_UNWRITTEN, new_group_forgotten_by_a_log_that_takes_it),
        (CLASSIC_SYNC, sync_of_who_has_left),
    ],
)
def test_a_run_of_several_brokers_with_one_line_changed_is_not(
    file: Path, falsify: Callable[[Run], None], tmp_path: Path
) -> None:
    run = read(file)
    falsify(run)
    system = "classic_group" if "classic" in file.name else "consumer_group_848"
    assert judged(run, tmp_path, system)["verdict"] == "diverges"


# --------------------------------------------------- other releases, and what a log leaves out

OLDER_CONSUMER = RECORDED / "failing_appends_consumer_4.1.2.jsonl"
OLDER_SHARE = RECORDED / "share_consumers_4.2.2.jsonl"
UNTOLD = RECORDED / "untold_moves_classic_4.4.0.jsonl"
REASONS = RECORDED / "reasons_to_join_classic_4.4.0.jsonl"
UNTOLD_EXPIRY = RECORDED / "untold_move_and_expiry_classic_4.3.1.jsonl"


@pytest.mark.parametrize(
    ("file", "system", "variant"),
    [
        (OLDER_CONSUMER, "consumer_group_848", "kafka_4_0_to_4_2"),
        (OLDER_SHARE, "share_group", "kafka_4_2"),
        (UNTOLD, "classic_group", None),
        (UNTOLD_EXPIRY, "classic_group", None),
        (REASONS, "classic_group", None),
    ],
    ids=lambda one: getattr(one, "stem", one),
)
def test_what_an_older_release_did_and_a_move_that_no_line_tells_of_are_explained(
    file: Path, system: str, variant: str | None
) -> None:
    found = judge(file, system=system)
    assert (found["verdict"], found["why"], found["variant"]) == ("explained", None, variant)


def left_without_an_epoch(run: Run) -> None:
    """B and C have died and D joins, and the epoch is that of one of them alone."""
    answered(run, "ConsumerGroupHeartbeat", who="D", epoch=4, assigned=[0, 1])["epoch"] = 3


def target_within_the_interval(run: Run) -> None:
    """An older release has no interval: D's epoch is not the one before its join."""
    answered(run, "ShareGroupHeartbeat", who="D", epoch=7, assigned=[2])["epoch"] = 6


def generation_skipped_after_an_untold_move(run: Run) -> None:
    for line in run:
        if line.get("gen") == 3:
            line["gen"] = 4


def stranger_after_an_untold_move(run: Run) -> None:
    """A's generation is in the log, and the next broker knows no A."""
    answered(run, "Heartbeat", who="A", err="REBALANCE_IN_PROGRESS")["err"] = "UNKNOWN_MEMBER_ID"


def joins_since_it_was_told_and_was_not(run: Run) -> None:
    """Its join says that a heartbeat told it of the rebalance."""
    answered(run, "Heartbeat", err="REBALANCE_IN_PROGRESS")["err"] = "NONE"


def refused_by_who_answered(run: Run) -> None:
    """C is not a member any more, and its coordinator has just heard it."""
    at(run, 134)["err"] = "UNKNOWN_MEMBER_ID"


@pytest.mark.parametrize(
    ("file", "system", "falsify"),
    [
        (OLDER_CONSUMER, "consumer_group_848", left_without_an_epoch),
        (OLDER_SHARE, "share_group", target_within_the_interval),
        (UNTOLD, "classic_group", generation_skipped_after_an_untold_move),
        (UNTOLD, "classic_group", stranger_after_an_untold_move),
        nightly(UNTOLD_EXPIRY, "classic_group", refused_by_who_answered),
        (REASONS, "classic_group", joins_since_it_was_told_and_was_not),
    ],
)
def test_an_older_release_or_an_untold_move_with_one_line_changed_is_not(
    file: Path, system: str, falsify: Callable[[Run], None], tmp_path: Path
) -> None:
    run = read(file)
    falsify(run)
    assert judged(run, tmp_path, system)["verdict"] == "diverges"


@pytest.mark.parametrize(
    ("file", "system"),
    [
        (JOINS, "consumer_group_848"),
        (CLASSIC, "classic_group"),
        (RECORDED / "stalled_share_consumers_4.4.0.jsonl", "share_group"),
        nightly(SHARE_MOVING, "share_group"),
    ],
    ids=lambda one: getattr(one, "stem", one),
)
def test_members_that_are_silent_for_too_long_and_stay_are_undecided(
    file: Path, system: str, tmp_path: Path
) -> None:
    run = read(file)
    for line in run[len(run) // 2 :]:
        line["t_us"] += 30_000_000
    found = judged(run, tmp_path, system)
    assert found["verdict"] == "inconclusive"
    assert "`usual` leaves out a run" in found["why"]
    assert "`silence`" in found["why"]


# ---------------------------------------------------- who waits for the log, and who hears of what

SHARE_WAITING = RECORDED / "overlapping_late_appends_share_4.4.0.jsonl"
CLASSIC_WAITING = RECORDED / "overlapping_late_appends_classic_4.4.0.jsonl"
CLASSIC_ANSWERS = RECORDED / "answers_after_a_leave_classic_4.4.0.jsonl"
SHARE_SILENT = RECORDED / "silent_while_paused_share_4.4.0.jsonl"


@pytest.mark.parametrize(
    ("file", "system", "states"),
    [
        (SHARE_WAITING, "share_group", 300),
        (CLASSIC_WAITING, "classic_group", 300),
        (CLASSIC_ANSWERS, "classic_group", 10_000),
        (SHARE_SILENT, "share_group", 10_000),
    ],
    ids=lambda one: getattr(one, "stem", one),
)
def test_what_waited_for_the_log_or_a_pause_is_explained(
    file: Path, system: str, states: int
) -> None:
    found = judge(file, "--limit-states", str(states), system=system)
    assert (found["verdict"], found["why"]) == ("explained", None)


def epoch_of_late_heartbeats_skipped(run: Run) -> None:
    """Before it three heartbeats waited for the log at once."""
    answered(run, "ShareGroupHeartbeat", err="NONE", epoch=10, assigned=None)["epoch"] = 12


def outdated_after_late_syncs(run: Run) -> None:
    """D has its assignment since a second, after a sync that waited in vain."""
    answered(run, "Heartbeat", who="D", err="NONE")["err"] = "ILLEGAL_GENERATION"


@pytest.mark.parametrize(
    ("file", "system", "falsify"),
    [
        nightly(SHARE_WAITING, "share_group", epoch_of_late_heartbeats_skipped),
        nightly(CLASSIC_WAITING, "classic_group", outdated_after_late_syncs),
    ],
)
def test_few_states_are_left_of_what_waits_for_the_log(
    file: Path, system: str, falsify: Callable[[Run], None], tmp_path: Path
) -> None:
    """So few that none is dropped, and a wrong line is one."""
    run = read(file)
    falsify(run)
    log = tmp_path / "changed.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in run))
    assert judge(log, "--limit-states", "300", system=system)["verdict"] == "diverges"


def test_who_hears_of_no_rebalance_that_goes_on_for_long_is_not_explained(tmp_path: Path) -> None:
    """The join that begins it came more than a third of a second before the heartbeat."""
    run = read(CLASSIC_MOVING)
    heard = next(line for line in run if line.get("err") == "REBALANCE_IN_PROGRESS")
    heard["err"] = "NONE"
    found = judged(run, tmp_path, "classic_group")
    assert found["verdict"] == "inconclusive"
    assert "`usual` leaves out a run" in found["why"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("coordinator 4800 ms", "explained"), ("follower 4800 ms", "inconclusive")],
)
def test_a_pause_may_be_of_any_length(text: str, expected: str, tmp_path: Path) -> None:
    """A is silent for five seconds, which only the coordinator's pause explains."""
    run = read(SHARE_SILENT)
    for line in run:
        if line["kind"] == "Pause":
            line["x"] = text
    assert judged(run, tmp_path, "share_group")["verdict"] == expected
