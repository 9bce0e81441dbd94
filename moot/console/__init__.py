"""The console: people watch the society on a web page, answer it and act in it (K22).

* `model`: the read model, all that pages, API and stream know; `model_live` follows the log, `model_past`
  stands at a past moment.
* `watching`: one society as it is watched; it owns every file, thread and task that models look through.
* `index`, `indexing`: the console's own side file, which finds channels, cases and texts; `readers`, `windows`:
  stretches of the log by way of it; `folding`, `stories`, `cases`: the docket, and what folding tells of cases.
* `hub`: what is new, for any number of pages; `pace`: how society time goes on; `acts`: what people do, kept
  until the log has it.
* `access`, `guard`: who may come in; `api`, `stream`, `metrics`: for programs; `server`: all of it on a port;
  `keeping`: served beside the surfaces of a gateway.
* `page`: what people see.

Data flows from the log through the model to the pages; acts flow back as drafts of a guest (K3).
"""
