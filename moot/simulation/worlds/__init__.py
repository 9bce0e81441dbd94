"""Whole societies that live a seed: with people, stalls, steps of the clock and kills, faster than the wall.

A seed draws a plan, which is plain data; a plan is lived on a wall that is simulated, in any clock's time; what comes
of it is a log, which `moot verify` judges. The same seed gives the same plan and the same bytes.

    dice      draws from a seed and names; the same on every machine
    plan      what a seed draws: how a world is made, who does what when, what goes wrong when
    wall      a wall clock that passes when nobody is busy, jumps, and is set
    people    what people do, by name, through the door like everybody
    world     a plan lived: one life after the other, and what `moot verify` says of the log

What can happen stands in two tables, `people.ACTS` and `world.FAULTS`: a new act or fault is a row there, and a row
in `plan` that says how often it is drawn.
"""
