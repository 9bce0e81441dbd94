"""The command line: one group of commands a module, all of them thin.

* `app`: the program, its exit codes (K24), and `command`, which every command is declared with; `commands`
  imports them all.
* `helping`: how help is laid out; `output`: how anything is printed; `errors`, `known`: what a user is told.
* `place`: from what a user names to a log; `reading`: its lines, its envelopes, its fold; `standing`: a
  society as it stands after some message.
* `authority`: who a person is; `acts`: from what a person does to a draft in the inbox, and what became of it.
* the groups `arena` (`arena_input`, `arena_out`, `arena_show`, `arena_matrix`, `arena_society`) and `panel`
  (`panel_input`).
* the commands: `up`, `simulate`, `scene`; `status` (with obligations and replay), `log`, `case`,
  `escalations`; `people`, `answer`, `clock`; `verify`, `anchor`, `keep` (rebuild, export, backup); `config` (with
  schema), `doctor` and its `ailments`.

Every module imports what is heavy inside its commands, so that `moot --help` is quick.
"""
