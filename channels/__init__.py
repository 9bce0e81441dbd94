"""How messages travel: the log and its buses, guests of other processes, surfaces.

* `bus`: the interface and its promises; `errors` are what buses and surfaces raise. `log` implements it, in memory and
  on disk.
* `guests`: one host per data directory, everybody else beside it (K3). `gateway`: the socket on which they hear it.
* `surface`: the interface of what mirrors the log for people; `inbound` is what people do there. `outbox` posts, in a
  process of its own (K22); `showing` puts messages into words and pictures.
* `terminal`, `discord` and `slack` are surfaces; `chat` is what the chat platforms share.

A channel knows envelopes and the rules of admission; it knows no protocol, no bot and no store.
"""
