"""`moot arbiter`: `configuring` writes, judges and resolves the file of a run."""
