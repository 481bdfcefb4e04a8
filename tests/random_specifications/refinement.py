"""What `refines` means, by the manual's words; for these tests alone."""

from __future__ import annotations

from typing import Any

from .evaluation import Scope, evaluate
from .execution import State, Stepper
from .model import Mapping, Model
from .values import FailedError, Map, Type, all_of, fit


class Refinement:
    """A property `refines`: what states are in the coarse system, and which steps are some there."""

    def __init__(self, fine: Model, coarse: Model, mapping: Mapping) -> None:
        self.fine, self.coarse, self.mapping = fine, coarse, mapping
        self.stepper = Stepper(coarse)
        self.known: dict[State, set[State]] = {}
        self.begins: set[State] | None = None

    def mapped(self, values: dict[str, Any]) -> State:
        """Return the state of the coarse system; FailedError where it has no value."""
        found = {}
        for name, kind in self.coarse.variables.items():
            if name in self.mapping:
                keys, node = self.mapping[name]
                value = self._value(node, keys, kind, Scope(self.fine, values, {}))
            else:
                value = values[name]
            found[name] = fit(kind, value, self.coarse.ranks)
        return self.stepper.pack(found)

    def _value(self, node: Any, keys: list[str], kind: Type, scope: Scope) -> Any:
        if not keys:
            return evaluate(node, scope)
        first, rest = keys[0], keys[1:]
        each = (
            (k, self._value(node, rest, kind[2], scope.bind(first, k))) for k in all_of(kind[1])
        )
        return Map(each)

    def holds(self, before: dict[str, Any] | None, after: dict[str, Any]) -> bool:
        """Whether a step is one of the coarse system, or nothing there; `before` None: it begins."""
        then = self.mapped(after)
        if before is None:
            return then in self._initial()
        now = self.mapped(before)
        return now == then or then in self._following(now)

    def _initial(self) -> set[State]:
        if self.begins is None:
            try:
                self.begins = {
                    s.state for s in self.stepper.initial() if s.state is not None and not s.failed
                }
            except FailedError:
                self.begins = set()
        return self.begins

    def _following(self, state: State) -> set[State]:
        if state not in self.known:
            steps = self.stepper.steps(state)
            self.known[state] = {s.state for s in steps if s.state is not None and not s.failed}
        return self.known[state]
