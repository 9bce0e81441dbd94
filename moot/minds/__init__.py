"""Minds of one's own: what a user's class needs to fill a seat.

    from moot.minds import Mind, View

    class MyCritic(Mind):
        def answer(self, view: View): ...

`Mind`, `View`, `Reply` and `WrongBody` are public and stay; the modules below are Moot's own:

* `mind`: the base class.
* `choosing`: from what a configuration, a command line or a caller says to what fills each seat.
* `seated`: the shell around a mind of one's own: when it is asked, how long it may think, what becomes of a failure.
* `models`: the minds of models, with simulated ones in reserve.
* `foreseeing`: what the rules would say of an answer, asked before it is posted.
* `writing`: the same for seats of the Arena and of panels, whose shell makes the messages.
* `rehearsal`, `rehearsing`: a mind is asked for everything that its seat owes, and judged (`moot minds check`).
* `silences`: what was left unanswered, for whoever ran it.
* `thread`: one thread, one answer after another.
"""

from moot.bots.minds.mind import Reply, View
from moot.bots.minds.replying import WrongBody
from moot.minds.mind import Mind

__all__ = ["Mind", "Reply", "View", "WrongBody"]
