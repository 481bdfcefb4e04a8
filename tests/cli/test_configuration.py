"""Goal: a file gives the options of commands and nothing else: no program, no value that is none.

Whatever stands in it, a wrong one is wrong usage and says where; somebody else's is never taken.
"""

import os
from pathlib import Path

import click
import pytest
from toggling import Command

from checker.cli import configuration
from checker.cli.configuration import FILE, PROJECT, SpokenOption, writes
from checker.cli.main import COMMANDS, checker
from checker.errors import UsageError
from checker.search.checkpoint import held
from checker.source import SIZE_MAX

CHECK = ("check", "toggle.yaml", "--engine", "reference", "--format", "json")
VALUES = {
    "5": "a number",
    "inf": "a number",
    "true": "true",
    '"on"': "a string",
    "[]": "an array",
    "{a = 1}": "a table",
    "1979-05-27": "a date or a time",
    "07:32:00": "a date or a time",
}
"""Values, and what they are called."""

TAKEN = {"keep-going": {"true"}, "property": {"5", "inf", '"on"', "[]"}}
"""Those that an option takes, where it is not every string and number."""

ENDLESS = {
    "a = " + "1" * 5_000: "too many digits",
    "[check]\nmemory = 0x" + "f" * 5_000: "[check] memory has too many digits",
    "a = " + "[" * 50_000: "too deep in each other",
    "a = " + "{a = " * 50_000: "too deep in each other",
    "#" * (SIZE_MAX + 1): "larger than 1,048,576 bytes",
    "[check\n": "is no TOML",
}
"""Files that cannot be read to their end, and why."""


@pytest.mark.parametrize(("name", "table"), [(FILE, "verify"), (PROJECT, "tool.checker.verify")])
def test_a_file_of_the_project_gives_options(
    command: Command, toggle: str, monkeypatch: pytest.MonkeyPatch, name: str, table: str
) -> None:
    text = (
        f'[{table}]\nspecs = ["{toggle}"]\nworkers = 1\ninstance = ["broken"]\njunit = "out.xml"\n'
    )
    Path(name).write_text(text)
    Path("below").mkdir()
    monkeypatch.chdir("below")
    result = command("verify", "--format", "json")
    assert result.code == 0, result.err
    assert [item["instance"] for item in result.json["instances"]] == ["broken"]
    assert Path("../out.xml").is_file()
    result = command("verify", "--format", "json", "--instance", "default")
    assert [item["instance"] for item in result.json["instances"]] == ["default"]


@pytest.mark.usefixtures("toggle")
def test_what_the_command_line_takes_the_file_takes(command: Command) -> None:
    Path(FILE).write_text(
        '[check]\nmemory = 4_000_000_000\nlimit-seconds = 60\nproperty = "few"\nkeep-going = true\n'
    )
    result = command(*CHECK)
    assert result.code == 0, result.err
    assert [item["name"] for item in result.json["properties"]] == ["few"]


# ----------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("option", ["keep-going", "memory", "limit-states", "report", "property"])
@pytest.mark.usefixtures("toggle")
def test_a_value_that_is_none_is_wrong_usage(command: Command, option: str, value: str) -> None:
    if value in TAKEN.get(option, {"5", "inf", '"on"'}):
        return
    Path(FILE).write_text(f"[check]\n{option} = {value}\n")
    result = command(*CHECK)
    assert (result.code, result.out) == (2, "")
    assert f"{Path(FILE).resolve()}: [check] {option} takes " in result.err
    assert f"not {VALUES[value]}; write `{option} = " in result.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ('report = "\\u0000"', "[check] report has a character NUL in it"),
        ('property = ["few", " "]', "[check] property is empty"),
        ('property = ["few", ["few"]]', "[check] property takes a string, a number or one array"),
        ("limit-seconds = nan", "checker.toml: [check] limit-seconds."),
        ('symmetry = "yes"', "checker.toml: [check] symmetry."),
    ],
)
@pytest.mark.usefixtures("toggle")
def test_a_word_that_is_none_is_wrong_usage(command: Command, given: str, told: str) -> None:
    Path(FILE).write_text(f"[check]\n{given}\n")
    result = command(*CHECK)
    assert result.code == 2
    assert told in result.err


@pytest.mark.usefixtures("toggle")
def test_a_wrong_word_of_the_command_line_is_not_the_files(command: Command) -> None:
    Path(FILE).write_text("[check]\nlimit-states = 5\n")
    result = command(*CHECK, "--limit-states", "none")
    assert result.code == 2
    assert FILE not in result.err


