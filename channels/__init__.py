"""How messages travel: buses, the guests' inbox, surfaces.

* `bus`: the interface and its promises; `inmemory`, `sqlite` implement it, `errors` are what they raise.
* `sequencer` turns drafts into sealed entries, `feed` is the end of the log that subscribers read.
* On disk: `writer` commits in groups (`pending`, `batching`, `logtable`), `logfile` is the file and its checks,
  `logpages` reads it, `headfile` notes its end, `logwriter` writes it behind a bus in memory.
* `lease`, `inbox`, `pump`, `draft_codec`: one host per data directory, guests beside it (K3).
* `surface`, `outbox`, `gateway`: chat platforms mirror the log; they run in a process of their own (K22).
  `outbox_store` is the outbox's file, `outbox_queue` what goes next, `pacing` and `buckets` how fast.
* These serve every platform: `tokens`, its secrets; `seen`, what was heard already; `looking_back`, whether a post
  stands there; `ending`, what ends a surface; `reasons` and `library_lines`, what failed and what its library says.

Data flows draft -> sequencer -> writer -> disk -> `on_append` -> feed -> subscribers and publisher.

A channel knows envelopes and the rules of admission; it knows no protocol, no bot and no store.
"""
