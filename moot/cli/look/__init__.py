"""Commands that look at a society: how it stands, what was said, one case, what asks for an admin."""
