"""Says which call of SharePartition a step of share_partition stands for, and what is to be seen.

The words are those that `Subject.java` reads; spec/systems/share_partition/README.md has the
correspondence as tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

State = Mapping[str, Any]

KINDS = {"GAP": 0, "ACCEPT": 1, "RELEASE": 2, "REJECT": 3, "RENEW": 4}
"""The wire numbers of acknowledgement types (KIP-932)."""

_SAME_NAME = {"fetch_below_the_log", "fetch_finds_nothing", "leader_changes", "write_succeeds"}
_WITH_ONE = {"session_ends": "m", "log_start_moves": "o", "record_is_compacted": "o"}
_FAILED = {"write_fails", "write_is_done_but_its_answer_lost"}
_DROPPED = {"write_of_old_leader_arrives", "write_of_old_leader_is_fenced"}


@dataclass(frozen=True, slots=True)
class Sizes:
    """The constants of an instance that the class has to be given."""

    records: int
    in_flight_limit: int
    delivery_limit: int
    batch_size: int
    log_batch: int

    @property
    def heading(self) -> str:
        """The line that begins a case."""
        return (
            f"case {self.records} {self.in_flight_limit} {self.delivery_limit} {self.batch_size} "
            f"{self.log_batch}"
        )


def call(sizes: Sizes, before: State, row: str, given: Mapping[str, Any]) -> str:
    """Return the call that a step stands for: made in `before`, by `row`, with these bindings."""
    if row in _SAME_NAME:
        return row
    if row in _WITH_ONE:
        return f"{row} {given[_WITH_ONE[row]]}"
    if row in _FAILED:
        return "write_fails"
    if row in _DROPPED:
        return "write_is_dropped"
    match row:
        case "fetch":
            return f"fetch {given['m']} {given['last']} {_next_fetch_offset(sizes, before)}"
        case "lock_times_out":
            return f"lock_times_out {given['o']}"
        case "acknowledge" | "renew":
            kind = KINDS["RENEW" if row == "renew" else given["kind"]]
            return f"acknowledge {given['m']} {given['o']},{given['o']},{kind}"
        case "acknowledge_several":
            return f"acknowledge {given['m']} {_batches(sizes, before, given['kinds'])}"
        case "state_is_read":
            return f"state_is_read {before['persisted.start_offset']} {_persisted(sizes, before)}"
        case _:
            raise ValueError(f"no call is known for the row {row}")


def seen(sizes: Sizes, state: State) -> str:
    """Return what `Subject.observe` is to say in a state."""
    if state["share.phase"] != "ACTIVE":
        return "none"
    gap = _fields(state["share.gap"])
    words = [
        str(state["share.start_offset"]),
        str(state["share.end_offset"]),
        str(state["share.delivery_complete_count"]),
        _truth(state["share.find_next_fetch_offset"]),
        f"{gap['start']}/{gap['end']}" if gap else "-",
    ]
    cached = [o for o in range(sizes.records) if state["record.entry"][o] is not None]
    return " ".join([*words, *(_record(state, offset) for offset in cached)])


def _record(state: State, offset: int) -> str:
    has_timer = bool(state["record.timers"][offset]) or state["record.expired"][offset]
    return ",".join(
        (
            f"{offset}:{state['record.entry'][offset]}",
            _truth(state["record.split"][offset]),
            str(state["record.state"][offset]),
            str(state["record.owner"][offset] or "-"),
            str(state["record.delivery_count"][offset]),
            _truth(state["record.roll_back"][offset] is not None),
            _truth(has_timer),
        )
    )


def _next_fetch_offset(sizes: Sizes, state: State) -> int:
    """Return what `nextFetchOffset` is to answer, by the model's variables."""
    entries, end = state["record.entry"], state["share.end_offset"]
    cached = [o for o in range(sizes.records) if entries[o] is not None]
    if not cached or state["share.start_offset"] > max(cached):
        return int(end)
    if not state["share.find_next_fetch_offset"]:
        return int(end) + 1
    gap = _fields(state["share.gap"])
    free = [
        o
        for o in cached
        if state["record.state"][o] == "AVAILABLE" and state["record.roll_back"][o] is None
    ]
    if gap and gap["end"] == end:
        free += [o for o in range(gap["start"], end) if o not in cached]
    return min(free, default=int(end) + 1)


def _batches(sizes: Sizes, state: State, kinds: Mapping[int, str]) -> str:
    """Return acknowledgement batches: one for an entry of which all is said alike, one a record."""
    entries, batches, done = state["record.entry"], [], set()
    for offset in sorted(kinds):
        if offset in done:
            continue
        entry = entries[offset]
        whole = [o for o in range(sizes.records) if entry is not None and entries[o] == entry]
        if not (whole and _is_for_all(state, entry, whole, kinds)):
            whole = [offset]
        batches.append(f"{whole[0]},{whole[-1]},{KINDS[kinds[offset]]}")
        done.update(whole)
    return " ".join(batches)


def _is_for_all(state: State, entry: int, whole: list[int], kinds: Mapping[int, str]) -> bool:
    cut = entry < state["share.start_offset"] <= whole[-1]
    alike = all(o in kinds and kinds[o] == kinds[whole[0]] for o in whole)
    return not state["record.split"][whole[0]] and not cut and alike


def _persisted(sizes: Sizes, state: State) -> str:
    """Return the state batches that are read, neighbours joined as the share coordinator does."""
    runs: list[list[Any]] = []
    for offset, batch in sorted(state["persisted.batches"].items()):
        fields = _fields(batch)
        said = [fields["state"], fields["delivery_count"]]
        if sizes.batch_size > 1 and runs and runs[-1][1:] == [offset - 1, *said]:
            runs[-1][1] = offset
        else:
            runs.append([offset, offset, *said])
    return " ".join(",".join(map(str, run)) for run in runs)


def _fields(record: Any) -> dict[str, Any]:
    return {} if record is None else dict(record.fields)


def _truth(value: Any) -> str:
    return str(bool(value)).lower()
