"""The typed representation: types, terms, statements, and the Machine made of them.

Nothing here knows how a Machine comes about (`elaborate`), what it means (`semantics`), or how it
is run.
"""

from checker.machine.machine import Machine

__all__ = ["Machine"]
