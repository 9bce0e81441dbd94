"""Minds of one's own: what a user's class needs to fill a seat.

    from moot.minds import Mind, View

    class MyCritic(Mind):
        def answer(self, view: View): ...

`Mind`, `View` and `Reply` are public and stay; the modules below are Moot's own:

* `mind`: the base class.
* `choosing`: from what a configuration, a command line or a caller says to what fills each seat.
* `seated`: the shell around a mind of one's own: when it is asked, how long it may think, what becomes of a failure.
* `thread`: one thread, one answer after another.
"""

from moot.bots.minds.mind import Reply, View
from moot.minds.mind import Mind

__all__ = ["Mind", "Reply", "View"]
