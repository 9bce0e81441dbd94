"""How messages travel: buses, the guests' inbox, surfaces.

* `bus`: the interface and its promises; `inmemory`, `sqlite` implement it.
* `lease`, `inbox`: one host per data directory, guests beside it (K3).
* `surface`, `outbox`, `gateway`: chat platforms mirror the log; they run in a process of their own (K22).

A channel knows envelopes and the rules of admission; it knows no protocol, no bot and no store.
"""
