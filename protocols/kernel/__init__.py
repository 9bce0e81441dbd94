"""The core that every protocol stands on; it knows none of them.

* `seats`, `times`, `message`, `envelope`: the vocabulary of a logged message and its canonical bytes.
* `redact`: what looks like a secret, found with one quick look by `scanning`; `discretion`: messages without any.
* `catalogue`: channels and who may read and write what in them, as data.
* `obligation`, `case`: who owes which message, where, until when; what every case has in common.
* `steps`, `machine`: a kind of case as a table of steps, and how it moves; `figures`: what an answer is held to;
  `protocol`: all that one protocol brings.
* `docket`: all open cases as a fold over the log; `effects`: what one message changed; `deadlines`: when what
  is open falls due; `closed`: what was closed lately.
* `duties`: what the officers owe because of the docket; `supervision`: whether they said it so.
* `context`: what holds for the whole society, and the folds that rules may read; `tenure` and `stop` are two.
* `rules`: kinds of case, rights and folds put together, and the gate that drafts pass.
* `officers`: the messages of referee and timekeeper; `people`: the messages of admins and viewers.

Data flows one way: envelope -> docket -> cases -> obligations -> duties. Nothing here emits (K9).
"""
