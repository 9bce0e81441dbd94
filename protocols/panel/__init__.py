"""Sprint-contract review panels: the standard first, then the work (spec sprint-contract-protocol).

What lives here, from the bottom up:

* `contract` (with `contract_fields`): what a contract is; `contract_schema`: the same as JSON Schema;
  `contract_warnings`: what is odd in one.
* `expression`: the closed grammar of a condition.
* `synthesis`: from scores to a decision; `recompute`: the same by other code, before the decision counts.
* `grammar`, `pinned`, `reports`, `synthesis_text`: how reviewers and synthesizer write.
* `lint_phase1`, `lint_phase2` (with `triggers`, `findings`): whether a reviewer kept to both phases.
* `seating`, `layer1`, `verify`: whether a whole panel holds; `audit`: the tags of its log; `render`: how it is shown.

Values in, values out: reading files is left to `moot.config.contracts` and the command line.
"""
