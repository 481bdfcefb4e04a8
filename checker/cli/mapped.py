"""What `conform` and `validate` share: their options, and a mapping bound to its instance."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click

from checker import flow, library
from checker.cli.options import A_FILE, A_PLACE, Command, model_options, output_options, overrides
from checker.conformance.bind import Bound, bind
from checker.conformance.forms import Lines
from checker.conformance.log import greatest_times, least_times, sized
from checker.conformance.mapping import Mapping, read_mapping
from checker.conformance.recording import Recording
from checker.elaborate import check_settings, elaborate
from checker.errors import UsageError
from checker.frozen import frozen
from checker.machine.machine import Machine
from checker.table.document import Document, Word
from checker.table.problems import Problems, nearest

MAPPING = "conformance.yaml"
RECORDED = "recorded.yaml"
"""What the mappings beside a specification are called: for both, and for recorded runs alone."""


def mapped_options(command: Command) -> Command:
    """Add the mapping, the instance, and the files that results are written to."""
    for option in (
        output_options,
        click.option(
            "--page",
            "page_file",
            type=A_FILE,
            metavar="FILE",
            help="Write the result as a Markdown page.",
        ),
        click.option(
            "--junit",
            "junit_file",
            type=A_FILE,
            metavar="FILE",
            help="Write the result as JUnit XML.",
        ),
        model_options,
        click.option(
            "--mapping",
            "given",
            type=A_PLACE,
            metavar="FILE",
            help="Which call a row is, what is observed, which rows a log does not show.  "
            f"[{MAPPING} beside SPEC; for logs {RECORDED} where it is there]",
        ),
    ):
        command = option(command)
    return command


@frozen(eq=False, slots=False)
class Mapped:
    """A mapping and the instance that it is bound to."""

    name: str
    mapping: Mapping
    bound: Bound


@frozen()
class Decided:
    """What logs decide of the model that is to explain them: constants, times of timers."""

    constants: tuple[tuple[str, int | bool | str], ...]
    least: tuple[tuple[str, int], ...]
    greatest: tuple[tuple[str, int], ...]


def decided_by(recording: Recording, logs: tuple[Path, ...], lines: Lines | None) -> Decided:
    """Return what logs decide, read as a mapping says; `lines` have a form for some value."""
    constants = {**dict(recording.constants), **sized(logs, recording.sizes, lines)}
    least, greatest = (of(logs, recording.timers) for of in (least_times, greatest_times))
    return Decided(tuple(constants.items()), tuple(least.items()), tuple(greatest.items()))


def mapped(
    spec: str,
    given: Path | None,
    instance: str | None,
    settings: tuple[str, ...],
    observer: flow.Observer,
    *,
    decided: Decided | None = None,
) -> Mapped:
    """Return the mapping of a specification's instance; of recorded runs what logs `decided`.

    For these faults may have no budgets.

    Raises SpecificationError where they do not fit, UsageError where there is none.
    """
    mapping = read_mapping(mapping_file(spec, given, recorded=decided is not None))
    constants = dict(decided.constants if decided is not None else ())
    sizes = mapping.recording.sizes
    if decided is not None:
        mapping = mapping.decided(constants)
        timed = mapping.recording.timed(dict(decided.least), dict(decided.greatest))
        mapping = replace(mapping, recording=timed)
    own = {definition.name.text for definition in mapping.definitions}
    request = flow.Request(
        spec,
        instance or "default",
        {
            **{name: value for name, value in constants.items() if name not in own},
            **overrides(settings),
        },
        properties=(),
        symmetry=False,
    )
    document = flow.document_of(request, observer)
    if decided is not None:
        known = own | {constant.name.text for constant in document.constants}
        _refuse_unknown(tuple(size.constant for size in sizes), known, "N209", "constant")
        _refuse_settings(document, mapping.recording, request, overrides(settings).keys())
    machine = flow.elaborated(document, request, observer)
    if decided is not None and mapping.recording.unlimited:
        document = _without_budgets(document, mapping.recording.unlimited)
        machine = _machine(document, request)
    bound = bind(document, machine, mapping, dict(request.overrides))
    if decided is not None:
        sized_here = {size.constant.text for size in sizes} & constants.keys()
        bound = bound.for_recorded(frozenset(sized_here - overrides(settings).keys()))
    return Mapped(flow.spec_name(document.path), mapping, bound)


def bound_again(
    spec: str, mapping: str | None, instance: str | None, settings: tuple[str, ...]
) -> Bound:
    """Return what `mapped` binds, in another process: nothing is told of it."""
    given = None if mapping is None else Path(mapping)
    return mapped(spec, given, instance, settings, flow.Silent()).bound


def once_more(
    words: Iterable[str],
    instance: str,
    settings: tuple[str, ...],
    given: Path | None,
    options: Iterable[tuple[str, object, object]],
) -> str:
    """Return the command that does the same once more: `words`, and what was said beside them.

    `options` are their names, what they are, and what they are where nobody says anything.
    """
    told = ["checker", *words, "--instance", instance]
    told += [word for setting in settings for word in ("--set", setting)]
    told += [] if given is None else ["--mapping", str(given)]
    for option, said, default in options:
        if said != default:
            told += [option] if said is True else [option, str(said)]
    return shlex.join(told)


def _machine(document: Document, request: flow.Request) -> Machine:
    machine = elaborate(document, request.instance, request.overrides)
    return flow.reduced(flow.select(machine, request.properties), request.symmetry)


def _refuse_settings(
    document: Document, recording: Recording, request: flow.Request, said: Iterable[str]
) -> None:
    """Raise SpecificationError for constants of a mapping or its variants that do not fit.

    What the log decides, or the command line has `said`, stands above them.
    """
    above = {*said, *(size.constant.text for size in recording.sizes)}
    for one in (recording, *(recording.varied(variant) for variant in recording.variants)):
        settings = tuple(setting for setting in one.settings if setting[0].text not in above)
        named = {word.text for word, _, _ in settings}
        others = {name: v for name, v in request.overrides.items() if name not in named}
        check_settings(document, request.instance, settings, others)


def _without_budgets(document: Document, unlimited: tuple[Word, ...]) -> Document:
    """Return a specification in which some faults may happen any number of times.

    It has no properties: they may speak of budgets, and nothing is judged by them.
    """
    _refuse_unknown(unlimited, {fault.name.text for fault in document.faults}, "N206", "fault")
    names = {word.text for word in unlimited}
    faults = tuple(
        replace(fault, budget="unlimited") if fault.name.text in names else fault
        for fault in document.faults
    )
    instances = tuple(entry.unjudged for entry in document.instances)
    return replace(document, faults=faults, properties=(), instances=instances)


def _refuse_unknown(words: tuple[Word, ...], known: set[str], code: str, kind: str) -> None:
    """Raise SpecificationError for words that name nothing of the specification's."""
    problems = Problems()
    for word in words:
        if word.text not in known:
            close = nearest(word.text, known)
            problems.add(
                code,
                f"no {kind} is called `{word.text}`",
                word.span,
                help=f"did you mean `{close}`?" if close else None,
            )
    problems.raise_any()


def mapping_file(spec: str, given: Path | None, *, recorded: bool) -> Path:
    """Return the mapping that is given, or the one beside the specification."""
    if given is not None:
        return given
    folder = library.find(spec).parent
    for name in (RECORDED, MAPPING) if recorded else (MAPPING,):
        if (folder / name).is_file():
            return folder / name
    raise UsageError(f"{spec} has no {MAPPING} beside it; name one with --mapping FILE")
