"""Simulated minds: seeded bots that argue from what the prices show; the default filling of all seats.

The interface and the set-up:
    ``mind``        ``SimulatedMind``: one per seat, dispatches by what an obligation expects
    ``tools``       ``SimulatedTools``: prices as of an instant, the market within a day, evidence, the seed; shared
    ``temper``      every constant of behaviour in one dataclass, for tuning by data
    ``delays``      how long an answer takes (R-D19)

What a seat has before it:
    ``turn``        one obligation with all that its answer needs, computed when asked for
    ``transcript``  what the messages of a case say: strategy, assessment, rebuttal
    ``lessons``     what memory teaches: earlier trials, near misses, principles
    ``heed``        what people's notes ask for
    ``criteria``    the seven risk scores as words in and out of text

How it thinks (no dice in here; the draw comes from the seed, the decision from figures):
    ``casefile``    the figures of one strategy on train and validation, never on the test
    ``points``      the Critic's point and the Explorer's answer for each score, and how well it holds
    ``judgement``   both arguments weighed, and the verdict that they ask for and the rules allow
    ``weighing``    scores against strictness: burden, rating, confidence, argument scores
    ``search``      which strategies to look at and which looks best
    ``repair``      changes to a strategy that answer an objection

What each seat says:
    ``explorer``, ``rebuttal``, ``critic``, ``evolver``, ``aftermath``: a micro-cycle
    ``reports``, ``weekly``, ``architecture``: what comes daily and weekly
    ``guardian``, ``trader``, ``operator``, ``operator_strategies``, ``live``: the desk and the bridge to it;
    ``deskfile``    what they read of a brief; ``evidence``: what the Explorer learns from the desk
    ``arena``       Planner, Reviewer and Finalizer, by ``arena_criteria``
    ``panel_writer``  the panel's reviewers and synthesizer: ``panel_plan`` commits, ``panel_review`` reads and holds to
                    it, by the figures of ``panel_standards`` that ``panel_paper`` and its like measure
    ``convening``   what is put before a panel: ``dossier`` of a strategy, ``change_work`` of a change
    ``catalogue``   ideas for the system itself, as data; ``needs``: what a week's records ask of it
    ``wording``     how sentences are chosen; ``phrases_*`` hold them, as data

Data flows from the blocks above into those below. Nothing here keeps state between two answers besides caches
keyed by content: the same view and seed give the same bytes in any process.
"""
