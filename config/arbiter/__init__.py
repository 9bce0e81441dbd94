"""What Arbiter is configured with: Moot's prompts, contracts and models, a folder of a user's own, the file of a run.

* `reading`: a file as a record; every fault in it is a line.
* `bank`: prompts, decision contracts and the catalog of models, each text with its SHA-256.
* `configuring`: the file of a run, and everything it leaves open filled in.
* `judging`: who holds answers against a contract.
* `templates`: files to start from.
"""
