"""Opening what a user names as a log: a data directory, a file of JSON Lines, the standard input.

* `opening`: `open_log`, which tells them apart by what they hold.
* `source`: `LogSource`, lines in the order in which they stand, one at a time.
* `database`: `log.sqlite`, read while a society writes it or when none does.
* `jsonlines`: JSON Lines, plain or gzip, with a limit on the length of a line.
* `inmemory`: what a society in memory logged.
* `asking`: which channels and types there are to ask for.
* `errors`: what goes wrong, in one line.

Nothing here judges a log; `moot.verify` does.
"""

from moot.logs.errors import Damaged, LogError
from moot.logs.opening import open_log
from moot.logs.source import Line, LogSource

__all__ = ["Damaged", "Line", "LogError", "LogSource", "open_log"]
