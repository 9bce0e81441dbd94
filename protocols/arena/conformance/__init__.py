"""The independent conformance checker of Arena Protocol v2: section 12, judged from an audit record alone.

It shares no rule with the code that runs the protocol. It has its own table of transitions, reads each verdict anew
from the text of the review, and trusts nothing that the record says of itself. The record may be anybody's: only what
the specification and the form of the record demand is demanded. What Moot tells beyond that (its invocations, its
references with digests, its coded reasons) is not demanded, but where it stands it has to agree with the rest.

`checker` is the way in. `reading` turns JSON of any shape into typed sections, `walk` puts each event into its state
and round, the modules beside them hold the checks, `shoulds` the SHOULDs, `report` the result.
"""
