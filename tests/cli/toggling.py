"""A specification to run commands on, and what a command leaves."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TOGGLE = """\
system: toggle
about: A switch that {clients} press; nobody may press it too often.
constants:
  Client: {ids: [ann, bob]}
  most: 3
  limited: true
variables:
  on: {type: bool, initial: "false"}
  presses: {type: "0..9", initial: "0"}
faults:
  glitch: {budget: "1"}
rows:
  - row: press
    for: {client: Client}
    when: not limited or presses < most
    do: |
      on = not on
      presses += 1
  - row: forget
    when: presses == most
    do: presses = 0
  - row: flicker
    fault: glitch
    do: on = not on
properties:
  few:
    always: implies(on, presses <= most)
    why: a switch that is pressed too often breaks.
  lights_up:
    sometimes: on
    why: a switch that never lights is broken.
instances:
  default:
    expect: {verdict: holds, distinct: 16}
  broken:
    set: {limited: false}
    properties: [few]
    expect: {verdict: violated, property: few, length: 5}
"""


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout."""
        return json.loads(self.out)


Command = Callable[..., Outcome]
