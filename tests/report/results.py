"""Results of hand-built machines for the tests of reports."""

from machines import NOWHERE

from checker.machine.machine import Machine
from checker.report.result import Result
from checker.search.limits import Limits
from checker.search.reference import explore_reference
from checker.table.document import Document, Word
from checker.trace.rebuild import rebuild
from checker.trace.trace import Provenance
from checker.verdict.judge import judge


def result_of(machine: Machine) -> Result:
    exploration = explore_reference(machine, Limits())
    return Result(
        origin=Provenance(machine.name, f"checker check {machine.name}"),
        document=Document(Word(machine.name, NOWHERE), machine.path, "", "", (), {}),
        machine=machine,
        exploration=exploration,
        verdict=judge(machine, exploration),
        traces=tuple(rebuild(machine, finding) for finding in exploration.findings),
        compile_seconds=0.5,
        peak_rss_bytes=1000,
    )
