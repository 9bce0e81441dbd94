"""The notebook: what the arena's seats consult, and where they put their reports. It speaks MCP.

What a seat holds:
    ``access``      access modes, and the toolbox that refuses what its holder may not do
    ``tools``       a notebook's tools, each with its access: answers are read-only, the studio writes
    ``client``      `Notebook`, and the client of whatever MCP server the configuration names
    ``reach``       how a server is reached: a command, an address, a folder
    ``connection``  one connection, with its limits of wall time
    ``transport``   the bytes beneath it
    ``answers``     a server's answers, checked

The bundled server, ``python -m moot.bots.notebook.server DIR``:
    ``folder``      a folder of notes, read within limits
    ``passages``    a note into passages
    ``index``       a query into the passages that answer it
    ``studio``      reports, written beside the notes
    ``server``      the process
"""
