"""Drives Kafka's released classes along the specifications and writes a page of each result.

    python tests/conformance/run_all.py               # all; pages to reports/conformance
    python tests/conformance/run_all.py share_partition --run 1 3 --pages DIR
    python tests/conformance/run_all.py --resume      # only those whose page is missing or old
    python tests/conformance/run_all.py --smoke       # a few steps of each, no pages

A page is written as its run ends, so a call that is interrupted loses one run at most, and
`--resume` goes on where it was: each page ends with a stamp of what it was made of, the model's
behaviour, the mapping, the adapter with what it names, and the limits that ended it. Properties
are none of it, nor is another system's adapter. `--limit-seconds` and
`--limit-steps` hold for each run; a run that they end is undecided, and its page says so.

Needs a JDK and Maven (adapter.py says which). Ends with the worst exit code of `checker conform`,
or with 3 where an adapter cannot be built. The pages are the same each time; the table of them is
written after each run, and keeps the lines of systems that were not asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from adapter import SUBJECTS, UNAVAILABLE, build, made_of, missing, module_of

from checker import flow
from checker.cli.mapped import mapped, mapping_file
from checker.errors import CheckerError
from checker.kernel.build import behaviour

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SMOKE = 200
"""Steps of each run where it is only to be seen that all of it works."""
STAMP = "<!-- made of {} -->"
"""The last line of a page."""
UNDECIDED = 20
"""The exit code of `checker conform` where nothing differs and not everything was tried."""


@dataclass(frozen=True)
class Run:
    """An instance, the releases that are driven along it, and options of `checker conform`."""

    instance: str
    releases: tuple[str, ...]
    options: tuple[str, ...] = ()


BOTH = ("4.2.0", "4.4.0")
BEFORE_4_4 = ("--set", "negative_epochs_refused=false", "--set", "start_is_the_later=false")
BEFORE_4_3 = (*BEFORE_4_4, "--set", "observer_is_not_fenced=false")
AS_IN_4_3 = (
    *("--set", "initialised_when_asked=false", "--set", "deletion_looks_again=false"),
    *("--set", "repeated_answer_has_the_assignment=false", "--set", "known_topic_starts_at=reset"),
)
"""What GroupMetadataManager 4.3.1 has of the candidates of share_group."""

WALKS = (*AS_IN_4_3, "--cover", "rows")
AS_IN_4_2_SHARE = (
    *AS_IN_4_3,
    *("--set", "epochs_begin_at=0", "--set", "epochs_await_their_target=false"),
)
AS_RELEASED = ("--set", "own_instance_is_released=false")
"""What no release has yet of consumer_group_848."""

AS_RESOLVED = (
    *AS_RELEASED,
    *("--set", "first_resolution_raises_the_epoch=false"),
    *("--set", "returning_instance_is_let_in=false"),
)
"""The same, with what is newer than 4.3.1 of regular expressions and of full groups."""

AS_IN_4_2 = (
    *AS_RESOLVED,
    *("--set", "commit_fence=member_epoch", "--set", "epochs_begin_at=0"),
    *("--set", "drops_pass_an_epoch=false"),
)
"""The same, before 4.3: where epochs begin, commits (KIP-1251), what passes an epoch."""

AS_CONVERTED = (
    *("--set", "rejoin_keeps_assignments=false", "--set", "downgrade_keeps_what_is_held=false"),
    *("--set", "replacement_waits_for_others=false", "--set", "upgrade_needs_no_protocol=false"),
    *("--set", "fenced_consumers_come_back=false"),
    *("--set", "upgrade_goes_on_with_the_rebalance=false"),
)
"""What GroupMetadataManager 4.3.1 has of the candidates of consumer_group_migration."""

AS_CONVERTED_IN_4_2 = (
    *AS_CONVERTED,
    *("--set", "behind_is_judged_by=group_epoch", "--set", "stale_replacement_rebalances=false"),
    *("--set", "disabled_keeps_classic_members_out=false"),
)
"""The same, before KAFKA-20273 and KAFKA-20640."""

AS_LOADED = (
    *("--set", "other_type_gives_way=false"),
    *("--set", "group_tombstone_takes_members=false"),
)
"""What GroupMetadataManager 4.3.1 has of the defects of consumer_group_replay."""

AS_LOADED_IN_4_2 = (*AS_LOADED, "--set", "epochs_begin_at=0")

AT_ONCE = ("--set", "elects_at_once=true")
"""What ReplicationControlManager has of the designs of replication."""

JAVA = ("4.1.1", "4.3.1")
"""The releases of GroupMetadataManager that are driven along classic_group."""

FAULTS = tuple(
    word
    for name in (
        *("disconnects", "crashes", "closes", "poll_timeouts", "hangs", "storage_failures"),
        *("oversized_records", "failovers", "admin_removals", "deletions", "subscription_max"),
    )
    for word in ("--set", f"{name}=1")
)
EVERYTHING = (
    *FAULTS,
    *("--set", "changes=2", "--set", "slow_timers=2", "--set", "offset_commits=true"),
    *("--set", "MemberId=4", "--cover", "rows"),
)
"""Walks on classic_group with a fault of each kind."""

SCALA = ("3.9.1",)
AS_IN_3_9 = ("--set", "implementation=kafka_3_9")
"""GroupCoordinator, which the historical variants of classic_group are of."""

RUNS: dict[str, tuple[Run, ...]] = {
    "classic_group": (
        Run("tiny", JAVA),
        *(
            Run(instance, JAVA)
            for instance in (
                *("kafka_7824_fixed", "kafka_10134_fixed", "kafka_13435_fixed"),
                *("kafka_14422_fixed", "left_member_waits_for_nothing", "kafka_10284_fixed"),
                *("static_record_too_large", "static_poll_timeout", "append_outlives_the_session"),
                *("failover_fences_a_returned_instance", "late_join_fences_its_own_process"),
                "commits_and_a_failover",
            )
        ),
        Run("kafka_10870_fixed", JAVA, ("--set", "implementation=kafka_4")),
        Run("deleted_group", JAVA, ("--set", "Client=1")),
        *(
            Run(instance, JAVA, ("--cover", "rows"))
            for instance in (
                *("default", "two_instances", "mixed_members", "kafka_9885_fixed"),
                *("refused_member_holds_the_barrier", "rollback_fences_a_joined_instance"),
            )
        ),
        *(
            Run("default", JAVA, (*EVERYTHING, "--set", f"membership={membership}"))
            for membership in ("dynamic", "static", "mixed")
        ),
        Run("tiny", SCALA, AS_IN_3_9),
        *(
            Run(instance, SCALA, AS_IN_3_9)
            for instance in (
                *("kafka_7824_fixed", "kafka_10134_fixed", "kafka_13435_fixed"),
                *("kafka_14422_fixed", "left_member_waits_for_nothing", "kafka_10870_fixed"),
                *("static_record_too_large", "static_poll_timeout", "append_outlives_the_session"),
                *("late_join_fences_its_own_process", "return_is_answered_with_a_replaced_id"),
            )
        ),
        *(
            Run(instance, SCALA, (*AS_IN_3_9, "--cover", "rows"))
            for instance in (
                *("default", "two_instances", "mixed_members", "commits_and_a_failover"),
                *("failover_fences_a_returned_instance", "rollback_keeps_the_new_subscription"),
            )
        ),
        Run("returns_with_another_list", JAVA),
        *(
            Run(instance, JAVA, ("--cover", "rows"))
            for instance in ("protocols", "delay_is_extended")
        ),
    ),
    "controller": (
        Run("lost_replies", ("2.8.2",)),
        *(
            Run(instance, ("2.8.2",))
            for instance in ("default", "lost_session", "lagging_followers", "all_replicas_down")
        ),
        *(
            Run(instance, ("2.8.2",), ("--cover", "rows"))
            for instance in ("controlled_shutdown", "failover_and_return", "preferred_election")
        ),
        Run("unclean", ("2.8.2",), ("--set", "lags=2", "--cover", "rows")),
    ),
    "consumer_group_848": (
        Run("upgraded_group", ("4.3.1",), AS_RELEASED),
        Run(
            "default",
            ("4.3.1",),
            (*AS_RELEASED, "--set", "Partition=1", "--set", "updates=0"),
        ),
        Run("static_members", ("4.3.1",), (*AS_RELEASED, "--cover", "transitions")),
        *(
            Run(instance, ("4.3.1",), (*AS_RELEASED, "--cover", "rows"))
            for instance in (
                *("default", "leaving", "lost_heartbeats", "fencing", "moving_coordinator"),
                *("older_coordinator", "waiting_for_a_target", "subscriptions", "hanging"),
                *("static_and_dynamic", "commits", "commits_of_the_fenced"),
            )
        ),
        Run("deleted_group", ("4.3.1",), AS_RESOLVED),
        *(
            Run(instance, ("4.3.1",), (*AS_RESOLVED, "--cover", "rows"))
            for instance in (
                *("changed_regex", "names_or_regexes", "regexes_and_faults", "regexes"),
                *("full_group", "full_group_of_static_members"),
            )
        ),
        Run("upgraded_group", ("4.2.1",), AS_IN_4_2),
        *(
            Run(instance, ("4.2.1",), (*AS_IN_4_2, "--cover", "rows"))
            for instance in (
                *("default", "static_members", "commits", "changed_regex"),
                *("full_group", "deleted_group", "moving_coordinator"),
            )
        ),
    ),
    "consumer_group_migration": (
        *(
            Run(instance, ("4.3.1",), AS_CONVERTED)
            for instance in ("disabled", "upgrade_only", "member_ids", "default")
        ),
        *(
            Run(instance, ("4.3.1",), (*AS_CONVERTED, "--cover", "rows"))
            for instance in (
                *("lost_requests", "stalled_process", "static_member", "copy_of_a_static_member"),
                "static_members_and_faults",
            )
        ),
        *(
            Run(instance, ("4.2.1",), AS_CONVERTED_IN_4_2)
            for instance in ("disabled", "upgrade_only", "member_ids", "default")
        ),
        *(
            Run(instance, ("4.2.1",), (*AS_CONVERTED_IN_4_2, "--cover", "rows"))
            for instance in (
                *("lost_requests", "stalled_process", "static_member", "copy_of_a_static_member"),
                "static_members_and_faults",
            )
        ),
    ),
    "consumer_group_replay": (
        *(
            Run(instance, ("4.3.1",), AS_LOADED)
            for instance in ("offsets_of_each_type", "one_member")
        ),
        *(
            Run(instance, ("4.3.1",), (*AS_LOADED, "--cover", "transitions"))
            for instance in ("offsets", "conversions")
        ),
        Run("default", ("4.3.1",), (*AS_LOADED, "--cover", "rows")),
        Run("offsets_of_each_type", ("4.2.1",), AS_LOADED_IN_4_2),
        *(
            Run(instance, ("4.2.1",), (*AS_LOADED_IN_4_2, "--cover", "rows"))
            for instance in ("conversions", "offsets", "default")
        ),
    ),
    "reassignment": (
        Run("cancelled", ("2.8.2",)),
        *(
            Run(instance, ("2.8.2",), ("--cover", "rows"))
            for instance in ("default", "crash_and_failover", "overlapping_calls", "kafka_14424")
        ),
    ),
    "replication": (
        Run("default", ("4.3.1",), (*AT_ONCE, "--set", "log_max=1", "--set", "epochs=2")),
        Run("default", ("4.3.1",), (*AT_ONCE, "--set", "min_isr=2", "--cover", "rows")),
        Run("three_replicas", ("4.3.1",), (*AT_ONCE, "--set", "min_isr=2", "--cover", "rows")),
        Run("unclean_election_past_the_eligible", ("4.3.1",), ("--cover", "rows")),
        Run("last_known_leader", ("4.3.1",), (*AT_ONCE, "--cover", "rows")),
        Run(
            "three_replicas",
            ("4.3.1",),
            (
                *(*AT_ONCE, "--set", "min_isr=2", "--set", "epochs=6", "--set", "crashes=1"),
                *("--set", "power_failures=2", "--set", "unclean_elections=true"),
                *("--set", "last_known_leads=true", "--cover", "rows", "--depth", "150"),
            ),
        ),
    ),
    "replication_isr": (
        *(
            Run(instance, ("4.3.1",))
            for instance in ("default", "lost_requests", "replaced_controllers", "crashes")
        ),
        *(
            Run(instance, ("4.3.1",), ("--cover", "rows"))
            for instance in ("two_followers", "storage", "two_crashes")
        ),
    ),
    "share_group": (
        Run("default", ("4.3.1",), AS_IN_4_3),
        *(
            Run(instance, ("4.3.1",), WALKS)
            for instance in (
                *("members_that_go", "unequal_subscriptions", "failing_initialisation"),
                *("early_retry", "lost_heartbeats", "group_deletion", "moving_coordinator"),
            )
        ),
        Run("default", ("4.2.1",), AS_IN_4_2_SHARE),
        *(
            Run(instance, ("4.2.1",), (*AS_IN_4_2_SHARE, "--cover", "rows"))
            for instance in (
                *("members_that_go", "unequal_subscriptions", "failing_initialisation"),
                *("early_retry", "group_deletion", "moving_coordinator"),
            )
        ),
    ),
    "share_partition": (
        Run("as_in_kafka", BOTH, ("--set", "several_offsets=false")),
        Run("as_in_kafka", BOTH, ("--set", "late_acknowledgements=true")),
        Run(
            "as_in_kafka",
            BOTH,
            ("--set", "truncations=1", "--set", "leader_changes=1", "--cover", "rows"),
        ),
        Run("as_in_kafka_with_faults", BOTH, ("--set", "compactions=1")),
        Run("as_in_kafka_batches", BOTH, ("--set", "truncations=1", "--cover", "rows")),
        Run("as_in_kafka_three_records", BOTH, ("--set", "truncations=1", "--cover", "rows")),
        Run("as_in_kafka_dead_letters", ("4.4.0",)),
        Run(
            "as_in_kafka_dead_letters",
            ("4.4.0",),
            (
                *("--set", "write_failures=1", "--set", "leader_changes=1"),
                *("--set", "truncations=1", "--cover", "rows"),
            ),
        ),
    ),
    "share_state": (
        Run("as_in_kafka", ("4.4.0",)),
        Run("as_in_kafka", ("4.3.1",), BEFORE_4_4),
        Run("as_in_kafka_two_records", ("4.4.0",)),
        Run("as_in_kafka_two_records", ("4.3.1",), BEFORE_4_4),
        Run("as_in_kafka_deletion", ("4.4.0",)),
        Run("as_in_kafka_deletion", ("4.3.1",), BEFORE_4_4),
        Run("as_in_kafka_reset", ("4.4.0",)),
        Run("as_in_kafka_reset", ("4.3.1",), BEFORE_4_4),
        Run("as_in_kafka_confused", ("4.4.0",)),
        Run("as_in_kafka_confused", ("4.3.1",), BEFORE_4_4),
        *(
            Run(f"as_in_kafka{case}", ("4.2.1",), BEFORE_4_3)
            for case in ("", "_two_records", "_deletion", "_reset", "_confused")
        ),
    ),
    "topic_deletion": (
        Run("failover", ("2.8.2",)),
        *(Run(instance, ("2.8.2",)) for instance in ("default", "storage_errors")),
        Run("failover", ("2.8.2",), ("--set", "elections=1")),
        Run("failover_and_crash", ("2.8.2",)),
        Run("three_replicas", ("2.8.2",), ("--cover", "rows")),
        Run(
            "failover_and_crash",
            ("2.8.2",),
            ("--set", "elections=1", "--set", "storage_errors=1", "--cover", "rows"),
        ),
    ),
}
"""Of each system what is driven, the smallest first."""

INTRODUCTION = """# Kafka's classes and the specifications

