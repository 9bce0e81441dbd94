"""The console's page: what a browser shows of a society, and what people do on it.

* `web/` is what runs in the browser: one Vue component with its parts, without a build step. It shows what it is
  given as text, never as HTML or Markdown.
* `mount` puts the page on an application, `element` on a NiceGUI page; `session` is one open page: `questions`
  answers what it asks, and it is told what happens, both through the read model (`moot.console.model.interface`) alone.
* `places` is what stands at each address. `cards` turns messages into what a page shows of them; `views` does so
  for the frame, `cases` (`case_runs`, `case_panels`), `seats`, `shelves` and `figures` for the rest.

Nothing here opens a file or a socket of the society.
"""
