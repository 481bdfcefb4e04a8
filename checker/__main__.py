"""`python -m checker` is the command `checker`."""

from checker.cli.main import main

main()
