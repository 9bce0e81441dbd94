"""Commands by which people act.

`acts` puts a draft into the inbox and tells what became of it, `authority` says who a person is.
"""