Released classes of Kafka, driven along the steps of the specifications by `checker conform`, and
compared after every step ([how](../../docs/conformance.md)). Written by
`python tests/conformance/run_all.py`. Undecided: nothing differed, and rows that a page names were
not come upon by any walk, most of them because the instance has no budget for what leads there.

| class | release | system and instance | result | covered | steps | calls refused | declared |
| --- | --- | --- | --- | --- | ---: | ---: | --- |
"""


def main() -> int:
    """Run what is asked for; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(RUNS)}")
    parser.add_argument("--pages", type=Path, default=ROOT / "reports" / "conformance")
    parser.add_argument(
        "--run", type=int, nargs="+", metavar="N", help="only those whose page ends in _N.md"
    )
    parser.add_argument(
        "--resume", action="store_true", help="leave out what has a page with today's stamp"
    )
    parser.add_argument("--limit-seconds", metavar="S", help="end each run after S seconds")
    parser.add_argument("--limit-steps", metavar="N", help="end each run after N steps")
    parser.add_argument(
        "--smoke",
        action="store_true",
        help=f"at most {SMOKE} steps of each, which is undecided at best; pages are left alone",
    )
    given = parser.parse_args()
    unknown = set(given.systems) - set(RUNS)
    if unknown:
        parser.error(f"nothing drives {', '.join(sorted(unknown))}")
    limits: list[str] = []
    for option in ("--limit-seconds", "--limit-steps"):
        limit = getattr(given, option[2:].replace("-", "_"))
        limits += [option, limit] if limit is not None else []
    worst = 0
    for name in given.systems or RUNS:
        for number, run in enumerate(RUNS[name], start=1):
            if given.run is not None and number not in given.run:
                continue
            for release in run.releases:
                page = given.pages / f"{name}_{release}_{number}.md"
                if given.resume and is_done(page, name, release, run, limits):
                    continue
                problem = missing() or build(module_of(name), release)
                if problem is not None:
                    print(problem, file=sys.stderr)
                    return UNAVAILABLE
                if given.smoke:
                    code, found = drive(name, release, run, ["--limit-steps", str(SMOKE)])
                    code = 0 if code == UNDECIDED else code
                else:
                    code, found = make_page(page, name, release, run, limits)
                worst = max(worst, code)
                print(f"{page.name} {run.instance}: {found['verdict']}", file=sys.stderr)
    return worst


