"""The console: people watch the society on a web page, answer it and act in it (K22).

* `model`: the read model, all that pages, API and stream know: its `interface`, and what all of it share (`looking`);
  `live` follows the log, `past` stands at a past moment.
* `watching`: one society as it is watched; it owns every file, thread and task that models look through.
* `reading`: the console's own side file, which finds channels, cases and texts (`index`, `indexing`); stretches of the
  log by way of it (`readers`, `windows`); the docket, and what folding tells of cases (`folding`, `stories`, `cases`).
* `hub`: what is new, for any number of pages; `pace`: how society time goes on; `acts`: what people do, kept
  until the log has it.
* `serving`: who may come in (`access`, `guard`), what is read of them and answered (`bodies`, `answers`); for programs
  (`api`, `stream`, `metrics`); all of it on a port (`server`), also beside the surfaces of a gateway (`keeping`).
* `page`: what people see.

Data flows from the log through the model to the pages; acts flow back as drafts of a guest (K3).
"""
