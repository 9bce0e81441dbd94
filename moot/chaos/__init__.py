"""Societies that are broken on purpose, and what must hold all the same.

* `laws`: what every log keeps, whatever breaks.
"""
