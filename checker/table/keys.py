"""Every key of a specification, by the part it stands in; the JSON Schemas have the same."""

from __future__ import annotations

from typing import Final, get_args

from checker.table.document import PropertyKind

_SECTIONS = (
    "uses",
    "tables",
    "constants",
    "assume",
    "types",
    "messages",
    "components",
    "machines",
    "variables",
    "channels",
    "calls",
    "operations",
    "timers",
    "faults",
    "definitions",
    "procedures",
    "initial",
    "rows",
    "unhandled",
    "bounds",
    "terminal",
    "deadlock",
    "fairness",
    "fair_groups",
    "properties",
    "instances",
)

KEYS: Final[dict[str, tuple[str, ...]]] = {
    "table": ("table", "about", "source", "states", "created", "transitions", "restores"),
    "state": ("about", "initial", "final", "source"),
    "transition": ("from", "event", "to", "about", "source"),
    "restore": ("from", "to", "about", "source"),
    "system": ("system", "about", "source", "abstractions", "files", *_SECTIONS),
    "file of a system": ("about", "abstractions", *_SECTIONS),
    "heading": ("section", "about"),
    "used system": ("system", "instance", "set", "with", "without", "properties", "about"),
    "constant": ("ids", "symmetric", "prefix", "one_of", "type", "value", "about"),
    "definition": ("let", "is", "about"),
    "type": ("fields", "type", "about"),
    "component": ("per", "about", "machines", "variables"),
    "machine": ("table", "initial", "per", "about"),
    "machine of a component": ("table", "initial", "about"),
    "variable": ("type", "initial", "per", "observed", "about"),
    "variable of a component": ("type", "initial", "observed", "about"),
    "channel": (
        "carries",
        "order",
        "per",
        "capacity",
        "when_full",
        "from",
        "to",
        "loses",
        "duplicates",
        "reorders",
        "about",
    ),
    "calls": ("per", "requests", "responses", "capacity", "from", "to", "about"),
    "operation": ("captures", "capacity", "order", "outcomes", "per", "when_full", "about"),
    "outcome": ("fault", "late"),
    "timer": ("captures", "per", "capacity", "when_armed", "late_cancels", "fair", "about"),
    "fault": ("budget", "begins_anew", "about"),
    "initial": ("for", "let", "when", "do"),
    "row": (
        "row",
        "about",
        "on",
        "for",
        "only_if",
        "in",
        "let",
        "when",
        "do",
        "to",
        "send",
        "fault",
        "fair",
        "actor",
        "event",
        "source",
    ),
    "unhandled message": ("message", "in", "is", "why"),
    "property": (
        *get_args(PropertyKind),
        "for",
        "initially",
        "within_bounds",
        "why",
        "source",
        "only_if",
    ),
    "leads_to": ("from", "to"),
    "refinement": ("system", "instance", "set", "ids", "mapping"),
    "group of rows": ("rows", "per", "fair", "about"),
    "instance": ("about", "tier", "set", "properties", "without", "symmetry", "expect"),
    "expectation": (
        "verdict",
        "property",
        "also",
        "distinct",
        "generated",
        "depth",
        "length",
        "rows",
    ),
}
"""The keys of each part, as docs/language.md lists them."""

HINTS: Final[dict[tuple[str, str], str]] = {
    ("machine of a component", "per"): "give the component the `per`, or move the machine to "
    "`machines:` outside",
    (
        "variable of a component",
        "per",
    ): "give the component the `per`, make the type a `total map`, "
    "or move the variable to `variables:` outside",
}
"""What to do about keys that people expect in a part and that it does not have."""
