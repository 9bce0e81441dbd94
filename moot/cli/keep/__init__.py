"""Commands that check a log and keep what belongs to it."""
