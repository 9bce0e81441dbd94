"""Runs of the Arena without a society around them: scripts, notebooks, the test matrix."""
