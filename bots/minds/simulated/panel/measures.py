"""What simulated reviewers measure: each measure's words, and the passages that it counts in a text. Data.

The words of a measure stand in a plan and are read back from it: none holds " and " or " or ", no two are alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple


class Measure(NamedTuple):
    """Something that can be measured in a text.

    Attributes:
        one: How it is called, in the singular.
        many: Its plural when it is counted; "" for a quantity, of which `one` is below or above a bound.
        unit: Of a quantity.
    """

    one: str
    many: str = ""
    unit: str = ""


MEASURES: Final[Mapping[str, Measure]] = {
    # Sections, each with something in it.
    "abstract": Measure("abstract section", "abstract sections"),
    "methods": Measure("methods section", "methods sections"),
    "results": Measure("results section", "results sections"),
    "limitations": Measure("limitations section", "limitations sections"),
    "conclusion": Measure("conclusion section", "conclusion sections"),
    "problem": Measure("problem section", "problem sections"),
    "unchanged": Measure("section on what stays unchanged", "sections on what stays unchanged"),
    "sections": Measure("section with text", "sections with text"),
    # Sources.
    "citations": Measure("cited work", "cited works"),
    "references": Measure("reference list entry", "reference list entries"),
    "unlisted": Measure(
        "citation missing from the reference list", "citations missing from the reference list"
    ),
    "uncited": Measure("reference that is cited nowhere", "references that are cited nowhere"),
    # Figures.
    "numbers": Measure("measured number", "measured numbers"),
    "bare_share": Measure("share of numbers without a unit", unit="%"),
    "samples": Measure("sample size", "sample sizes"),
    "p_values": Measure("p-value", "p-values"),
    "intervals": Measure("confidence interval", "confidence intervals"),
    "uncertainty": Measure("statement of uncertainty", "statements of uncertainty"),
    "exhibits": Measure("table", "tables plus figures"),
    "dates": Measure("calendar date", "calendar dates"),
    "unfounded": Measure("number only in the abstract", "numbers only in the abstract"),
    "sharpe": Measure("Sharpe ratio"),
    "drawdown": Measure("maximum drawdown", unit="%"),
    "trades": Measure("number of trades"),
    # Prose.
    "words": Measure("length of the text", unit="words"),
    "sentence_length": Measure("mean sentence length", unit="words"),
    "long_sentences": Measure("share of overlong sentences", unit="%"),
    "reading_ease": Measure("reading ease", unit="points"),
    "hedges": Measure("rate of hedging", unit="per 1000 words"),
    "claims": Measure("claim of certainty", "claims of certainty"),
    "unexplained": Measure("unexplained abbreviation", "unexplained abbreviations"),
    "duplicates": Measure("repeated paragraph", "repeated paragraphs"),
    "new_at_the_end": Measure("share of new terms in the conclusion", unit="%"),
    # Passages: sentences that say something, by `PASSAGES`.
    "comparison": Measure("sentence on a comparison", "sentences on a comparison"),
    "repeatable": Measure("sentence on how to repeat the work", "sentences on how to repeat the work"),
    "implications": Measure("sentence on what it means elsewhere", "sentences on what it means elsewhere"),
    "limits": Measure("sentence on where the result stops", "sentences on where the result stops"),
    "held_out": Measure("sentence on data held out", "sentences on data held out"),
    "traced": Measure("sentence that names a recorded run", "sentences that name a recorded run"),
    "no_hindsight": Measure("sentence on hindsight in prices", "sentences on hindsight in prices"),
    "costs": Measure("sentence with a figure of costs", "sentences with a figure of costs"),
    "spread_of_gains": Measure("sentence on concentration of gains", "sentences on concentration of gains"),
    "switch_off": Measure("sentence on switching off", "sentences on switching off"),
    "tail": Measure("sentence on the worst stretch", "sentences on the worst stretch"),
    "position": Measure("sentence with a limit of position size", "sentences with a limit of position size"),
    "paper_account": Measure(
        "sentence with a figure of the paper account", "sentences with figures of the paper account"
    ),
    "fills": Measure("sentence on fills", "sentences on fills"),
    "differences": Measure("sentence that explains a difference", "sentences that explain a difference"),
    "others": Measure("sentence on other strategies", "sentences on other strategies"),
    "correlation": Measure("sentence with a figure of correlation", "sentences with a figure of correlation"),
    "capacity": Measure("sentence on room for its size", "sentences on room for its size"),
    "parameters": Measure("sentence with a parameter", "sentences with a parameter"),
    "records": Measure("sentence that counts recorded cases", "sentences that count recorded cases"),
    "harm": Measure("sentence with a figure of the harm", "sentences with a figure of the harm"),
    "stays": Measure("sentence on what stays as it is", "sentences on what stays as it is"),
    "loosens": Measure("sentence that loosens a safeguard", "sentences that loosen a safeguard"),
    "threshold": Measure("sentence with a threshold", "sentences with a threshold"),
    "deadline": Measure("sentence with a deadline", "sentences with a deadline"),
    "undo": Measure("sentence on the way back", "sentences on the way back"),
    "undone_by": Measure("sentence on who undoes it", "sentences on who undoes it"),
    "undone_when": Measure("sentence on the sign for undoing", "sentences on the sign for undoing"),
    "steps": Measure("sentence on a step of the work", "sentences on a step of the work"),
}

_NUMBER: Final = r"\d"
_UNDO: Final = (
    r"\b(?:rolls?(?:ed)? back|roll-?back|undo(?:ne|es)?|undoing|reverts?(?:ed)?|way back|"
    r"switch(?:ed|es)? (?:it )?off|turn(?:ed|s)? (?:it )?off)\b"
)
_SEAT: Final = (
    r"\b(?:explorer|critic|evolver|guardian|trader|operator|planner|reviewer|owner|admin(?:istrator)?|"
    r"maintainer|on-call|engineer|team|librarian)s?\b"
)
_AMOUNT: Final = r"\d\s?(?:%|per cent|bps?|basis points?|usd|eur|\$|€|cents?)|[$€]\s?\d"

PASSAGES: Final[Mapping[str, tuple[re.Pattern[str], ...]]] = {
    name: tuple(re.compile(one) for one in patterns)
    for name, patterns in {
        "comparison": (
            r"\bcontrol(?:s|led)?\b|\bbaselines?\b|\bcompar(?:ed?|ison|ing)\b|\bplacebo\b|"
            r"\brandomi[sz]ed\b|\bversus\b|\bbenchmarks?\b|\bbefore and after\b",
        ),
        "repeatable": (
            r"\b(?:available|archived?|published|deposited|repository|pre-?registered|protocol|"
            r"random seeds?|source code|open data)\b",
        ),
        "implications": (
            r"\bimplications?\b|\bother (?:fields|disciplines|domains|settings|areas)\b|"
            r"\bneighbouring\b|\bin practice\b|\bpractitioners?\b|\bpolicy\b|\bplanners?\b|"
            r"\bpublic health\b|\bappl(?:y|ies|ication) (?:to|in|of)\b|\bbeyond (?:this|the) field\b|"
            r"\beconom|\bengineers?\b",
        ),
        "limits": (
            r"\blimit(?:ed|ation|ations|s)\b|\bgenerali[sz]|\bonly (?:one|two|a|in|for)\b|"
            r"\bdoes not (?:show|tell|apply|hold|cover)\b|\bdo not (?:show|tell|apply|hold|know|"
            r"cover)\b|\bcannot (?:say|tell|rule|show)\b|\bremains? (?:open|unknown)\b|\bcaveat\b",
        ),
        "held_out": (
            r"\bout[- ]of[- ]sample\b|\bheld[- ]out\b|\bhold-?out\b|\btest (?:split|set|period|"
            r"data)\b|\blast split\b|\bvalidation (?:split|set|period|data)\b|\bunseen\b",
        ),
        "traced": (
            r"\b(?:run|runs|log|commit|hash|trial|backtest|record|config(?:uration)?)\b",
            r"\b(?:id|ids|number|no\.|sha|hash|commit|seed|version)\b|\b[a-z]{1,12}[-_#]?\d{2,}\b|#\d",
        ),
        "no_hindsight": (
            r"\blook-?ahead\b|\bhindsight\b|\bbefore it was known\b|\bnext (?:open|bar|day|session)\b|"
            r"\bday after\b|\bknown at the time\b|\blagged\b",
        ),
        "costs": (r"\bcosts?\b|\bslippage\b|\bfees?\b|\bcommissions?\b|\bspreads?\b", _AMOUNT),
        "spread_of_gains": (
            r"\bconcentrat|\bhandful\b|\bbest (?:\w{1,8} )?(?:days?|trades?|months?|weeks?)\b|"
            r"\blargest (?:\w{1,8} )?(?:day|trade|symbol|winner)s?\b|\bper symbol\b|"
            r"\bsingle (?:symbol|day|trade)\b",
        ),
        "switch_off": (
            r"\bswitch(?:ed|es|ing)? (?:it |itself )?off\b|\bkill[- ]switch\b|\bstops? trading\b|"
            r"\bhalt(?:s|ed)?\b|\bis (?:stopped|paused|retired)\b|\bstand(?:s)? down\b",
        ),
        "tail": (
            r"\btail\b|\bworst\b|\bvalue at risk\b|\bexpected shortfall\b|\bstress(?:ed)?\b|"
            r"\bcrash(?:es)?\b|\bcrisis\b",
        ),
        "position": (
            r"\bpositions?\b|\bexposure\b|\bleverage\b|\bequity\b",
            r"\b(?:at most|no more than|limit(?:s|ed)?|cap(?:ped|s)?|maximum|never (?:above|over|"
            r"exceeds?))\b",
            _NUMBER,
        ),
        "paper_account": (
            r"\bpaper (?:account|trading|period|fills?|trades?|returns?|run)\b|\bon paper\b",
            _NUMBER,
        ),
        "fills": (r"\bfill(?:s|ed)?\b|\bslippage\b|\bturnover\b|\bexecut(?:ed|ion)\b",),
        "differences": (
            r"\bdiffer(?:s|ed|ence|ences)?\b|\bgap\b|\bdeviat|\bwider\b|\bworse than\b|"
            r"\bbetter than\b|\bhigher than\b|\blower than\b",
            r"\b(?:because|since|due to|comes? from|came from|explain(?:s|ed)?|caused|reason|owing)\b",
        ),
        "others": (
            r"\bother strateg|\bportfolio\b|\bdesk already\b|\bin production\b|\bbeside\b|\bcorrelat|"
            r"\bdiversif",
        ),
        "correlation": (r"\bcorrelat", _NUMBER),
        "capacity": (
            r"\bcapacity\b|\broom for\b|\bdaily volume\b|\bliquidity\b|\baverage volume\b|"
            r"\bcapital (?:of|up to)\b",
        ),
        "parameters": (
            r"\bparameters?\b|\bwindow\b|\blook-?back\b|\bthreshold\b|\bentr(?:y|ies)\b|\benters?\b|"
            r"\bexits?\b|\bbuys?\b|\bsells?\b",
            _NUMBER,
        ),
        "records": (
            r"\b(?:cases?|records?|logs?|incidents?|cycles?|debates?|entries|messages|weeks?|trials?|"
            r"escalations?)\b",
            r"\d\s?%|\d{1,9}(?: \w{1,12}){0,3} (?:of|out of|in) |"
            r"\b\d{1,9} (?:\w{1,12} ){0,2}(?:cases?|times|records?|incidents?|cycles?|debates?|"
            r"messages|trials?|escalations?)\b",
        ),
        "harm": (
            r"\b(?:cost|costs|lost|loses?|wastes?|wasted|delay(?:s|ed)?|late|wait(?:s|ed|ing)?|missed|"
            r"fail(?:s|ed|ures?)?|dropped|expired?|longer|slower)\b",
            _NUMBER,
        ),
        "stays": (
            r"\bstays?\b|\bunchanged\b|\b(?:do|does|must|will|shall|is|are) not (?:be )?(?:change|"
            r"touch|alter|move|affect)|\bkeeps?\b|\bremains? as\b",
        ),
        "loosens": (
            r"\b(?:without|skips?|bypass(?:es)?|no longer (?:needs?|requires?|asks?)|removes?|"
            r"disables?|loosens?|lifts?|drops?|raises?)\b(?: \w{1,14}){0,4} (?:approvals?|"
            r"confirmations?|limits?|checks?|guardian|vetoe?s?|safeguards?|audits?)\b",
        ),
        "threshold": (
            r"\b(?:at least|at most|below|above|under|over|less than|more than|fewer than|"
            r"no more than|falls? to|rises? to|exceeds?|reaches)\b(?: \w{1,12}){0,3} \d|[<>≤≥]\s?\d",
        ),
        "deadline": (
            r"\b(?:by|until|before|on|after|within|for)\b(?: \w{1,10}){0,3} (?:\d{4}-\d\d-\d\d|"
            r"\d{1,3} (?:days?|weeks?|cycles?|hours?|months?|january|february|march|april|may|june|"
            r"july|august|september|october|november|december)|(?:one|two|three|four|six) (?:days?|"
            r"weeks?|cycles?|months?))\b",
        ),
        "undo": (_UNDO,),
        "undone_by": (_UNDO, _SEAT),
        "undone_when": (_UNDO, r"\b(?:if|when|as soon as|once|should|whenever)\b"),
        "steps": (
            r"\b(?:first|second|third|then|next|finally|step|adds?|moves?|writes?|replaces?|changes?|"
            r"reads?|modules?|tables?|fields?|tests?)\b",
        ),
    }.items()
}
"""A passage is a sentence, in small letters, in which each pattern is found, the first not right after a negation."""

STANDS_NEGATED: Final = frozenset({"limits", "stays", "no_hindsight", "switch_off"})
"""Passages in which a negation is part of what is said."""
