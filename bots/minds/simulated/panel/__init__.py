"""Simulated reviewers and synthesizer of panels, and what seats put before a panel.

What is reviewed:
    ``convening``   puts work before a panel: ``dossier`` of a strategy, ``change_work`` of a change

Who reviews:
    ``writer``      fills their seats with what ``reviewer`` writes
    ``plan``        phase 1 commits, from contract, title, field and length alone, in the words of ``clauses``
    ``review``      phase 2 reads and holds to it
    ``paper``       every figure of ``measures``, by ``layout``, ``addressed``, ``citations``, ``figures``, ``prose``
    ``standards``   from where on a measure triggers a reviewer; both read TOML files
    ``reviewer.toml``  the sentences, as data
"""
