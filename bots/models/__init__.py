"""Calls of language models: one layer of retries, typed answers, usage, prices.

`ModelClient` makes a call and says how it ended; it never raises for what a provider did. An `Endpoint` speaks one API,
OpenAI's or Anthropic's, and does no I/O; neither does what else decides: when to try again, how many at once, what a
reply means. `Exchange` sends. Keys are in no text, error or `repr` made here.
"""
