"""Arbiter's numbers and its engine: what runs around the rules of `moot.protocols.arbiter`.

* `resolving`: a run before its first call.
* `events`, `ports`, `interrupt`: what a run tells, whom it asks, and how it is stopped by hand.
* `engine`: carries out a run; `embeddings`: how its answers are embedded, `outcomes`: what a trial decided.
* `mocking`: a run that asks nobody.
* `launching`: a run from its first event to its last, with its folder and the signals that stop it.
* `artifacts`: keeps a run in a folder of `run_files`, by `files`, `manifests`, `vector_file` and `receipt`; `schemas`:
  what each of them holds.
* `vectors`: unit vectors and their cosines, float64, rounded so that no order of adding up decides.
* `novelty`: how near each answer comes to those before it.
* `clustering`: which answers belong together.
* `monitor`: all that is measured after a batch.
* `certifying`: what is certain of its labels after each.
* `comparable`, `comparing`: whether two runs differ.
* `reading`, `summary` (by `summarising`), `telling`, `page`: a run's folder, what it found, in words, and as a page.
* `pictures`: what a run looks like; `drawing` makes SVG and words of it, `projection` puts answers on a plane.
* `verify`: judges a run that anybody made.
"""
