"""What a search is a search of: the parts that must agree before it goes on from a checkpoint.

The last part, a digest, decides: of the generated code, which covers tables, rows, bounds,
constants and the place of every variable, and of the kinds of properties. The parts before it are
there to say *what* differs. A comment or a sentence of prose is no part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from checker import __version__
from checker.kernel.kernel import Kernel
from checker.machine.machine import Machine
from checker.semantics.values import format_value

CODE = "code"

_NAMES = {
    "checker": "the version of the checker",
    "specification": "the specification",
    "instance": "the instance",
    "constants": "the constants",
    "properties": "the selected properties",
    "symmetry": "the symmetry reduction",
    CODE: "the specification's tables, rows, bounds or properties",
}


def identity_of(machine: Machine, kernel: Kernel) -> dict[str, object]:
    """Return the parts of a search's identity, each of them JSON."""
    judged = [item.name for item in machine.properties]
    return {
        "checker": __version__,
        "specification": machine.name,
        "instance": machine.instance,
        "constants": {name: format_value(value) for name, value in machine.constants},
        "properties": [*judged, "deadlock"] if machine.deadlock else judged,
        "symmetry": kernel.canonical_address != 0,
        CODE: _digest(machine, kernel),
    }


def _digest(machine: Machine, kernel: Kernel) -> str:
    # That no state is so is asked by the same code as whether one is.
    kinds = [item.kind for item in machine.properties]
    digest = hashlib.sha256(kernel.ir.encode())
    for names in (kernel.actions, kernel.checks, kernel.steps, kernel.observed, kinds):
        digest.update("\x1e".join(("", *names)).encode())
    return digest.hexdigest()


def difference(there: Mapping[str, object], here: Mapping[str, object]) -> str | None:
    """Return the first thing in which two identities differ, as a phrase; None if in nothing."""
    for part in (*here, *there):
        old, new = there.get(part), here.get(part)
        if old == new:
            continue
        name = _NAMES.get(part, part)
        if part == CODE:
            return f"{name} changed since"
        if isinstance(old, dict) and isinstance(new, dict):
            changed = [key for key in (*new, *old) if old.get(key) != new.get(key)]
            name, old, new = f"constant {changed[0]}", old.get(changed[0]), new.get(changed[0])
        verb = "differ" if part == "properties" else "differs"
        return f"{name} {verb}: {_text(old)} there, {_text(new)} here"
    return None


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)
