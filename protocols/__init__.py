"""What may be said in Moot: by whom, where, in which order, until when.

Everything here is sans-IO: pure functions and data. No module imports asyncio, a clock, randomness,
files, sockets or logging; time enters only as the `sent_at` of messages.

`kernel` knows envelopes, seats, channels, obligations and cases, and no protocol. Each specification has
a folder of its own, its messages beside its rules, and exports one object, `protocol.PROTOCOL`. `rulebook` is a list
of them and what follows: one union of all messages, one permission matrix, one table of openers. Protocols of others
are added to that list (`docs/how-to/write-a-protocol.md`). `arbiter` is no protocol of a society: it holds the rules by
which a model's answers are sampled and measured.
"""
