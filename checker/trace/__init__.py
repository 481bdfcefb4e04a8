"""Takes a Finding, makes a Trace: numbered steps replayed through the reference interpreter."""