# ----------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[check]\nmemry = 1\n", "`checker check` has no option 'memry'; did you mean memory?"),
        ("[chekc]\nmemory = 1\n", "`checker` has no command 'chekc'; did you mean check?"),
        ("[zzz]\n", "`checker` has no command 'zzz'; there are check, verify"),
        ("memory = 1\n", "'memory' is no table of options; options stand in the table"),
        ("check = 1\n", "'check' is no table of options; options stand in the table"),
    ],
)
@pytest.mark.usefixtures("toggle")
def test_a_word_that_names_nothing_is_said(command: Command, text: str, told: str) -> None:
    Path(FILE).write_text(text)
    result = command(*CHECK)
    assert result.code == 2
    assert str(Path(FILE).resolve()) in result.err
    assert told in result.err


# --------------------------------------------------------------------------------------- programs


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("conform", "adapter", '"touch ran"'),
        ("check", "conf", '["spark.pyspark.python=./ran"]'),
        ("verify", "master", '"spark://somewhere:7077"'),
    ],
)
@pytest.mark.usefixtures("toggle")
def test_only_the_command_line_says_which_programs_run(
    command: Command, name: str, option: str, value: str
) -> None:
    Path(FILE).write_text(f"[{name}]\n{option} = {value}\n")
    result = command(name, "toggle.yaml")
    assert result.code == 2
    assert f"[{name}] {option}: it decides which programs run" in result.err
    assert f"write --{option} after the command" in result.err
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("name", "option", "does"),
    [
        ("verify", "update", "changes specifications"),
        ("show", "write", "changes a page of a system"),
        ("cache", "clear", "removes files"),
    ],
)
def test_only_the_command_line_changes_what_is_the_users(
    command: Command, toggle: str, name: str, option: str, does: str
) -> None:
    before = Path(toggle).read_text()
    Path(FILE).write_text(f"[{name}]\n{option} = true\n")
    result = command(name, *([] if name == "cache" else [toggle]))
    assert result.code == 2
    assert f"[{name}] {option}: it {does}, so only the command line may give it" in result.err
    assert Path(toggle).read_text() == before


