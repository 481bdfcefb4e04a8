"""Takes a Machine and its Exploration, makes a Verdict, and holds it to what was expected."""
