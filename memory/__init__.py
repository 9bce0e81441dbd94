"""What the society remembers: a fold of the log, as of any moment of it.

* `records`: what one record of each of the seven shelves holds; `shelves`: the shelves, and their bytes.
* `fold`: which messages write what, as a table; `rights`: which system may write which shelf.
* `tables`: versions of records by seq; `view`: what a mind reads, as of the seq that woke it (K13).
* `store`: the interface, rebuilding, the digest; `inmemory` and `sqlite` implement it.
* `evidence`: equity curves and other bulk that messages name by reference.
* `bodies`: what models were asked and what they answered; `bodies_file`: the same on disk.

Data flows one way: envelope -> fold -> tables -> view. Nobody writes memory but by a message in the log, so
every store can be deleted and rebuilt from it; evidence and bodies cannot. The dispatcher applies, minds read,
nobody else comes here.
"""
