"""The outbox: mirrors the log on one surface, in order per channel, once, at the platform's pace (K3, K24).

`outbox` is what does it, `store` its file (`owned_file`), `queue` what goes next, `pacing` and `buckets` how
fast, `mirroring` what a surface shows.
"""
