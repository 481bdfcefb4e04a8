"""What a campaign found, as text, Markdown and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from textwrap import wrap

from checker import __version__
from checker.frozen import frozen
from checker.mutation.bugs import Bug
from checker.mutation.campaign import Fate, Judged
from checker.mutation.sights import Sight
from checker.mutation.weaver import KINDS
from checker.report.headline import plural

FATES: dict[Fate, str] = {
    "caught": "caught by a verdict",
    "counted": "noticed by declared figures only",
    "unnoticed": "noticed by nothing",
    "equal": "equal: no step is another",
    "refused": "refused: no specification",
    "undecided": "undecided",
}

WIDTH = 100
"""Columns of a terminal that texts keep to."""

SHOWN = 40
"""Mutants of a list that are printed; all of them are in the files of --out."""


@frozen()
class Campaign:
    """A specification, the instances that judged its mutants, and what became of each."""

    spec: str
    system: str
    instances: tuple[str, ...]
    judged: tuple[Judged, ...]
    finished: bool = True
    bugs: Mapping[str, Bug] = field(default_factory=dict)

    @property
    def noun(self) -> str:
        """What was judged."""
        return "bugs" if self.bugs else "mutants"

    @property
    def not_as_said(self) -> list[Judged]:
        """Bugs that are no specification or that no verdict catches, and the caught survivors.

        Of a bug that changes no step nothing is said.
        """
        return [
            item
            for item in self.judged
            if item.mutant.key in self.bugs
            and (
                item.fate == "refused"
                or (item.fate == "caught" and self.survives(item))
                or (item.fate in {"counted", "unnoticed", "undecided"} and not self.survives(item))
            )
        ]

    def survives(self, item: Judged) -> str:
        """Return why no verdict catches a bug, where it is said of it."""
        bug = self.bugs.get(item.mutant.key)
        return "" if bug is None else bug.survives

    def what(self, item: Judged) -> str:
        """Return what a mutant changes, or what a bug is about."""
        bug = self.bugs.get(item.mutant.key)
        if bug is None:
            return item.mutant.what
        return f"{bug.source}: {bug.about}" if bug.source else bug.about

    def of(self, fate: Fate) -> list[Judged]:
        """Return the mutants of this fate, in the order of the file."""
        return [item for item in self.judged if item.fate == fate]

    @property
    def counts(self) -> dict[Fate, int]:
        """How many mutants have which fate."""
        found = Counter(item.fate for item in self.judged)
        return {fate: found[fate] for fate in FATES}

    @property
    def changing(self) -> int:
        """Mutants that change something that an instance could notice, as far as is known."""
        counts = self.counts
        return counts["caught"] + counts["counted"] + counts["unnoticed"]

    @property
    def score(self) -> float | None:
        """The share that a verdict catches of what changes something; None where nothing does."""
        return self.counts["caught"] / self.changing if self.changing else None

    @property
    def least_score(self) -> float | None:
        """What the score is at least, were no mutant caught that is undecided."""
        most = self.changing + self.counts["undecided"]
        return self.counts["caught"] / most if most else None

    @property
    def noticed(self) -> float | None:
        """The share that a verdict catches or a declared figure shows."""
        counts = self.counts
        shown = counts["caught"] + counts["counted"]
        return shown / self.changing if self.changing else None

    @property
    def catchers(self) -> Counter[str]:
        """Of each property, how many mutants it was the first to catch."""
        found: Counter[str] = Counter()
        for item in self.of("caught"):
            sight = item.telling
            if sight is not None:
                found[sight.by[0]] += 1
        return found


def percent(share: float | None) -> str:
    """Return a share as a person reads it; rounded down, so that 100 % means all."""
    return "none" if share is None else f"{int(share * 1000) / 10:.1f} %"


def place(item: Judged) -> str:
    """Return where a mutant is: `system.yaml:31`, relative to the folder of the specification."""
    return f"{Path(item.mutant.span.source.name).name}:{item.mutant.span.line}"


def remark(item: Judged) -> str:
    """Return in a few words what is known of a mutant."""
    sight = item.telling
    if sight is None:
        return "not every instance has run it" if item.sights else "no instance has run it"
    if item.fate == "caught":
        steps = "" if sight.steps is None else f" after {plural(sight.steps, 'step')}"
        return f"{', '.join(sight.by)}{steps}, in {sight.instance}"
    if item.fate == "counted":
        note = f"; {sight.note}" if sight.note else ""
        return f"{', '.join(sight.by)}, in {sight.instance}{note}{_first(sight)}"
    if item.fate == "unnoticed":
        return _unnoticed(sight)
    if item.fate == "undecided":
        return f"{sight.note}, in {sight.instance}"
    return sight.note


def _first(sight: Sight) -> str:
    if sight.row is None:
        return ""
    return f"; the first other step is of {sight.row}, after {plural(sight.depth or 0, 'step')}"


def _unnoticed(sight: Sight) -> str:
    what = f"in {sight.instance}"
    if sight.row is None:
        text = f"{what} only what is asked of the states is another"
    else:
        after = plural(sight.depth or 0, "step")
        text = f"{what} the first other step is of {sight.row}, after {after}"
    if sight.by:
        return f"{text}; to pin there: {', '.join(sight.by)}"
    return f"{text}; no count differs"


# ------------------------------------------------------------------------------------------- text


def text(campaign: Campaign) -> str:
    """Return the report for the terminal."""
    return "\n".join(_text(campaign))


def _undecided(campaign: Campaign) -> str:
    """Return what the score is worth where mutants are undecided; nothing where none is."""
    count = campaign.counts["undecided"]
    if not count:
        return ""
    return f"{count:,} are undecided: the score is at least {percent(campaign.least_score)}"


def _text(campaign: Campaign) -> Iterator[str]:
    total = len(campaign.judged)
    noun = campaign.noun if total != 1 else campaign.noun.removesuffix("s")
    yield f"{campaign.system}: {total:,} {noun}, judged by {_names(campaign.instances)}"
    if not campaign.finished:
        yield "interrupted: what was not judged is undecided"
    yield ""
    for fate, count in campaign.counts.items():
        if count or fate in {"caught", "counted", "unnoticed"}:
            yield f"{count:7,}  {FATES[fate]}"
    yield ""
    yield (
        f"score {percent(campaign.score)}: caught by a verdict, of the {campaign.changing:,} that "
        "change a step"
    )
    yield f"      {percent(campaign.noticed)} with those that declared figures show"
    if doubt := _undecided(campaign):
        yield f"      {doubt}"
    shown: tuple[Fate, ...] = ("unnoticed", "undecided", "counted")
    if campaign.bugs:
        shown = ("refused", *shown, "equal")
    for fate in shown:
        yield from _listed(campaign, FATES[fate], campaign.of(fate))
    changed = [item for item in campaign.of("caught") if campaign.survives(item)]
    yield from _listed(campaign, "caught, though it is said to survive", changed)


def _listed(campaign: Campaign, title: str, items: Sequence[Judged]) -> Iterator[str]:
    if not items:
        return
    yield ""
    yield f"{title}:"
    for item in items[:SHOWN]:
        mutant = item.mutant
        is_bug = mutant.kind == "bug"
        named = f"{mutant.what}  [{mutant.where}]" if is_bug else f"{mutant.where}  [{mutant.kind}]"
        yield f"  {place(item)}  {named}"
        lines = [campaign.what(item), remark(item)]
        if why := campaign.survives(item):
            lines.append(f"survives: {why}")
        for line in filter(None, lines):
            yield from wrap(line, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    if len(items) > SHOWN:
        yield f"  and {len(items) - SHOWN:,} more: --out DIR writes all"


def _names(names: Sequence[str]) -> str:
    if len(names) <= 4:
        return ", ".join(names) or "no instance"
    return f"{len(names)} instances"


# --------------------------------------------------------------------------------------- Markdown


def markdown(campaign: Campaign) -> str:
    """Return the report as Markdown."""
    return "\n".join(_markdown(campaign)) + "\n"


def _markdown(campaign: Campaign) -> Iterator[str]:
    yield f"# {campaign.noun.capitalize()} of {campaign.system}"
    yield ""
    if campaign.bugs:
        what = "bugs that somebody made once, or could make"
    else:
        what = "small changes of its rows, procedures and definitions, one at a time"
    judges = ", ".join(campaign.instances) or "no instance"
    yield f"{len(campaign.judged):,} {what}. Judged by: {judges}."
    yield ""
    yield (
        f"**Score {percent(campaign.score)}** of the {campaign.changing:,} that change a step are "
        f"caught by a verdict, {percent(campaign.noticed)} with those that only declared figures "
        "show."
    )
    if doubt := _undecided(campaign):
        yield f"{doubt[0].upper()}{doubt[1:]}."
    yield ""
    shown = [kind for kind in KINDS if any(item.mutant.kind == kind for item in campaign.judged)]
    yield "| | " + " | ".join((*shown, "all")) + " |"
    yield "| --- |" + " ---: |" * (len(shown) + 1)
    for fate, words in FATES.items():
        kinds = Counter[str](item.mutant.kind for item in campaign.of(fate))
        cells = [*(kinds[kind] for kind in shown), sum(kinds.values())]
        yield f"| {words} | " + " | ".join(f"{cell:,}" for cell in cells) + " |"
    listed: tuple[Fate, ...] = ("unnoticed", "undecided", "counted", "equal", "refused")
    for fate in (*listed, "caught") if campaign.bugs else listed:
        yield from _list(campaign, fate)
    yield ""
    yield "## What caught the others"
    yield ""
    yield "| property | mutants it was the first to catch |"
    yield "| --- | ---: |"
    for name, count in sorted(campaign.catchers.items(), key=lambda entry: (-entry[1], entry[0])):
        yield f"| {name} | {count:,} |"


def _list(campaign: Campaign, fate: Fate) -> Iterator[str]:
    items = campaign.of(fate)
    if not items:
        return
    yield ""
    yield f"## {FATES[fate][0].upper()}{FATES[fate][1:]}"
    yield ""
    yield f"| place | where | {'bug' if campaign.bugs else 'kind'} | change | |"
    yield "| --- | --- | --- | --- | --- |"
    for item in items:
        mutant = item.mutant
        said = f"; survives: {campaign.survives(item)}" if campaign.survives(item) else ""
        kind = mutant.what if mutant.kind == "bug" else mutant.kind
        cells = (place(item), mutant.where, kind, campaign.what(item), remark(item) + said)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# ------------------------------------------------------------------------------------------- JSON


def as_object(campaign: Campaign) -> dict[str, object]:
    """Return the report as an object for JSON."""
    return {
        "checker": __version__,
        "spec": campaign.spec,
        "system": campaign.system,
        "instances": list(campaign.instances),
        "finished": campaign.finished,
        campaign.noun: len(campaign.judged),
        **{str(fate): count for fate, count in campaign.counts.items()},
        "score": campaign.score,
        "least_score": campaign.least_score,
        "noticed": campaign.noticed,
        "catchers": dict(sorted(campaign.catchers.items())),
        "list": [_mutant(item) | _said(campaign, item) for item in campaign.judged],
    }


def _said(campaign: Campaign, item: Judged) -> dict[str, object]:
    """Return what is said of a bug."""
    bug = campaign.bugs.get(item.mutant.key)
    if bug is None:
        return {}
    return {"about": bug.about, "source": bug.source or None, "survives": bug.survives or None}


def _mutant(item: Judged) -> dict[str, object]:
    mutant, sight = item.mutant, item.telling
    found: dict[str, object] = {
        "where": mutant.where,
        "kind": mutant.kind,
        "change": mutant.what,
        "file": Path(mutant.span.source.name).name,
        "line": mutant.span.line,
        "column": mutant.span.column,
        "fate": item.fate,
    }
    if sight is not None:
        found |= {
            "instance": sight.instance,
            "by": list(sight.by),
            "steps": sight.steps,
            "row": sight.row,
            "depth": sight.depth,
            "note": sight.note,
        }
    return found
