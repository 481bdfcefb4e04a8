"""Everything a run says, with 1, 2 and 3 threads, with symmetry and without: it must be the same.

`python tests/spec/same_everywhere.py [SPEC ...]` does it for all quick instances of all shipped
systems that have interchangeable ids (or of those named); it takes about half an hour.
"""

import sys
from collections.abc import Iterator

from checker import flow, library
from checker.elaborate.elaborate import instances
from checker.report.summary import Json, summary, timeless
from checker.semantics.symmetry import reduces, symmetric_ids
from checker.table import read

OF_EACH_SEARCH = ("distinct", "generated", "cuts", "deadlocks", "rows", "symmetry", "spec")
OF_EACH_SEARCH_TOO = ("without_symmetry", "warnings", "traces")
"""What counts states or steps, or is one of several runs as short, with symmetry or without."""

DEPTHS = ("depth", "depth_complete")
"""What may be more without symmetry: a state that was met under other names may be met again, by
its own, after more steps, since `fresh` gives the first name that is free."""


def symmetric(spec: str) -> Iterator[str]:
    """Yield the quick instances of a specification that have interchangeable ids."""
    for entry in instances(read(library.find(spec))):
        if entry.tier == "quick" and is_symmetric(spec, entry.name.text):
            yield entry.name.text


def is_symmetric(spec: str, instance: str) -> bool:
    """Return whether an instance has interchangeable ids."""
    return bool(symmetric_ids(flow.machine_of(spec, instance, {})))


def said(spec: str, instance: str, workers: int, *, symmetry: bool | None) -> Json:
    """Return what a run says, without what depends on the machine it ran on."""
    request = flow.Request(spec, instance, workers=workers, symmetry=symmetry)
    result = flow.check(request, flow.Silent())
    return timeless(summary(result, {})) | {"traces": result.traces}


def differences(spec: str, instance: str) -> list[str]:
    """Return sentences on what is not the same everywhere."""
    first = said(spec, instance, 1, symmetry=None)
    found = []
    for workers in (2, 3):
        other = said(spec, instance, workers, symmetry=None)
        found += [
            f"{key} with {workers} threads: {other[key]}"
            for key in first
            if first[key] != other[key]
        ]
    machine = flow.machine_of(spec, instance, {})
    if reduces(machine):
        whole = said(spec, instance, 2, symmetry=False)
        same = set(first) - {*OF_EACH_SEARCH, *OF_EACH_SEARCH_TOO, *DEPTHS}
        others = {key for key in same if first[key] != whole[key]}
        others |= {key for key in DEPTHS if first[key] > whole[key]}
        found += [f"{key} without symmetry: {whole[key]}" for key in sorted(others)]
    return found


def main() -> int:
    """Compare all of them; return 1 where something differs."""
    named = sys.argv[1:] or [item.name for item in library.shipped() if item.kind == "system"]
    worst = 0
    for spec in named:
        for instance in symmetric(spec):
            found = differences(spec, instance)
            print(spec, instance, "; ".join(found) or "same", flush=True)  # noqa: T201
            worst |= bool(found)
    return worst


if __name__ == "__main__":
    sys.exit(main())
