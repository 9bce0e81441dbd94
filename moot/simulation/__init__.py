"""The society offline: in memory, in virtual time, deterministically.

* `scene`: a scripted scene file, loaded and run; `injection`: its posts that nobody owes.
* `simulate`: days of a whole society; `summary`: what happened in them.
"""
