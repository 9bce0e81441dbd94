"""Texts in which errors can be planted: wordings in TOML, and what is filled in."""
