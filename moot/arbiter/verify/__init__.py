"""Judges a run that anybody made: all that can be computed again is, from its files alone.

It shares no code with the engine and with what writes runs; what a plan, a text and a figure should be it asks the
rules in `moot.protocols.arbiter` and the numbers beside this package.

* `reading`: files against their schemas.
* `planning`, `trials`, `parts`, `asking`, `embeddings`,
  `measures`, `certificate`, `ending`, `receipt`, `listing`: a part of a run each.
* `comparing`, `report`: where records differ, and what was found.
"""

from moot.arbiter.verify.report import CHECKS, Check, Finding, Report
from moot.arbiter.verify.verifier import verify_run

__all__ = ["CHECKS", "Check", "Finding", "Report", "verify_run"]
