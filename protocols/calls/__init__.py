"""Calls of language models: what each used, and what that costs."""
