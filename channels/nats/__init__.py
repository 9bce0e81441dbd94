"""A society's log on NATS JetStream, for more than one host: the address, the connection, the stream.

The client library comes with `pip install 'moot[nats]'`; nothing outside this package imports it.
"""
