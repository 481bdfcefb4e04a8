"""Everything that one run made: what every form of report is written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from checker.frozen import frozen
from checker.machine.machine import Machine
from checker.search.exploration import Exploration
from checker.table.document import Document
from checker.trace.trace import Provenance, Trace
from checker.verdict.judge import Verdict
from checker.verdict.vacuity import Looked


@frozen()
class Written:
    """A report on disk: the paths of its traces by property, or what went wrong."""

    traces: Mapping[str, str] = field(default_factory=dict)
    error: OSError | None = None


@frozen()
class Result:
    """One run; `origin` says how to repeat it.

    `traces`: counterexamples and errors first, then witnesses. `others`: further shortest runs to
    what they show, the calmest of each first, where they were asked for; `calm` are properties of
    whose shortest runs that of `traces` is known to be the calmest. `report` is what was
    written of it, `looked` what may be vacuous, where that was asked.
    """

    origin: Provenance
    document: Document
    machine: Machine
    exploration: Exploration
    verdict: Verdict
    traces: tuple[Trace, ...]
    compile_seconds: float
    peak_rss_bytes: int
    others: tuple[Trace, ...] = ()
    calm: tuple[str, ...] = ()
    report: Written = Written()
    looked: tuple[Looked, ...] = ()

    @property
    def failures(self) -> tuple[Trace, ...]:
        """The traces that show something wrong: an error first, then the declared property."""
        declared = {
            entry.expect.property.text
            for entry in self.document.instances
            if entry.name.text == self.machine.instance and entry.expect and entry.expect.property
        }
        wrong = [trace for trace in self.traces if trace.kind != "sometimes"]
        return tuple(
            sorted(wrong, key=lambda it: (it.kind != "error", it.property_name not in declared))
        )

    @property
    def about(self) -> str:
        """What the instance is about, in the words of the specification; often empty."""
        entries = {entry.name.text: entry.about for entry in self.document.instances}
        return entries.get(self.machine.instance, "")