def make_page(
    page: Path, name: str, release: str, run: Run, limits: list[str]
) -> tuple[int, dict[str, Any]]:
    """Drive, write the page with its stamp, and its line in the table of all runs.

    What the stamp is of is read before the run: a file that changes meanwhile makes the page old.
    A run that was interrupted, or whose adapter failed, gets none and is made again.
    """
    stamp, limited = stamp_of(name, release, run, []), stamp_of(name, release, run, limits)
    code, found = drive(name, release, run, [*limits, "--page", str(page)])
    if found["stopped_by"] is None:
        _sign(page, stamp)
    elif found["stopped_by"].startswith("the limit of"):
        _sign(page, limited)
    _keep(page.parent / "README.md", page.name, _line(name, run, found, page.name))
    return code, found


def _sign(page: Path, stamp: str) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(f"{text}\n{STAMP.format(stamp)}\n", encoding="utf-8")


def is_done(page: Path, name: str, release: str, run: Run, limits: list[str]) -> bool:
    """Whether a page is of today's model, mapping and adapter: whole, or ended by these limits."""
    if not page.is_file():
        return False
    last = page.read_text(encoding="utf-8").rstrip().rpartition("\n")[2]
    return last in {
        STAMP.format(stamp_of(name, release, run, ended)) for ended in ([], list(limits))
    }


