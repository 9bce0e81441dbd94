"""The gateway: a process of its own for chat platforms and pages, a guest of the society (K3, K22).

* `protocol`: the frames on the local socket; `address`: where that socket is.
* `server`, `guest`: run in the society's process, on its I/O thread; `bridge` feeds them from its bus.
* `client`: the guest's end: the log as a stream, requests, both across restarts of the society.
* `intake`: what people do, kept until the log has it; `process`: all surfaces, supervised.

Outwards: bus, bridge, server, socket, client, outbox, surface.
Inwards: surface, intake, client, socket, server, the host's `publish`.
"""
