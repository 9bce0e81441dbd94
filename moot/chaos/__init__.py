"""Societies that are broken on purpose, and what must hold all the same.

A seed draws a plan, which is plain data: a society of a week, what people do in it, and spells in which something goes
wrong. A plan is lived in virtual time, or on a wall that is simulated; what comes of it is a log, which `moot.laws` and
`moot verify` judge. The same seed gives the same plan and, in memory, the same bytes.

* `faults`: what can go wrong, by class. `plan`: what a seed draws. `dice`: its draws, the same on every machine.
* `world`: a plan lived, one life of its society after the other; `life`: one of them.
* `people`: what people do, by name, through the door like everybody.
* `minds`: bots that are silent, slow or wrong; `rogue`: what bots post that nobody asked for; `market`: symbols that
  are halted or have no price; `acked`: the bus, which refuses while the disk does, and remembers what it acknowledged.
  They stand at the society's own ports (`moot.ports`), and ask `striking` which spells strike now.
* `door`: the way in, on which posts are late or arrive twice.
* `models`: a model that a script answers for, with its own faults.
* `model_server`: the same model over real HTTP, which a world on files calls.
* `files`: what is lost or torn while a society is down.
* `wall`: a wall clock that passes when nobody is busy, jumps, and is set.
* `judge`: what is wrong with what a world left; `sight`: with what its minds were shown; `coverage`: which rows of the
  machines' tables it took.
* `run`: many worlds, and what came of them.
* `live`: a rehearsal, the same faults in a society that people watch (`moot up --chaos`).
* `shrink`: a plan that finds something, made small by the steps in `smaller`; `rehearsal`: a plan as a scene file tells
  it; `scenes`: a run's findings, each told so.

A new fault is a row in `faults` and a function where its class lives.
"""
