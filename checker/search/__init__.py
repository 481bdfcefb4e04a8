"""Takes a Machine, makes an Exploration: every reachable state, and what is wrong with it."""
