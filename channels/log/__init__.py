"""The log in memory and on disk, and who may write it.

* `sequencer` turns drafts into sealed entries; `inmemory` and `sqlite` are the buses (`filed`: what those with a file
  share); `feed` is the end of the log that subscribers read, `lines` what guests read of it.
* On disk: `writer` commits in groups (`pending`, `batching`) to a `table` (`sqlite_table`), `file` is the file and its
  checks, `reader` reads rows, `pages` makes checked envelopes of them, `head` notes the log's end, `write_behind`
  writes it behind a bus in memory. `lease`: one host per data directory (K3).

Data flows draft -> sequencer -> writer -> disk -> `on_append` -> feed -> subscribers and publisher.
"""
