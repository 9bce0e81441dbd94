"""A second Arbiter: it reads the folder of a run and says what contradicts the specification.

It imports nothing of Moot, so that what both do wrong is at least wrong twice: `planning` draws plans and takes hashes,
`answers` reads texts, `tests/doubles/arbiter_monitor.py` measures, `judging` judges a folder.
"""
