"""The doors: the command `checker`, one file a command."""
