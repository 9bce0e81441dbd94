"""The console on a port: who may come in, what programs ask, and the server itself."""
