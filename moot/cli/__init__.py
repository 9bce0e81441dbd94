"""The command line: one room a group of commands, all of them thin.

* `app`: the program, its exit codes (K24), and `command`, which every command is declared with; `commands`
  imports them all.
* `helping`: how help is laid out; `output`, `fitting`: how anything is printed; `numbers`: what may be typed;
  `errors`, `known`: what a user is told.
* `place`: from what a user names to a log; `reading`: its lines, its envelopes, its fold; `standing`: a
  society as it stands after some message.
* the rooms, as help groups them: `run`, `look`, `act`, `keep`, `setup`, and those of the groups `arena` and `panel`.

Every module imports what is heavy inside its commands, so that `moot --help` is quick.
"""
