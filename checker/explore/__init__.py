"""A specification to walk through in the browser: what is asked of it, and the server."""
