"""Goal: the page says of an expression what the interpreter says, or that it cannot tell."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from checker import flow, library
from checker.errors import SpecificationError
from checker.report import story
from checker.report.result import Result
from checker.report.vocabulary import vocabulary
from checker.table import read
from checker.trace.asked import term_of, value_in
from checker.trace.trace import Trace

NODE = shutil.which("node")
SCRIPT = Path(story.__file__).parent / "templates" / "expressions.js"
ASK = """
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const {ask} = require(process.argv[1]);
const told = asked.worlds.map((world) => asked.texts.map((text) => ask(text, world)));
console.log(JSON.stringify(told));
"""

GROUP = (
    "coordinator.group",
    "coordinator.group == Stable or coordinator.group in {Empty, PreparingRebalance}",
    "len(coordinator.members)",
    "len({m for m in coordinator.members if m in coordinator.members})",
    "coordinator.members",
    "client[c1].state",
    "client[c1].state != UNJOINED and not (len(coordinator.members) > 1)",
    "all(client[c].state == UNJOINED for c in Client)",
    "{c for c in Client if client[c].state == UNJOINED} | {c1}",
    "sum(1 for c in Client if client[c].state == UNJOINED)",
    "min((1 for m in coordinator.members), default=-7 // 2)",
    "max(0, len(coordinator.members) % 2, -3 % 2)",
    "generation_max + 1 if member_id_required else abs(0 - 2)",
    "implies(len(coordinator.members) > 0, coordinator.group != Empty)",
    "coordinator.members == empty",
    "0 <= len(coordinator.members) <= 1",
    "any(m in coordinator.members for m in MemberId if m != none)",
)
"""About the classic group before KIP-394."""


def answers(result: Result, trace: Trace, texts: tuple[str, ...]) -> list[list[dict[str, object]]]:
    """Return what the page's script says of each text in each state of a run."""
    assert NODE is not None
    states = [step.state for step in trace.steps if step.state is not None]
    known = vocabulary(result.machine)
    worlds = [{**known, "places": story.flattened(result.machine, state)} for state in states]
    told = subprocess.run(
        [NODE, "-e", ASK, str(SCRIPT)],
        input=json.dumps({"worlds": worlds, "texts": texts}),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found: list[list[dict[str, object]]] = json.loads(told.stdout)
    return found


def held(spec: str, instance: str, texts: tuple[str, ...]) -> tuple[int, int]:
    """Hold the script to the interpreter; return how many values it told, and how many it left."""
    result = flow.check(flow.Request(spec, instance, workers=1), flow.Silent())
    trace = result.failures[0]
    states = [step.state for step in trace.steps if step.state is not None]
    told = answers(result, trace, texts)
    values, left = 0, 0
    for place, text in enumerate(texts):
        try:
            term = term_of(result.document, instance, {}, text)
        except SpecificationError:
            term = None
        for number, state in enumerate(states):
            said = told[number][place]
            if not said["ok"]:
                left += 1
                continue
            assert term is not None, f"{text}: the language refuses it, the page says {said}"
            assert (said["text"], True) == value_in(result.machine, term, state), text
            values += 1
    return values, left


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
def test_expressions_have_the_value_that_the_interpreter_gives() -> None:
    values, left = held("classic_group", "kafka_7824", GROUP)
    assert left == 0
    assert values >= len(GROUP)


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
@pytest.mark.parametrize(
    ("spec", "instance"),
    [
        ("share_state", "pr_23074"),
        ("topic_deletion", "kafka_2937"),
        ("classic_group", "kafka_7824"),
    ],
)
def test_what_properties_say_is_told_rightly_or_not_at_all(spec: str, instance: str) -> None:
    document = read(library.find(spec))
    texts = tuple(item.condition.text for item in document.properties if item.kind == "always")
    assert texts
    values, left = held(spec, instance, texts)
    assert values + left > 0


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("len(coordinator.members", "expected ')' at the end"),
        ("grup", "grup is not known here"),
        ("client", "client is no value yet"),
        ("1 // 0", "division by 0"),
        ("1 +", "ends too early"),
        ("coordinator.group and true", "is neither true nor false"),
        ("enabled(join)", "not known here"),
        ("#", "'#' is not of the language"),
        ("(" * 200, "nested too deep"),
    ],
)
def test_what_cannot_be_said_says_why(text: str, said: str) -> None:
    result = flow.check(flow.Request("classic_group", "kafka_7824", workers=1), flow.Silent())
    answer = answers(result, result.failures[0], (text,))[0][0]
    assert not answer["ok"]
    assert said in str(answer["text"])
