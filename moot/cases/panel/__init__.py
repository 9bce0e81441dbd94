"""Panels without a society around them: scripts, the run, what it leaves behind."""
