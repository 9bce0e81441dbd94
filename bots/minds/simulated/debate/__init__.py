"""Simulated seats of research: Explorer, Critic and Evolver.

What they read:
    ``transcript``  what the messages of a case say: strategy, assessment, rebuttal
    ``lessons``     what memory teaches: earlier trials, near misses, principles
    ``evidence``    what the desk teaches
    ``heed``        what people's notes ask for
    ``criteria``    the seven risk scores as words in and out of text

How they think:
    ``casefile``    the figures of one strategy on train and validation, never on the test
    ``points``      the Critic's point and the Explorer's answer for each score, and how well it holds
    ``judgement``   both arguments weighed, and the verdict that they ask for and the rules allow
    ``weighing``    scores against strictness: burden, rating, confidence, argument scores
    ``search``      which strategies to look at and which looks best
    ``repair``      changes to a strategy that answer an objection
    ``catalogue``   ideas for the system itself, from a file; ``needs``: what a week's records ask of it

What they say:
    ``explorer``, ``rebuttal``, ``critic``, ``evolver``, ``aftermath``: a micro-cycle
    ``reports``, ``weekly``, ``architecture``: what comes daily and weekly
    ``live``        feedback on live figures, and the lessons of recalls
    ``*.toml``      the sentences, as data
"""
