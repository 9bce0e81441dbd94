"""Readers who look for errors in a text, by checks that they may or may not make."""
