"""`checker mutate SPEC`: which small changes of a specification its instances do not notice."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from checker import flow, library
from checker.cli.configuration import spoken
from checker.cli.objects import print_object
from checker.cli.options import A_FOLDER, make_folder, output_options
from checker.cli.progress import Style, observing
from checker.cli.spreading import Where, spreading_options
from checker.errors import UsageError
from checker.mutation import abilities, bugs, report
from checker.mutation.bugs import Bug
from checker.mutation.campaign import (
    BATCH,
    BUGS_BATCH,
    Judged,
    Step,
    all_mutants,
    chosen_instances,
    run,
)
from checker.mutation.mistakes import declared_mistakes
from checker.mutation.report import Campaign
from checker.mutation.shown import Shown, jobs_of, judge_all
from checker.mutation.weaver import KINDS, USUAL, Kind, Mutant
from checker.report.files import put_below
from checker.table import Document, read
from checker.table.problems import nearest
from checker.verdict import exits
from checker.visible import json_text, visible

BESIDE = "<bugs.yaml beside SPEC>"
"""What `--bugs` without a file stands for."""

KEPT = "kept"
"""The folder of --out with the results of each batch."""


@click.command()
@click.argument("spec")
@click.option(
    "--instance",
    "names",
    multiple=True,
    metavar="NAME",
    help="Judge by this one; by default by all of tier quick. Repeatable.",
)
@click.option("--all", "every_tier", is_flag=True, help="Also judge by instances of tier full.")
@click.option(
    "--row",
    "rows",
    multiple=True,
    metavar="NAME",
    help="Change only this row, procedure or definition. Repeatable.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    metavar="KIND",
    help="Make changes of this kind; by default guard, effect, target, message and definition. "
    "Also there: loss, order, confusion. Repeatable.",
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    metavar="N",
    help="Take N mutants, the same ones every time.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="S",
    help="Which N --sample takes: a score of what nobody tuned on needs a new one.",
)
@click.option(
    "--declared",
    is_flag=True,
    help="Judge the mistakes of mistakes.yaml instead: each must break its property.",
)
@click.option(
    "--bugs",
    "bugs_file",
    is_flag=False,
    flag_value=BESIDE,
    metavar="[FILE]",
    help="Judge the bugs that a file lists instead, by default bugs.yaml beside SPEC: each must be "
    "caught by a verdict, unless it is said to survive.",
)
@spreading_options
@click.option(
    "--out",
    "directory",
    type=A_FOLDER,
    metavar="DIR",
    help="Write mutants.md and mutants.json, and keep results to go on from.",
)
@output_options
def mutate(
    spec: str,
    names: tuple[str, ...],
    every_tier: bool,
    rows: tuple[str, ...],
    kinds: tuple[Kind, ...],
    sample: int | None,
    seed: int,
    declared: bool,
    bugs_file: str | None,
    engine: str,
    workers: int | None,
    master: str | None,
    conf: tuple[str, ...],
    directory: Path | None,
    form: str,
    progress: Style,
) -> int:
    """Change SPEC in one small place at a time, and see which instance notices.

    Guards are weakened, negated, dropped; effects dropped and changed; machines go to another
    state; messages are dropped or carry something else. With --kind also slips: values that are
    lost at the end of a row, another order, one thing mistaken for another. Exit code 0:
    everything that changes a step is noticed, by a verdict or by a declared figure; 1: something
    is not; 20: of something it is not known.

    With --declared: exit code 0 if every property is shown to be able to fail, 1 if not. With
    --bugs: exit code 0 if a verdict catches each that changes a step and is not said to survive.
    """
    where = Where(engine, workers, master, conf)
    where.refuse()
    if spoken("seed") and sample is None:
        raise UsageError("--seed chooses what --sample takes; add --sample N")
    document = read(library.find(spec))
    if declared:
        if every_tier or rows or kinds or sample is not None or directory is not None:
            raise UsageError("--declared goes with none of --all, --row, --kind, --sample, --out")
        if bugs_file is not None:
            raise UsageError("--declared and --bugs do not go together")
        return _declared(document, names, where, form, progress)
    if bugs_file is not None and (rows or kinds):
        raise UsageError("--bugs goes with neither --row nor --kind: the file says what is changed")
    listed = {} if bugs_file is None else _listed(document, bugs_file)
    instances = chosen_instances(document, names, every=every_tier)
    if bugs_file is None:
        mutants = _sampled(_chosen(document, rows, kinds or USUAL), sample, seed)
    else:
        mutants = _sampled([bug.mutant for bug in listed.values()], sample, seed)
    if directory is not None:
        make_folder(directory)
    kept = None if directory is None else directory / KEPT
    judged, finished = _judge(document, instances, mutants, where, kept, progress, listed)
    campaign = Campaign(
        *(flow.spec_name(document.path), document.name.text, tuple(instances)),
        *(judged, finished, listed),
    )
    found = report.as_object(campaign)
    if form == "json":
        print_object(found)
    else:
        click.echo(report.text(campaign))
    if directory is not None:  # last: what cannot be written must not cost what was found
        page = f"{campaign.noun}.md"
        told = json_text(found, indent=1)
        contents = {page: report.markdown(campaign), f"{campaign.noun}.json": f"{told}\n"}
        put_below(directory, contents)
        click.echo(f"report written to {directory / page}", err=True)
    return _exit_code(campaign)


def _declared(
    document: Document, names: tuple[str, ...], where: Where, form: str, progress: Style
) -> int:
    """Judge the mistakes that stand beside a system, those of some instances where any is named."""
    mistakes = declared_mistakes(document)
    instances = chosen_instances(document, names, every=True) if names else ()
    wanted = [item for item in mistakes if not names or item.instance in instances]
    jobs = jobs_of(document, wanted)
    shown: list[Shown] = []
    finished = True
    try:
        with observing(progress) as observer, where.spread(len(jobs), observer.notice) as spread:
            for item in judge_all(jobs, spread):
                shown.append(item)
                _tell_shown(item, len(shown), len(wanted), progress)
    except KeyboardInterrupt:
        finished = False
    found = abilities.abilities(document, shown)
    if names or not finished:
        judged = {item.property for item in shown}
        found = tuple(item for item in found if item.property in judged)
    left = len(wanted) - len(shown)
    if form == "json":
        print_object(abilities.as_object(document.name.text, found, left))
    else:
        click.echo(abilities.text(document.name.text, found, left))
    if abilities.missing(found):
        return exits.DIFFERENCE
    return exits.HOLDS if finished else exits.INTERRUPTED


def _tell_shown(item: Shown, done: int, of: int, progress: Style) -> None:
    """Say on stderr that a mistake was judged."""
    if progress == "json":
        event = {"version": 1, "stage": "mutate", "instance": item.instance}
        event |= {"property": item.property, "judged": done, "of": of}
        print(json_text(event, plain=True), file=sys.stderr, flush=True)  # noqa: T201
    elif progress != "none":
        word = "broken" if item.steps is not None else "NOT broken"
        text = f"{done} of {of}: {item.property} {word}, {item.instance}"
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def _listed(document: Document, file: str) -> dict[str, Bug]:
    """Return the bugs that a file lists, by their keys; UsageError where it is not there."""
    path = Path(document.path).parent / bugs.FILE if file == BESIDE else Path(file)
    if not path.is_file():
        raise UsageError(f"there is no file {path}; docs/mutation.md says what stands in it")
    found = dict(bugs.by_key(bugs.read_bugs(path, document)))
    if not found:
        raise UsageError(f"{path} lists no bug")
    return found


def _chosen(document: Document, rows: tuple[str, ...], kinds: tuple[Kind, ...]) -> list[Mutant]:
    """Return the mutants of rows; UsageError for a name that nothing has."""
    known = {item.name.text for item in document.rows}
    known |= {item.name.text for item in document.procedures}
    known |= {item.name.text for item in document.definitions}
    for name in rows:
        if name not in known:
            close = nearest(name, known)
            hint = f"; did you mean {close}?" if close else ""
            raise UsageError(
                f"{document.name.text} has no row, procedure or definition {name!r}{hint}"
            )
    return list(all_mutants(document, rows, kinds))


def _sampled(mutants: list[Mutant], sample: int | None, seed: int) -> list[Mutant]:
    """Return so many of mutants, the same ones for the same seed."""
    if sample is None or sample >= len(mutants):
        return mutants
    places = random.Random(seed).sample(range(len(mutants)), sample)  # noqa: S311 - the same ones
    return [mutants[place] for place in sorted(places)]


def _judge(
    document: Document,
    instances: list[str],
    mutants: list[Mutant],
    where: Where,
    kept: Path | None,
    progress: Style,
    listed: Mapping[str, Bug],
) -> tuple[tuple[Judged, ...], bool]:
    """Return what became of the mutants, and whether all instances were run."""
    judged = [Judged(mutant, (), whole=False) for mutant in mutants]

    def tell(step: Step) -> None:
        _tell(step, "bugs" if listed else "mutants", progress)

    batch = BUGS_BATCH if listed else BATCH
    try:
        with observing(progress) as observer, where.spread(len(mutants), observer.notice) as spread:
            for found in run(document, instances, mutants, spread, tell, kept, batch, listed):
                judged = found
    except KeyboardInterrupt:
        return tuple(judged), False
    return tuple(judged), True


def _tell(step: Step, noun: str, progress: Style) -> None:
    """Say on stderr that a batch was judged."""
    if progress == "none":
        return
    if progress == "json":
        event = {"version": 1, "stage": "mutate", "instance": step.instance}
        event |= {noun: step.mutants, "left": step.left, "kept": step.kept}
        event |= {"unkept": step.unkept} if step.unkept else {}
        print(json_text(event, plain=True), file=sys.stderr, flush=True)  # noqa: T201
        return
    known = ", known from before" if step.kept else ""
    known += f"; they could not be kept: {visible(step.unkept)}" if step.unkept else ""
    text = f"{step.instance}: {step.mutants} of {step.left} {noun} judged{known}"
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def _exit_code(campaign: Campaign) -> int:
    counts = campaign.counts
    if not campaign.finished:
        return exits.INTERRUPTED
    if campaign.bugs:
        return exits.DIFFERENCE if campaign.not_as_said else exits.HOLDS
    if counts["unnoticed"]:
        return exits.DIFFERENCE
    return exits.INCONCLUSIVE if counts["undecided"] else exits.HOLDS
