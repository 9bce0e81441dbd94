"""`moot verify`: folds a log that anybody produced anew, trusting nothing in it, and checks every invariant.

* `verifier`: `verify`, one pass over the lines; it feeds the checks in turn.
* `report`: what comes out; `tally`: its figures.
* `reading`: from a line to an envelope, `exactness`: which says just the same; `ahead`: some lines at a time.
* `prefetch`: a second process that looks at lines by themselves ahead of this one, where there is a second processor.
* `secrecy`: no message holds a secret.
* `chain`: hashes and the file `head`; `anchored`: hashes that were kept elsewhere.
* `order`: seq, ids, time; `counting`: ids that the sequencer counts.
* `envelopes`: the fields around a message of a bot or a person; `officers`: those around an officer's.
* `lifecycle`: start, stop, clock, and who may write where; `deadlines`: what the officers owed and when.
* `principles`: what records and principles say of themselves.
* `evidence`: backtests computed again, `fills`: what the paper broker did, `marks`: what prices were, all by the
  `prices` that the log names. `hearsay`: opinions, which nobody computes again, counted by whose they are.
* `lawful`: the laws of `moot.laws`, read from the rules a second time.
* `audit`: what is reckoned a second way beside the fold: `desk` with `money` and `figures`, `runs` of the Arena by the
  conformance checker, decisions of `panels`.

The docket judges every message by the same tables that the society ran on; what it calls a violation must
have its VIOLATION beside it, what it asks of the officers must stand in the log, and an officer's message
that it did not ask for is a finding. So a rule that a log breaks shows, whether its hashes are there or not.
"""

from moot.verify.report import MAX_FINDINGS, Finding, Remark, Report
from moot.verify.verifier import verify

__all__ = ["MAX_FINDINGS", "Finding", "Remark", "Report", "verify"]
