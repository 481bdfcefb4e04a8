"""Takes the explored states and steps, judges what holds of endless runs."""
