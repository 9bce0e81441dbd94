"""Guests of a society in other processes (K3): what they send, and the threads that take it in.

`drafts` is how a draft is written as JSON, `inbox` the table beside the log in which it waits, `pump` takes it out.
"""
