"""Machines that were elaborated before, kept between runs under the digest of what they are of.

Elaborating takes a large part of a check that has its code already. What it makes depends on the
texts, the instance, the constants that are replaced, and this code; what is wrong is not kept.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Mapping
from functools import cache

from checker.cache import Cache, code_of
from checker.elaborate.constants import Setting
from checker.elaborate.elaborate import elaborate
from checker.machine.machine import Machine
from checker.table.document import Document
from checker.table.sources import NAMES, texts_as_shown

MACHINES = Cache("machines", 64 << 20)
"""Elaborated machines."""

_WORTH_KEEPING = 0.1
"""Processor seconds of elaborating from which on a machine is kept."""


def recalled(
    document: Document, instance: str | None, overrides: Mapping[str, Setting] | None
) -> Machine:
    """Return what `elaborate` makes of a document as it was read, made before or now."""
    key = _key(document, instance, overrides)
    blob = MACHINES.get(key)
    if blob is not None:
        known: Machine = pickle.loads(blob)  # noqa: S301 (signed by this user, as code in the cache)
        return known
    begun = time.process_time()
    machine = elaborate(document, instance, overrides)
    if time.process_time() - begun >= _WORTH_KEEPING:
        _keep(key, machine)
    return machine


def _keep(key: str, machine: Machine) -> None:
    try:
        blob = pickle.dumps(machine, pickle.HIGHEST_PROTOCOL)
    except RecursionError:
        return  # terms as deep as a text can be
    MACHINES.put(key, blob)


def _key(document: Document, instance: str | None, overrides: Mapping[str, Setting] | None) -> str:
    digest = hashlib.blake2b(_elaborator(), digest_size=20)
    asked = f"{document.path}\0{instance}\0{sorted((overrides or {}).items())}\0"
    # As shown: a machine says where what it holds was read.
    digest.update(asked.encode(errors=NAMES) + texts_as_shown(document).encode())
    return digest.hexdigest()


@cache
def _elaborator() -> bytes:
    """Return a digest of the modules that decide what machine a document becomes."""
    return code_of(".", "table", "machine", "semantics", "elaborate")
