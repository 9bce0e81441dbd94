"""Messages as people read them.

`templates` say in `wording`'s small language how each type reads (`panels`, `reviews`: what long works come to);
`rendering` makes sentences and cards of it, `layout` cuts them to a platform's measure. `looks` and `avatars` are the
faces of seats, `namebook` the names of people.
"""
