"""Why something came about: what the tables of its protocol and the log say of one id, as one page.

Nothing is judged here a second time. Limits, decision tables and rows are those by which the docket judged
(`moot.protocols.kernel.grounds`, `moot.protocols.kernel.machine`), which message broke a rule is what the referee said
of it, and the log need not be folded for it.
"""
