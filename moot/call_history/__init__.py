"""Calls of models as people read them: what was asked, answered and paid, by a log and the bodies beside it.

* `listing`: every call that a log holds, and what they come to by seat, case and model.
* `story`: how one answer came about, with what was asked and answered word for word.
"""
