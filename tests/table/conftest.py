"""What the tests of the reader share: a folder with a table, a complete system, short readers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from checker.errors import Diagnostic, SpecificationError
from checker.table import Document, read

LAMP = """\
table: lamp
about: A lamp that breaks in the end.
source: the manual, page 1
states:
  Off: {about: "It is dark.", initial: true}
  On: {about: It is light., source: page 2}
  Broken: {about: The bulb is gone., final: true}
created: [On]
transitions:
  - {from: [Off, On], event: switch, to: On, about: pressing twice does no harm, source: page 3}
  - {from: On, event: switch_off, to: Off}
  - from: [Off, On]
    event: shatter
    to: Broken
restores:
  - {from: On, to: Off, about: after a power cut, source: page 4}
"""

COMPLETE = """\
# Every section and every key of the language.
system: house
about: >-
  A house of lamps
  and people.
source: the manual
abstractions:
  - "walls: nobody sees through them"
  - Time passes.
tables: [lamp]
constants:
  Person: {ids: 2, symmetric: true, prefix: p, about: who lives here}
  Room: {ids: [kitchen, cellar]}
  limit: 3
  dark: true
  mood: {one_of: [good, bad], value: good}
  retries: {value: 2, about: how often}
  slots: {value: "2 * len(Person)"}
assume:
  - limit >= 1
types:
  Level: one of low, high, up
  Count: 0..limit + 1
  Point: {fields: {x: 0..3, y: "0..max(1, limit)"}, about: a place}
  Far: {type: optional Point}
messages:
  Ask:
    about: A question.
    who: optional Person
    count: Count
  Answer: {level: Level}
  Stop: {}
components:
  person:
    per: Person
    about: One person.
    machines:
      lamp: {table: lamp, initial: Off, about: in the hand}
    variables:
      near: {type: set of Room, initial: empty, about: rooms, observed: true}
machines:
  light:
    table: lamp
    per: Room
variables:
  clock: {type: "0..limit", initial: "0"}
  owner: {type: optional Person, per: Room, initial: none}
  waiting: {type: map of Person to handle of phone, initial: "{}"}
channels:
  post:
    carries: [Ask, Stop]
    order: fifo
    per: [Person, Room]
    capacity: "2"
    when_full: drop
    from: person
    to: house
    loses: "1"
    duplicates: unlimited
    reorders: "limit"
    about: letters
  board: {carries: [Answer], order: retained}
calls:
  phone:
    per: Person
    requests: [Ask]
    responses: [Answer]
    capacity: "1"
    from: person
    to: house
operations:
  write:
    captures: {count: Count}
    capacity: "2"
    order: fifo
    outcomes:
      ok: {}
      timeout: {fault: outage, late: true}
    per: Room
    when_full: error
faults:
  outage: {budget: "1", about: no power}
  storm: {budget: unlimited}
definitions:
  lit(r): light[r] == On
  everybody(): "{p for p in Person if person[p].lamp is not none}"
procedures:
  darken(r, q): |
    if light[r] == On:   # only then
        light[r] = Off
    elif q:
        return
    else:
        for p in Person:
            person[p].near.discard(r)
            break
initial:
  for:
    hour: 0..limit
  let:
    later: hour + 1
  when: hour >= 0 and later > 0
  do: |
    clock = hour
rows:
  - row: asks
    about: Somebody asks.
    on: phone[p].Ask(_, count)
    for:
      r: Room
      q: "{x for x in Person if x != p}"
      n: 0..2
      s: set of Room
    only_if: dark
    in:
      light[r]: [On, Off]
      person[p].lamp: On
    let:
      known: p in waiting
    when: >
      known
      and count < limit
    do: |
      waiting[p] = call
      clock += 1

      del waiting[p]
      chosen = pick(x for x in Person if x != p)
      start(write[r](count=min((c for c in Count), default=0)))
    to:
      light[r]: Broken
    send:
      - post[p, r], Stop()
      - board, Answer(high)
    fault: outage
    fair: weak
    actor: person
    event: shatter
    source: page 9
  - row: waits
    do: "pass"
    fair: "dark"
  - {row: sends, send: Stop(), in: {light: On}}
unhandled:
  - message: Ask
    in: {light: Broken}
    is: impossible
    why: nobody asks in the dark
bounds:
  - clock <= limit
terminal:
  - all(light[r] == Broken for r in Room)
deadlock: false
fairness: weak
properties:
  one:
    always: clock <= 3
    why: it matters
    source: page 5
    only_if: dark
  two: {step: next(clock) >= clock, why: time}
  three: {sometimes: clock == 2, why: time}
  four: {eventually: clock == 2, why: time}
  five:
    leads_to:
      from: clock == 1
      to: clock == 2
    why: time
instances:
  default:
    about: The usual.
    tier: full
    set: {Person: 2, dark: false, mood: bad}
    properties: [one, two]
    symmetry: false
    expect:
      {verdict: violated, property: one, also: [two], distinct: 1, generated: 2, depth: 3,
       length: 4}
  other: {without: [two]}
"""


@pytest.fixture(scope="session")
def complete() -> str:
    """A system with every section and key of the language."""
    return COMPLETE


@pytest.fixture(scope="session")
def lamp() -> str:
    """A table with every key."""
    return LAMP


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lamp.yaml").write_text(LAMP)
    return tmp_path


@pytest.fixture
def reading(folder: Path) -> Callable[[str], Document]:
    """Reads a text as a system."""

    def read_system(text: str) -> Document:
        path = folder / "system.yaml"
        path.write_bytes(text.encode())
        return read(path)

    return read_system


@pytest.fixture
def wrong(reading: Callable[[str], Document]) -> Callable[[str], tuple[Diagnostic, ...]]:
    """Reads a text that must be wrong; returns what was said about it."""

    def diagnostics(text: str) -> tuple[Diagnostic, ...]:
        with pytest.raises(SpecificationError) as raised:
            reading(text)
        return raised.value.diagnostics

    return diagnostics
