"""What fills a seat: the Mind interface and its implementations.

* `mind`: `View` (all a mind is shown, K12), `Reply`, `Mind`.
* `scripted`: answers from a script, the rest from another mind; for scenes and tests.
* `generic`: fills any message from what the rules fix of it, and draws the rest within its schema.
* `simulated`: seeded minds that argue from evidence; the default.
* `model`: language models; prompts, forms and look-ups.
* `human`: stands in while a person holds the seat; people answer through surfaces.

A mind never posts: it is asked what it would say, and when. The bot posts.
"""