def stamp_of(name: str, release: str, run: Run, limits: list[str]) -> str:
    """Return a digest of all that decides what a page says.

    The names of constants do not: a further one, with a value at which all is as before, makes no
    page old.
    """
    settings = tuple(word for option, word in pairwise(run.options) if option == "--set")
    digest = hashlib.blake2b(digest_size=10)
    mapping = mapping_file(name, None, recorded=False).read_text(encoding="utf-8")
    asked = (release, run.instance, run.options, limits)
    steps = _steps_of(name, run.instance, settings)
    for part in (repr(asked), steps, mapping, *made_of(name, release)):
        digest.update(f"{len(part)}\0{part}".encode())
    return digest.hexdigest()


@cache
def _steps_of(name: str, instance: str, settings: tuple[str, ...]) -> str:
    """Return all that an instance does: several pages are of one."""
    try:
        machine = mapped(name, None, instance, settings, flow.Silent()).bound.machine
    except CheckerError as error:
        sys.exit(f"{name}, {instance}: {error}")
    return behaviour(replace(machine, constants=()))


def _keep(table: Path, page: str, line: str) -> None:
    """Put a line into the table of all runs; what is driven no more goes."""
    known = table.read_text(encoding="utf-8") if table.is_file() else ""
    lines = {
        found[1]: found[0] for found in re.finditer(r"(?m)^\|.*\]\((\w[^)]*\.md)\).*\n", known)
    }
    lines[page] = line
    order = [
        f"{name}_{release}_{number}.md"
        for name, runs in RUNS.items()
        for number, run in enumerate(runs, start=1)
        for release in run.releases
    ]
    text = INTRODUCTION + "".join(lines[name] for name in order if name in lines)
    table.write_text(text, encoding="utf-8")


