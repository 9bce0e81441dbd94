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
* `second_opinion`, `second_debate`, `second_escalation`: the most important rules of debates and escalations,
  judged again from the raw messages, without the docket.
* `second_desk`: the same for the desk, once VIOLATIONs are known (`second_told`): money (`second_money`) and the
  figures made of it (`second_figures`), trades and halts (`second_trades`), where strategies stand
  (`second_strategies`) and what decides it (`second_decisions`), days and alerts (`second_sessions`).
* `ended`: cases judged again when they end. `runs`: the audit record of every run of the Arena that ended, held to
  the protocol's 13 points; `second_arena`: how it ended, judged again from the texts of its reviews.
* `panels`: every review panel that ended; `second_panel`: lints, scores and decision, made again from the raw outputs.

The docket judges every message by the same tables that the society ran on; what it calls a violation must
have its VIOLATION beside it, what it asks of the officers must stand in the log, and an officer's message
that it did not ask for is a finding. So a rule that a log breaks shows, whether its hashes are there or not.
"""

from moot.verify.report import MAX_FINDINGS, Finding, Remark, Report
from moot.verify.verifier import verify

__all__ = ["MAX_FINDINGS", "Finding", "Remark", "Report", "verify"]
