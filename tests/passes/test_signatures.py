"""Goal: terms have the same signature exactly where they are the same but for their place."""

import random

import pytest
from machines import BOOL, equal, lit, local, read
from random_machines import seeded_machine

from checker.machine import terms as t
from checker.machine.types import Id, Range, Set
from checker.machine.walk import TERMS, walk
from checker.passes.analysis import Analysis
from checker.passes.rewriting import alike
from checker.passes.signatures import Signatures
from checker.source import NOWHERE

NUMBER = Range(0, 3)
NODE = Id("Node", ("n1", "n2"), symmetric=False)


def of_all(name: str, body: t.Term) -> t.Fold:
    generator = t.Generator(name, t.Everything(Set(NODE), NOWHERE), None)
    return t.Fold("all", (generator,), body, None, BOOL, NOWHERE)


def is_first(name: str) -> t.Term:
    return equal(local(name, NODE), lit("n1", NODE))


@pytest.mark.parametrize("seed", range(40))
def test_same_signature_where_terms_are_alike(seed: int) -> None:
    made = seeded_machine(seed)
    signatures = Signatures(Analysis())
    found = [
        term
        for whole in (*made.actions, *made.properties)
        for term in walk(whole)
        if isinstance(term, TERMS) and not isinstance(term, t.Ran | t.Leads)
    ][:150]
    for one in found:
        for other in found:
            assert (signatures.of(one) == signatures.of(other)) == alike(one, other)


def test_names_that_are_bound_make_no_difference_and_others_do() -> None:
    signatures = Signatures(Analysis())
    one, other = of_all("a", is_first("a")), of_all("b", is_first("b"))
    assert signatures.of(one) == signatures.of(other)
    assert signatures.of(of_all("a", is_first("b"))) != signatures.of(one)
    assert signatures.of(is_first("a")) != signatures.of(is_first("b"))
    nested = [of_all(outer, of_all(inner, is_first(inner))) for outer, inner in ("ab", "ba")]
    assert len({signatures.of(term) for term in nested}) == 1
    outer = of_all("a", of_all("b", is_first("a")))
    # A name that is bound twice means what is nearest.
    assert signatures.of(outer) not in {
        signatures.of(term) for term in (*nested, of_all("a", of_all("a", is_first("a"))))
    }


def test_numbers_and_flags_are_told_apart() -> None:
    signatures = Signatures(Analysis())
    assert signatures.of(lit(1, NUMBER)) != signatures.of(t.Literal(True, BOOL, NOWHERE))
    assert signatures.of(lit(1, NUMBER)) != signatures.of(lit(1, Range(0, 4)))


def test_what_looks_ahead() -> None:
    signatures = Signatures(Analysis())
    x = read("x", NUMBER)
    assert not signatures.looks_ahead(equal(x, x))
    assert signatures.looks_ahead(equal(x, t.Next(x, NUMBER, NOWHERE)))


def any_term(choose: random.Random, depth: int) -> t.Term:
    """A term of few names, bound and not, again and again."""
    name = choose.choice("abc")
    if depth == 0:
        return is_first(name)
    match choose.randrange(4):
        case 0:
            return of_all(name, any_term(choose, depth - 1))
        case 1:
            value, body = local(choose.choice("abc"), NODE), any_term(choose, depth - 1)
            return t.Let(name, value, body, BOOL, NOWHERE)
        case 2:
            return t.Not(any_term(choose, depth - 1), NOWHERE)
    parts = any_term(choose, depth - 1), any_term(choose, depth - 1)
    return t.And(parts, NOWHERE)


@pytest.mark.parametrize("seed", range(8))
def test_terms_with_one_signature_are_alike(seed: int) -> None:
    choose, signatures = random.Random(seed), Signatures(Analysis())  # noqa: S311
    found: dict[int, list[t.Term]] = {}
    terms = [any_term(choose, choose.randrange(1, 5)) for _ in range(1500)]
    for term in terms:
        found.setdefault(signatures.of(term), []).append(term)
    assert all(alike(first, other) for first, *others in found.values() for other in others)
    assert 100 < len(found) < len(terms)