def drive(name: str, release: str, run: Run, more: list[str]) -> tuple[int, dict[str, Any]]:
    """Drive one release along one instance; return the exit code and the result."""
    command = [sys.executable, "-m", "checker", "conform", name, "--instance", run.instance]
    command += [*run.options, *more, "--format", "json", "--progress", "none"]
    command += ["--start-seconds", "600", "--reply-seconds", "300"]  # of a machine that is busy
    # Pages show the adapter's command, and are to be the same wherever Python is.
    command += ["--adapter", f"python tests/conformance/adapter.py {name} --release {release}"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if not done.stdout:
        sys.exit(done.returncode)
    return done.returncode, json.loads(done.stdout)


def _line(name: str, run: Run, found: dict[str, Any], page: str) -> str:
    """Return a row of the table of all runs."""
    adapter = found["adapter"]
    if found["cover"] == "transitions":
        missed = found["transitions_not_reached"] + found["transitions_chosen_otherwise"]
        covered = f"{found['transitions'] - missed:,} of {found['transitions']:,} transitions"
    else:
        covered = f"{found['pairs_taken']:,} of {found['pairs']:,} pairs of row and control state"
    known = {story["known"]: story["ticket"] for story in found["differences"] if story["known"]}
    changed = [word for word in run.options if "=" in word]
    cells = [
        adapter["name"],
        adapter["version"],
        f"[{', '.join([name, run.instance, *changed])}]({page})",
        found["verdict"],
        covered,
        f"{found['steps']:,}",
        f"{sum(row['refused_agreed'] for row in found['rows']):,}",
        ", ".join(f"{name} ({ticket})" for name, ticket in sorted(known.items())),
    ]
    return f"| {' | '.join(cells)} |\n"


assert set(RUNS) == set(SUBJECTS)
assert all(set(run.releases) <= set(SUBJECTS[name].releases) for name in RUNS for run in RUNS[name])

if __name__ == "__main__":
    sys.exit(main())
