"""The table and the head that the systems of these tests share, and the types of the fixtures."""

from collections.abc import Callable

from checker.errors import Diagnostic
from checker.machine.machine import Machine

LAMP = """\
table: lamp
about: A lamp that breaks in the end.
source: the manual
states:
  Off: {about: It is dark., initial: true}
  On: {about: It is light.}
  Broken: {about: The bulb is gone., final: true}
created: [On]
transitions:
  - {from: [Off, On], event: switch, to: On}
  - {from: On, event: switch_off, to: Off}
  - {from: [Off, On], event: shatter, to: Broken}
restores:
  - {from: On, to: Off}
"""

HEAD = "system: house\nabout: A house of lamps.\n"

Elaborating = Callable[..., Machine]
Refusing = Callable[..., tuple[Diagnostic, ...]]
