"""The functions of a kernel put together as one module of LLVM IR."""

from __future__ import annotations

from checker.kernel.functions import Writer
from checker.layout.layout import Layout
from checker.llvm.native import heading
from checker.llvm.states import DECLARATIONS, sink_functions
from checker.machine.machine import Machine
from checker.semantics.symmetry import reduces


def timed_text(machine: Machine, layout: Layout) -> str:
    """Return the LLVM IR of `expand` alone, timed."""
    writer = Writer(machine, layout)
    expand = writer.expand(timed=True)
    declarations = [
        *heading(len(layout.leaves)),
        DECLARATIONS,
        "declare i64 @llvm.readcyclecounter()",
    ]
    tables = [writer.constants.text(), writer.commuting_table()]
    return "\n".join([*declarations, *tables, sink_functions(layout), expand])


def module_text(machine: Machine, layout: Layout, *, brief: bool = False) -> str:
    """Return the LLVM IR of a machine's kernel, `brief` as `Writer` has it."""
    writer = Writer(machine, layout, brief=brief)
    functions = [
        sink_functions(layout),
        writer.initial(),
        writer.expand(),
        writer.check(),
        writer.observe(),
    ]
    if reduces(machine):
        functions.append(writer.canonical())
    tables = [writer.constants.text(), writer.commuting_table()]
    return "\n".join([*heading(len(layout.leaves)), DECLARATIONS, *tables, *functions])
