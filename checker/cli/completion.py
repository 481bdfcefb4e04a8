"""`checker completion SHELL`: the script that completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from checker.errors import UsageError

ZSH_WITHOUT_COMPLETION = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"
"""A zsh whose user never asked for completion has no `compdef`, which the script calls."""


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    For bash: `eval "$(checker completion bash)"` in ~/.bashrc; zsh the same in ~/.zshrc;
    fish: `checker completion fish > ~/.config/fish/completions/checker.fish`.
    """
    complete = get_completion_class(shell)
    if complete is None:
        raise UsageError(f"no completion for {shell}")
    root = context.find_root().command
    before = ZSH_WITHOUT_COMPLETION if shell == "zsh" else ""
    click.echo(before + complete(root, {}, "checker", "_CHECKER_COMPLETE").source())
