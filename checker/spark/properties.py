"""What the properties of a Spark session say to the checker: how to divide states, where to keep.

The properties of our own are below `spark.checker.`; docs/spark.md lists them.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from pathlib import Path

from checker.errors import UsageError
from checker.spark.scratch import Place, PlaceError, require

_OWN = "spark.checker."
TABLES = f"{_OWN}tables"
MEMORY = f"{_OWN}tables.memory"
DRIVER = f"{_OWN}driver"
PARALLELISM = "spark.default.parallelism"
_COUNTED = ("yarn", "k8s")
"""Masters that give an executor so much memory and no more."""


def place_of(properties: Mapping[str, str], application: str, *, local: bool) -> Place:
    """Return where the owners of a new search of `application` keep what they have.

    `local`: they run on this host, so that the directory is tried at once. UsageError where a
    property is none of ours, or does not say what it has to.
    """
    for name in properties:
        if name.startswith(_OWN) and name not in (TABLES, MEMORY, DRIVER):
            raise UsageError(f"--conf {name}: there are {DRIVER}, {TABLES} and {MEMORY} only")
    folder = properties.get(TABLES)
    if folder is not None and not Path(folder).is_absolute():
        raise UsageError(f"--conf {TABLES}: an absolute path is expected, not {folder!r}")
    limit = _size_of(properties, MEMORY, "")
    if limit is None:
        # What is not Java's of an executor's memory, half of it for the workers themselves.
        overhead = memory_beside_heap(properties)
        limit = None if overhead is None else overhead // 2
    if local:
        try:
            require(folder)
        except PlaceError as error:
            raise UsageError(str(error)) from None
    return Place(f"{application}-{uuid.uuid4().hex[:12]}", folder, limit)


def memory_beside_heap(properties: Mapping[str, str]) -> int | None:
    """Return the bytes that an executor may take beside Java's heap; None where nobody counts them.

    YARN and Kubernetes end a container that takes more, so there Spark's own default counts.
    """
    overhead = _size_of(properties, "spark.executor.memoryOverhead", "m")
    if overhead is not None or not properties.get("spark.master", "").startswith(_COUNTED):
        return overhead
    heap = _size_of(properties, "spark.executor.memory", "m") or 1 << 30
    least = _size_of(properties, "spark.executor.minMemoryOverhead", "m") or 384 << 20
    factor = float(properties.get("spark.executor.memoryOverheadFactor", "0.1"))
    return max(least, int(factor * heap))


def require_parallelism(properties: Mapping[str, str]) -> None:
    """Raise UsageError where the number of shards that is asked for is no such number."""
    text = properties.get(PARALLELISM)
    if text is not None and re.fullmatch(r"0*[1-9]\d{0,8}", text) is None:
        raise UsageError(f"--conf {PARALLELISM}: a number from 1 on is expected, not {text!r}")


def _size_of(properties: Mapping[str, str], name: str, unit: str) -> int | None:
    """Return the bytes that a property says, in `unit` where it names none; None without it."""
    text = properties.get(name)
    if text is None:
        return None
    match = re.fullmatch(r"(\d+) *([kmgt]?)b?", text.lower())
    if match is None:
        raise UsageError(f"--conf {name}: a size like 4g is expected, not {text!r}")
    return int(match[1]) << 10 * " kmgt".index(match[2] or unit or " ")
