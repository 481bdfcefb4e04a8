"""Random machines of workers that mostly mind their own business: many of their steps commute.

Each row takes its worker's, or some fixed worker's, part of a few variables into account and
changes such parts; now and then all of a variable. Nothing can be an evaluation error but for
positions that are taken out of an empty box.
"""

from __future__ import annotations

import random
from dataclasses import replace

from machines import (
    action,
    assign,
    at,
    binding,
    both,
    cast,
    contains,
    equal,
    everything,
    less,
    lit,
    local,
    loop,
    machine,
    negated,
    number,
    pick,
    place,
    plus,
    read,
    receive,
    send,
    variable,
    when,
)

from checker.machine import temporal
from checker.machine import terms as t
from checker.machine.machine import Action, FairGroup, Machine, Property
from checker.machine.types import Bool, Id, Map, Range, Record, Set
from checker.machine.walk import rebuild
from checker.semantics.values import RecordValue, map_value
from checker.source import NOWHERE

WORKER = Id("Worker", ("w1", "w2", "w3"), symmetric=True)
PHASE = Range(0, 2)
PHASES = Map(WORKER, PHASE, total=True)
TEAM = Set(WORKER)
BOXES = Map(WORKER, PHASE, total=False)
DESK = Record("Desk", (("left", PHASE), ("right", PHASE)))
DESKS = Map(WORKER, DESK, total=True)


class Choose(random.Random):
    """Random choices. `alike`: no worker is called by its name, so that all of them are alike."""

    def __init__(self, seed: int, *, alike: bool) -> None:
        super().__init__(seed)
        self.alike = alike


def random_team(seed: int) -> Machine:
    """Return machine number `seed`."""
    return _team(Choose(seed, alike=False))


def random_team_alike(seed: int) -> Machine:
    """Return a machine in which all workers are alike, to be reduced."""
    return replace(_team(Choose(seed, alike=True)), ids=(WORKER,), symmetry=True)


def restless_team(seed: int) -> Machine:
    """Return one whose rows are fair, judged by infinite runs; it is to be reduced there, too.

    Some rows are fair together, to each worker or to all. Some properties are claimed of each.
    """
    choose = Choose(seed, alike=True)
    team = _team(choose)
    fair = [choose.choice(("none", "weak", "weak", "strong")) for _ in team.actions]
    rows = zip(team.actions, fair, strict=True)
    group = tuple((row.name, ("w",)) for row in team.actions if choose.randrange(2))
    groups = (FairGroup("some", group, (("by", WORKER),), bool(choose.randrange(2)), NOWHERE),)
    return replace(
        team,
        actions=tuple(replace(row, fair=how) for row, how in rows),
        fair_groups=groups if group and choose.randrange(2) else (),
        properties=(*_claimed(choose, "of_all"), *_claimed(choose, "of_each")),
        ids=(WORKER,),
        symmetry=True,
        endless_symmetry=True,
    )


def _with(term: t.Term, worker: t.Term) -> t.Term:
    """Return a term of the worker `w` as one of a worker that has a name."""
    if isinstance(term, t.Local):
        return worker if term.name == "w" else term
    return rebuild(term, lambda part: _with(part, worker))


def _claimed(choose: Choose, name: str) -> tuple[Property, ...]:
    """Return a property of infinite runs: of all workers together, or one of each."""
    who = local("w", WORKER)
    each = name == "of_each"
    some = t.Generator("w", everything(WORKER), None)

    def claim(test: t.Term, worker: t.Term | None) -> t.Term:
        if worker is not None:
            return _with(test, worker)
        return t.Fold(choose.choice(("any", "all")), (some,), test, None, Bool(), NOWHERE)

    tests = [_test(choose, who) for _ in range(3)]
    kind = choose.choice(("eventually", "leads_to", "leads_to", "ltl"))
    formula = temporal.Binary(
        "or",
        temporal.eventually(temporal.always(temporal.Atom(0))),
        temporal.always(temporal.eventually(temporal.Atom(1))),
    )
    begins = choose.randrange(3) == 0
    found = []
    for worker in [lit(member, WORKER) for member in WORKER.members] if each else [None]:
        terms = [claim(test, worker) for test in tests]
        found.append(
            Property(
                name if worker is None else f"{name}({worker.value})",
                kind,
                lit(True, Bool()) if kind == "ltl" else terms[0],
                terms[1] if kind == "leads_to" else None,
                "",
                "",
                NOWHERE,
                declared="" if worker is None else name,
                atoms=tuple(terms[:2]) if kind == "ltl" else (),
                formula=formula if kind == "ltl" else None,
                initially=terms[2] if begins else None,
            )
        )
    return tuple(found)


