"""Goal: a run of a thousand steps is a page that opens, is walked, and stays small."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from test_browser import CHROMIUM, after

from checker import flow
from checker.report import files, markdown, sequence
from checker.report.chart import charts
from checker.report.lanes import lanes
from checker.report.phases import phases
from checker.report.result import Result
from checker.report.story import story_views

LONG = """\
system: long
about: A client and a server, three hundred times.
components:
  client:
    variables:
      waits: {type: bool, initial: "false"}
      sent: {type: 0..400, initial: "0"}
  server:
    variables:
      served: {type: 0..400, initial: "0"}
messages:
  Ping: {number: 0..400}
  Pong: {number: 0..400}
channels:
  requests: {carries: [Ping], order: fifo, capacity: "1", from: client, to: server}
  answers: {carries: [Pong], order: fifo, capacity: "1", from: server, to: client}
rows:
  - row: asks
    actor: client
    about: The client asks once more.
    when: not client.waits and client.sent < 400
    do: |
      client.waits = true
      client.sent += 1
      send(Ping(client.sent))
  - row: serves
    actor: server
    on: Ping(number)
    about: The server serves.
    do: |
      server.served += 1
      send(Pong(number))
  - row: is_answered
    actor: client
    on: Pong(number)
    about: The client has its answer.
    do: |
      client.waits = false
properties:
  never_333:
    always: "server.served < 333 or client.waits"
    why: Somebody who counts is disappointed.
instances:
  default: {expect: {verdict: violated}}
"""
BYTES_MAX = 2_000_000
MERMAID_MAX = 50_000


@cache
def long() -> Result:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "long.yaml"
        path.write_text(LONG)
        return flow.check(flow.Request(str(path), engine="reference"), flow.Silent())


@cache
def pages() -> dict[str, str]:
    return files.rendered(long(), committed=False)


def test_the_page_is_small_and_has_every_step_once() -> None:
    page = pages()["index.html"]
    assert long().failures[0].length == 999
    assert len(page.encode()) < BYTES_MAX
    assert page.count('<li id="story-1-step-') == 1000
    assert page.count('<details class="phase"') == page.count('class="chart') == 34


def test_each_part_tells_its_rows_once() -> None:
    (story,) = story_views(long(), {})
    for part in story.parts:
        assert [bool(step.prose) for step in part.steps if step.number][:4] == [True] * 3 + [False]
    assert story.parts[0].title == "asks, 10 times; serves, 10 times; is_answered, 10 times"


def test_a_part_has_the_lanes_of_who_takes_part() -> None:
    trace = long().failures[0]
    parties = lanes(long().document, long().machine)
    both, asks = charts(trace, parties, [(1, 30), (4, 4)])
    assert [lane.name for lane in both.lanes] == ["client", "server"]
    assert [mark.number for mark in asks.marks] == [4]
    (alone,) = charts(trace, parties, [(3, 3)])
    assert alone.width <= both.width
    assert len(charts(trace, parties, [(p.first, p.last) for p in phases(trace)])) == 34


def test_mermaid_draws_what_it_can() -> None:
    told = markdown.report(long(), {})
    assert "### What travelled from step 991 on" in told
    drawings = [part.partition("```")[0] for part in told.split("```mermaid\n")[1:]]
    assert drawings
    assert all(len(drawing) < MERMAID_MAX for drawing in drawings)
    assert "Note over p1: 991 asks" in drawings[0]
    assert "990" not in drawings[0]
    trace = long().failures[0]
    assert len(sequence.sequence(trace, lanes(long().document, long().machine))) > MERMAID_MAX


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
def test_it_is_walked_into_the_next_part(tmp_path: Path) -> None:
    press = (
        "var next = document.querySelector('.forth'), n;"
        "for (n = 0; n < 31; n += 1) { next.click(); }"
    )
    dom = after(pages()["index.html"], press, tmp_path)
    assert "Step 31 of 999: asks" in dom
    second = dom[dom.index("Steps 31 to 60") - 200 : dom.index("Steps 31 to 60")]
    assert 'open=""' in second
