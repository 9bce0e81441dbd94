"""Arbiter: what a model answers to one question, as a distribution over many trials.

A run draws for each trial a model, a persona and how it decides, asks, and watches whether answers still differ.
Here are the parts without files, sockets and clocks:

* `schemas/`: JSON Schemas of all that is configured and written; `generated`: the models, generated from them;
  `record`, `conditions`: what all models have in common.
* `policy`: what is odd about a run, and what a strict policy refuses.
* `prng`: the streams of draws, one for each trial and purpose.
* `plan`: what each trial is to ask, all of it drawn before the first call.
* `hashes`: SHA-256 over canonical JSON.
* `contract`, `extraction`, `parsing`: the form a decision is asked for in, and what is read from what a model wrote.
* `embed_text`: the part of it that is embedded.
* `usage`: what calls came to.
* `convergence`: what of the last batch stands for a run (`moot.arbiter` measures it); `distribution`: how answers
  spread over clusters.
* `stopping`: when a run stops.
* `certificate`: what can be said of its labels whenever it stops (`moot.arbiter.certifying` counts them).
* `mock`: what a mock run is answered.
"""
