"""Goal: a run for Graphviz has each state and step once, and goes round where the run does."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from machines import counter, overflow
from results import result_of
from test_loops import shown

from checker.report.run_graph import run_graph

DOT = shutil.which("dot")


def test_states_and_steps_are_those_of_the_run() -> None:
    trace = result_of(counter()).traces[0]
    text = run_graph(trace)
    assert re.findall(r"^  (\d+) \[", text, re.MULTILINE) == ["0", "1", "2", "3"]
    assert re.findall(r"^  (\d+) -> (\d+)", text, re.MULTILINE) == [
        ("0", "1"),
        ("1", "2"),
        ("2", "3"),
    ]
    assert 'label="increase\\nn: 2 → 3"' in text
    assert re.findall(r"(\d+) \[.*doublecircle", text) == ["3"]


def test_a_failed_step_leads_to_an_error() -> None:
    assert re.search(r'\d \[label="error", shape=box', run_graph(result_of(overflow()).traces[0]))


def test_an_endless_run_goes_back() -> None:
    trace = next(item for item in shown().traces if item.loop is not None)
    assert trace.loop is not None
    assert trace.loop.start < trace.length
    assert f"  {trace.length} -> {trace.loop.start} [style=dashed" in run_graph(trace)


@pytest.mark.skipif(not DOT, reason="no Graphviz is installed")
def test_graphviz_draws_it_whatever_names_say() -> None:
    trace = result_of(counter()).traces[0]
    odd = replace(trace, property_name='a "quoted\\ name')
    done = subprocess.run([DOT or "", "-Tplain"], input=run_graph(odd), text=True,
                          capture_output=True, timeout=60, check=True)  # fmt: skip
    assert len(re.findall(r"^edge ", done.stdout, re.MULTILINE)) == 3
