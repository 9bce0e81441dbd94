"""`moot arena`.

`runs` and `society` hold runs, `input` reads what they are given, `out`, `show` and `matrix` print what they leave.
"""