def _team(choose: Choose) -> Machine:
    desk = RecordValue("Desk", (("left", 0), ("right", 0)))
    variables = [
        variable("phase", PHASES, map_value(PHASES, dict.fromkeys(WORKER.members, 0))),
        variable("team", TEAM, frozenset()),
        variable("box", BOXES, map_value(BOXES, {})),
        variable("desk", DESKS, map_value(DESKS, dict.fromkeys(WORKER.members, desk))),
        variable("count", PHASE, 0),
    ]
    most = 7 if choose.alike else 5
    rows = [_row(choose, f"row{index}") for index in range(choose.randint(3, most))]
    bounds = [_bound(choose) for _ in range(choose.choice((0, 0, 1)))]
    return machine("team", variables, rows, bounds=[_or_at_start(b) for b in bounds])


def _bound(choose: Choose) -> t.Term:
    if choose.alike:
        few = less(read("count", PHASE), number(2))
        return choose.choice((few, negated(_full_team())))
    return _test(choose, _fixed(choose))


def _full_team() -> t.Term:
    return equal(read("team", TEAM), lit(frozenset(WORKER.members), TEAM))


def _or_at_start(bound: t.Term) -> t.Term:
    return t.Or((bound, less(read("count", PHASE), number(1))), NOWHERE)


def _row(choose: Choose, title: str) -> Action:
    who = local("w", WORKER)
    bindings = [binding("w", everything(WORKER))]
    if choose.randrange(6) == 0:
        bindings.append(binding("k", read("team", TEAM), negated(equal(local("k", WORKER), who))))
    tests = [_test(choose, _worker(choose, who)) for _ in range(choose.randint(1, 2))]
    body = [_effect(choose, who) for _ in range(choose.randint(1, 2))]
    return action(title, *body, bindings=bindings, guard=both(*tests))


def _worker(choose: Choose, who: t.Term) -> t.Term:
    return _fixed(choose) if choose.randrange(6) == 0 and not choose.alike else who


def _fixed(choose: Choose) -> t.Term:
    return lit(choose.choice(WORKER.members), WORKER)


def _number(choose: Choose, who: t.Term) -> t.Term:
    """Some number that the state holds, of a worker or of all."""
    side = choose.choice(("left", "right"))
    return choose.choice(
        (
            at(read("phase", PHASES), who),
            at(read("phase", PHASES), who),
            t.Field(at(read("desk", DESKS), who), side, PHASE, NOWHERE),
            t.Field(at(read("desk", DESKS), who), side, PHASE, NOWHERE),
            read("count", PHASE),
        )
    )


def _test(choose: Choose, who: t.Term) -> t.Term:
    match choose.randrange(6):
        case 0:
            test: t.Term = contains(who, read("team", TEAM))
        case 1:
            test = contains(who, read("box", BOXES))
        case 2 if choose.randrange(3) == 0:
            test = _full_team()
        case _:
            test = less(_number(choose, who), number(choose.randint(1, 2)))
    return negated(test) if choose.randrange(3) == 0 else test


def _target(choose: Choose, who: t.Term) -> t.Place:
    side = choose.choice(("left", "right"))
    return choose.choice(
        (
            place("phase", PHASE, who),
            place("phase", PHASE, who),
            place("box", PHASE, who),
            place("desk", PHASE, who, side),
            place("desk", PHASE, who, side),
            place("count", PHASE),
        )
    )


def _effect(choose: Choose, own: t.Term) -> t.Statement:
    who = _worker(choose, own)
    member = t.SetOf((who,), TEAM, NOWHERE)
    match choose.randrange(10):
        case 0:
            operator = choose.choice(("|", "-", "^"))
            value = t.SetOperation(operator, read("team", TEAM), member, TEAM, NOWHERE)
            return assign(place("team", TEAM), value)
        case 1:
            return send(place("team", TEAM), who)
        case 2:
            inside = contains(who, read("team", TEAM))
            return when(inside, receive(place("team", TEAM), who))
        case 3:
            inside = contains(who, read("box", BOXES))
            return when(inside, t.Delete(place("box", PHASE, who), NOWHERE))
        case 4 if choose.randrange(3) == 0:
            return loop("i", read("team", TEAM), assign(place("phase", PHASE, local("i", WORKER)),
                                                        number(choose.randint(0, 2))))  # fmt: skip
        case 5 if choose.randrange(2) == 0:
            choice = pick("p", everything(PHASE), less(local("p", PHASE), number(2)))
            return t.Scope("s", (choice, assign(_target(choose, who), local("p", PHASE))), NOWHERE)
        case 6:
            return when(_test(choose, who), assign(_target(choose, who), _number(choose, own)))
        case 7:
            first = t.SetLocal("x", who, NOWHERE)
            place_ = place("phase", PHASE, local("x", WORKER))
            return t.Scope("s", (first, assign(place_, number(choose.randint(0, 2)))), NOWHERE)
        case _:
            sum_ = plus(_number(choose, own), 1)
            most = t.Extreme("min", (sum_, number(2)), Range(0, 3), NOWHERE)
            value = cast(most, PHASE) if choose.randrange(2) else number(choose.randint(0, 2))
            return assign(_target(choose, who), value)
