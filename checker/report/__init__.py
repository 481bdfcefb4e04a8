"""Takes Verdicts and Traces, makes text, Markdown, JSON, JUnit and diagrams."""
