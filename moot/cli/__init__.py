"""The command line: one group of commands a module, all of them thin.

* `app`: the program, its exit codes (K24), and `command`, which every command is declared with.
* `helping`: how help is laid out; `output`: how anything is printed; `errors`: what a user is told.
* `place`: from what a user names to a data directory; `reading`: its log, folded as far as asked.
* `acts`: from what a person does to a draft in the inbox, and what became of it; `authority`: who may.
* the rest: `up`, `simulate`, `scene`; `log`, `case`, `standing`, `escalations`; `verify`, `keep`; `people`,
  `answer`, `clock`; `config`, `doctor`.

Every module imports what is heavy inside its commands, so that `moot --help` is quick.
"""
