"""The read model: all that pages, API and stream know of a society, now or at a past moment."""
