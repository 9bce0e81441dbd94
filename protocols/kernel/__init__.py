"""The core that every protocol stands on; it knows none of them.

* `seats`, `times`, `message`, `envelope`: the vocabulary of a logged message and its canonical bytes.
* `catalogue`: channels and who may read and write what in them, as data.
* `obligation`, `case`: who owes which message, where, until when; the contract of a case type.
* `docket`: all open cases as a fold over the log; `duties`: what the officers owe because of it.
* `officers`: the messages of referee and timekeeper; `people`: the messages of admins and viewers.

Data flows one way: envelope -> docket -> cases -> obligations. Nothing here emits (K9).
"""
