"""Calls of language models over the OpenAI-compatible API: one layer of retries, typed answers, money.

`ModelClient` makes a call and says how it ended; it never raises for what a provider did. What decides (when to try
again, how many at once, what a reply means, what it costs) does no I/O. Keys are in no text, error or `repr` made here.
"""
