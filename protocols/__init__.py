"""What may be said in Moot: by whom, where, in which order, until when.

Everything here is sans-IO: pure functions and data. No module imports asyncio, a clock, randomness,
files, sockets or logging; time enters only as the `sent_at` of messages.

`kernel` knows envelopes, seats, channels, obligations and cases, and no protocol. Each specification has
a folder of its own, its messages beside its rules. `rulebook` puts them together: one union of all
messages, one permission matrix, one table of openers.
"""