def test_no_other_option_names_a_program() -> None:
    ctx = click.Context(checker)
    for name in COMMANDS:
        command = checker.get_command(ctx, name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.metavar in {"COMMAND", "URL"}:
                assert isinstance(parameter, SpokenOption), (name, parameter.name)


WRITTEN = {
    *("check report", "check checkpoint", "check resume", "verify junit", "verify sarif"),
    *("verify report", "graph out", "export out", "simulate trace", "simulate report"),
    *("hunt report", "sweep out", "mutate out", "conform page", "conform junit"),
    *("validate page", "validate junit", "validate run"),
}
"""Which options of which commands name what is written to."""


def test_each_option_that_names_a_file_is_known_to_write_it_or_not() -> None:
    ctx = click.Context(checker)
    found = set()
    for name in COMMANDS:
        command = checker.get_command(ctx, name)
        assert command is not None
        for item in command.params:
            if writes(item):
                found.add(f"{name} {max(item.opts, key=len).lstrip('-')}")
            elif isinstance(item.type, click.Path) and isinstance(item, click.Option):
                assert item.type.exists or item.name == "given", (name, item.name)
    assert found == WRITTEN


@pytest.mark.parametrize(
    "value",
    ["../mine.xml", "ABOVE/mine.xml", "link/mine.xml", "mine", "x/../../mine.xml", "s3a://b/mine"],
)
def test_a_file_lets_nothing_be_written_elsewhere(
    command: Command, toggle: str, tmp_path: Path, value: str
) -> None:
    above = tmp_path.with_name(f"{tmp_path.name}-above")
    above.mkdir()
    (Path.cwd() / "link").symlink_to(above)
    (Path.cwd() / "mine").symlink_to(above / "mine")
    Path(FILE).write_text(f'[verify]\njunit = "{value.replace("ABOVE", str(above))}"\n')
    result = command("verify", toggle)
    assert result.code == 2
    assert "[verify] junit: it is written to, so here it is a path below" in result.err
    assert "or give --junit after the command" in result.err
    assert not list(above.iterdir())
    assert command("verify", toggle, "--junit", str(above / "mine.xml")).code == 2
    Path(FILE).write_text('[check]\ncheckpoint = "../kept"\n')
    assert "[check] checkpoint: it is written to" in command("check", toggle).err


def test_what_only_the_command_line_gives_is_refused(command: Command, toggle: str) -> None:
    Path(FILE).write_text(f'[validate]\nspec = "{toggle}"\n')
    result = command("validate", toggle, toggle)
    assert result.code == 2
    assert "[validate] spec: only the command line gives SPEC and LOG" in result.err
    Path(FILE).write_text(f'[check]\nspec = "{toggle}"\n')
    assert command("check").code == 0


# ------------------------------------------------------------------------------------------ files


@pytest.mark.parametrize("text", ENDLESS, ids=ENDLESS.values())
@pytest.mark.usefixtures("toggle")
def test_a_file_that_cannot_be_read_is_wrong_usage(command: Command, text: str) -> None:
    Path(FILE).write_text(text)
    result = command(*CHECK)
    assert result.code == 2
    assert str(Path(FILE).resolve()) in result.err
    assert ENDLESS[text] in result.err
    assert "Traceback" not in result.err


@pytest.mark.usefixtures("toggle")
def test_a_mark_of_the_byte_order_is_none_of_the_text(command: Command) -> None:
    Path(FILE).write_text('\ufeff[check]\nproperty = "few"\n', encoding="utf-8")
    result = command(*CHECK)
    assert [item["name"] for item in result.json["properties"]] == ["few"]


@pytest.mark.parametrize("kind", ["folder", "loop", "dangling"])
@pytest.mark.usefixtures("toggle")
def test_a_file_that_is_none_is_told(command: Command, kind: str) -> None:
    if kind == "folder":
        Path(FILE).mkdir()
    else:
        Path(FILE).symlink_to(FILE if kind == "loop" else "gone")
    result = command(*CHECK)
    assert (result.code, result.out) == (2, "")
    assert f"{Path.cwd() / FILE} is no file that can be read" in result.err


@pytest.mark.usefixtures("toggle")
def test_an_option_in_both_spellings_is_refused(command: Command) -> None:
    Path(FILE).write_text("[check]\nlimit_depth = 1\nlimit-depth = 2\n")
    result = command(*CHECK)
    assert (result.code, result.out) == (2, "")
    assert "[check] says 'limit-depth' twice; remove one" in result.err


@pytest.mark.parametrize(
    "text",
    ["tool = 3\n", "[tool]\nchecker = 3\n", *(text for text in ENDLESS if "memory" not in text)],
)
@pytest.mark.usefixtures("toggle")
def test_a_projects_file_that_says_nothing_to_us_is_passed_over(
    command: Command, text: str
) -> None:
    Path(PROJECT).write_text(f"# checker\n{text}")
    assert command(*CHECK).code == 0


STRANGER = 54_321
"""The number of a user that nobody is."""


@pytest.mark.parametrize("name", [FILE, PROJECT])
@pytest.mark.usefixtures("toggle")
def test_a_file_of_another_user_is_not_taken(
    command: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text = b"[check]\n" if name == FILE else b"[tool.checker.check]\n"
    Path(name).write_bytes(text)
    monkeypatch.setattr(configuration, "_read", lambda _: (text, {os.geteuid(), STRANGER}))
    result = command("explain", "Y301")
    assert result.code == 2
    assert f"{Path(name).resolve()} belongs to the user with the number {STRANGER}" in result.err
    assert f"write a {FILE} of your own into a nearer folder" in result.err
    monkeypatch.setattr(configuration, "_read", lambda _: (b"[tool]", {STRANGER}))
    assert command("explain", "Y301").code == (2 if name == FILE else 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.usefixtures("toggle")
def test_the_owner_of_the_working_directory_is_trusted(command: Command) -> None:
    Path(FILE).write_text("[check]\n")
    os.chown(FILE, STRANGER, -1)
    assert command(*CHECK).code == 2
    os.chown(".", STRANGER, -1)
    assert command(*CHECK).code == 0
    os.chown(".", 0, -1)
    Path(FILE).rename("mine.toml")
    os.chown("mine.toml", 0, -1)
    Path(FILE).symlink_to("mine.toml")
    assert command(*CHECK).code == 0
    os.chown(FILE, STRANGER, -1, follow_symlinks=False)
    assert command(*CHECK).code == 2


def test_links_that_lead_in_a_circle_are_told_of(command: Command, toggle: str) -> None:
    """`Path.resolve` raises RuntimeError for them."""
    Path("circle").symlink_to("circle")
    Path(FILE).write_text('[verify]\ninstance = "default"\njunit = "circle/x"\n')
    result = command("verify", toggle)
    assert (result.code, "error: circle" in result.err) == (2, True)
    circle = Path("circle")
    with pytest.raises(UsageError, match="circle: no checkpoint"), held(circle, circle):
        pass
