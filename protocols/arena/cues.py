"""What a sentence of a day's work holds beside its topic, and what keeps a sentence, as regexes (R-A9, spec 10.3).

Every repetition is bounded, so that a sentence of any length takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

LONG: Final = 130
"""Characters from which on a sentence is long."""

Cue = Callable[[str], bool]


def _cue(pattern: str) -> Cue:
    """Make the question whether a pattern is found in a sentence; a blank stands for one to three."""
    exact = pattern.replace(" ?", r"\s{0,3}").replace(" ", r"\s{1,3}")
    return lambda sentence: _compiled(exact).search(sentence) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a regex when it is first looked for: all of them together take longer than many a command."""
    return re.compile(pattern, re.ASCII)


_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:mon|tue|wed|thu|fri|sat)\b"
_MONTH: Final = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"

INSTANT: Final = _cue(
    r"\b(?:yesterday|today|tonight|overnight|tomorrow|last (?:night|week|month|"
    + _WEEKDAY
    + r")|currently|this (?:morning|afternoon|evening|week|month|"
    + _WEEKDAY
    + r")|(?:this|next|last|for the|over the|on the) weekend|next (?:week|month|sprint|quarter|"
    + _WEEKDAY
    + r")|right now|at the moment|again|still|already|just|all (?:day|night|morning|afternoon|week"
    r"|weekend)|twice|so far|an hour ago|\d{1,3} (?:minutes?|hours?|days?|weeks?|min|h) (?:ago|now"
    r"|late)|since (?:noon|midnight|lunch|last|yesterday|\d)|before lunch|in (?:one|two|three|four"
    r"|five|six|ten) (?:days|weeks)|yet|after lunch|(?:after|before|at|in|until) stand-?up|(?:for|in"
    r"|over) the (?:last|past) (?:\d{1,3} )?(?:minute|hour|day|night|week)s?|by (?:end of|eod|noon"
    r"|tonight)|eod|asap|since (?:"
    + _WEEKDAY
    + r"|"
    + _MONTH
    + r")|(?:"
    + _WEEKDAY
    + r")(?:'s)?|(?:by|in|for|until) q[1-4]|q[1-4] (?:is|was)|since the|to the next"
    r"|between \d{1,2} and \d{1,2} ?(?:am|pm)|(?:one|two|three|four|five|six|ten|\d{1,3}) (?:minutes"
    r"|hours|days|weeks) (?:after|before) the|a few (?:minutes|hours|days)|(?:after"
    r"|since) the (?:restart|reboot|upgrade|deploy|release|fix|patch|move)|(?:in|by|until|end of"
    r"|early|late|for) (?:"
    + _MONTH
    + r")|(?:on|by|until) the \d{1,2}(?:st|nd|rd|th)|(?:at|since|until|from|around) \d{1,2}(?::\d{2}"
    r"|(?:am|pm))|\d{1,2} (?:am|pm)|(?:on|by|until) \d{1,2} (?:"
    + _MONTH
    + r")|\d{1,2}:\d{2}|20\d{2}-\d{2}-\d{2})\b"
)
TODAY: Final = _cue(
    r"\b(?:yesterday|today|tonight|overnight|tomorrow|last night|this (?:morning|afternoon|evening"
    r"|week)|right now|again|ago|at the moment|so far|since (?:noon|midnight|lunch|last|" + _WEEKDAY + r"))\b"
)
REQUEST: Final = _cue(
    r"^\W{0,8}(?:(?:could|can) the|find|paged|reminder|swap|remove|write up|reimburse|buy|film"
    r"|two more|backport|cut the|settle|nobody|who (?:approves|signs|pays|orders|owns)|countersign"
    r"|call|update|move|escalate|revert|clean up|design (?:a|two|three|new)|make the|todo|fyi"
    r"|heads.up|urgent|note to|need|ask|tell|ping|chase|book|order|send|approve|pay|forward|renew"
    r"|cancel|submit|sign|file|merge|ship|deploy|rerun|restart|reboot|brainstorm|shoot|post|publish"
    r"|proofread|pick|upload|print|resize|crop|draft|someone|somebody|anyone|who(?:'s| is| has| can"
    r"| will| takes| covers| owns)|can (?:you|someone|somebody|anyone|we)|could (?:you|someone"
    r"|somebody|anyone|we)|waiting|don't|dont|remember|check|follow up|mock up|get|hand)\b"
    r"|\b(?:please|pls|reminder|don't forget|needs?(?! to)|nobody|try|sounds|is off|is away|is with"
    r"|, buy|wants|limit in|we need|asks? (?:for|us|whether|if)|asked (?:for|us|whether|if)|wants?"
    r"|can (?:you|someone|somebody|anyone)|let's|lets|i'll|we'll|i'm|we're|i|my|your|ideas? for"
    r"|feedback on|thoughts on|waiting (?:for|on)|still waits? (?:for|on)|is out sick|takes? over"
    r"|took over)\b"
)
THING: Final = _cue(
    r"\b(?!cpi|gdp|ism|isin|rfc|ev|iso|art|sec|fig|eq|k|r|c|m|hyp|strat|step|phase|round|section"
    r"|part|table|utf|sha)[a-z]{2,8}-\d{1,6}\b|#\d{2,6}\b|\bv?\d{1,4}\.\d{1,4}\.\d{1,4}\b"
    r"|\bv\d{1,4}(?:\.\d{1,4})?\b|\b(?:node|host|server|shard|replica|rack|worker|pod|ticket|pr"
    r"|sprint|region) #?\d|\b[a-z]{2,8}\d{1,2}\b(?<!p50)(?<!p90)(?<!p95)(?<!p99)(?<!k8s)(?<!ec2)"
    r"|\b(?:us|eu|ap)-[a-z]{3,9}-\d|\bport \d{2,5}\b|/(?:var|dev|etc|opt|mnt|tmp|home|data)\b"
)
TOLD: Final = _cue(
    r"\b(?:(?<!that\s)(?<!which\s)(?:was|were)|we [a-z]{3,12}ed|had|went|got|did|stopped|says|said"
    r"|says|has been|have been|is being|are being|came|ran|broke|sent|lost|began|took|made|hasn't"
    r"|haven't|isn't|aren't|didn't|doesn't|won't|(?:has|have) (?:not |just |now )?[a-z]{2,14}(?:ed"
    r"|en|wn)|shows|reports)\b"
)
HOUSE: Final = _cue(
    r"\b(?:slack|github|gitlab|aws|gcp|azure|zoom|figma|jira|notion|datadog|openai|anthropic|dropbox"
    r"|adobe|canva|google workspace|office 365|hubspot|mailchimp|salesforce|docusign|linear"
    r"|confluence|vercel|netlify|heroku|cloudflare|pagerduty|grafana|kibana|sentry|snowflake|stripe"
    r"|accounting|finance|procurement|bookkeeping|payroll|hr|legal|devops|sre|ops|infra"
    r"|platform team|design team|marketing team|the (?:designer|agency|landlord|vendor|supplier"
    r"|provider|accountant|team|printer|intern|photographer|office)|our)\b"
)
_COUNT: Final = r"\b(?:\d{1,4}|one|two|three|four|five|six|ten|a dozen|some|several|few) (?:\w{2,12} )?"
MEASURES: Final = _cue(
    r"down to (?:\d|one|two|three)|\d ?(?:%|percent\b|ms\b|s\b|sec(?:onds)?\b|[kmgt]i?b\b|[mg]bps\b"
    r"|rps\b|qps\b|iops\b|minutes\b|messages\b|(?:[a-z]{2,12} )?(?:timeouts|exceptions|alerts|alarms"
    r"|crashes|failures|warnings|connections|threads|nodes|pods|servers)\b|errors\b|requests\b"
    r"|restarts\b|retries\b|jobs\b)|\b[45]\d\ds?\b|\bto \d"
)

VERSIONS: Final = _cue(
    _COUNT + r"(?:deploys|tickets|prs|incidents|builds|fixes|patches|bugs|rollbacks|reverts|outages|pages)\b"
    r"|\b\d{1,3}\.\d{1,3}\b(?! ?%)"
)
MONEY: Final = _cue(
    _COUNT + r"(?:seats|licen[cs]es|invoices|receipts|bills|payslips|subscriptions)\b|[$\u20ac]\s?\d"
    r"|\d ?(?:eur|usd|gbp|chf|euros?|dollars|pounds|francs|k)\b|\b(?:eur|usd|gbp|chf) ?\d"
)
PIECES: Final = _cue(
    _COUNT + r"(?:taglines|slogans|banners|ideas|captions|versions|variants|images|photos|videos|posts"
    r"|headlines|hashtags|words|stickers|flyers|posters|mock-?ups|clips|reels|slides|names|likes"
    r"|followers)\b|\d ?(?:eur|usd|dollars)\b"
)
MARKETS: Final = _cue(
    r"\b(?:strat(?:egy|egies|_\d\w*)|backtest\w*|hypothes[ie]s|sharpe|signals?|prices?|bonds?"
    r"|stocks?|shares?|inflation|earnings|returns|volatility|factors?|indices|traders?"
    r"|trad(?:e(?! (?:fair|show))|es|ed|ing)|portfolio|drawdown\w*|positions?|equit\w+|markets?|cpi"
    r"|gdp|fomc|fed|yields?|spreads?|futures|options?|hedg\w+|liquidity|fills?|slippage|momentum"
    r"|alpha|beta|risk|analysts?|etfs?|currenc\w+|swaps?|carry|bp|bps|basis points?"
    r"|quarterly results|sector|sectors|investors?|train split|test split|splits?|sample|dataset"
    r"|datasets|data set|papers?|study|studies|survey|literature|regression|model|correlat\w+"
    r"|predict\w*|forecast\w*|consensus|rebalanc\w+|entry|exit|stop-loss|long|short|bars?|open|close"
    r"|gaps?|evidence|claims?|critic|reviewer|planner|verdict|exchange|opex|capex|revenues?|sales"
    r"|companies|firms|retail\w*)\b"
)
STRICTLY_MARKETS: Final = _cue(
    r"\b(?:nonfarm|payrolls|opec|crude|oil|gold|copper|wheat|dollar|losses|gains|returns|sharpe"
    r"|spread|turnover|inventories|bank stocks|strat(?:egy|egies|_\d\w*)|backtest\w*|hypothes[ie]s"
    r"|sharpe|signals?|prices?|bonds?|stocks?|inflation|earnings|volatility|factors?|traders?"
    r"|trad(?:e(?! (?:fair|show))|es|ed|ing)|portfolio|drawdown\w*|positions?|equit\w+|markets|cpi"
    r"|gdp|fomc|yields?|futures|hedg\w+|liquidity|slippage|momentum|alpha|analysts?|etfs?"
    r"|basis points?|investors?|regression of|correlat\w+|forecast\w*|rebalanc\w+|exchange|fills"
    r"|bars|sharpe|critic|reviewer|planner|verdict)\b"
)
WISH: Final = _cue(
    r"\b(?:must|shall|should|ought|(?<!of\s)(?<!in\s)(?<!by\s)(?<!early\s)(?<!late\s)(?<!until\s)may"
    r"|might|would|can(?! (?:you|someone|somebody|anyone|we)\b)|cannot|never|always|is to|are to"
    r"|has to|have to|target|goal|objective|requirement|non-goal|scope|slo|sla|criterion|criteria"
    r"|assum\w+|below \d+|under \d+|within \d+|at most|at least|less than|fewer than|more than|up to"
    r"|no more than)\b"
)
PLAN: Final = _cue(
    r"\b(?:the|this|our|a|each) (?:plan|design|draft|proposal|spec|specification|architecture"
    r"|solution|approach|system|feature|module|component|document|schema|interface|prototype|section"
    r"|step|milestone|test|tests|thesis)\b(?! (?:expires|renews|is up|was (?:upgraded|cancelled)))"
    r"|\bwe (?:propose|compare|assume|measure|evaluate|test|define|model|estimate|choose|suggest"
    r"|expect|use|treat|store)\b"
)
GENERAL: Final = _cue(
    r"\b(?:each(?!\W{0,3}$)|every|any|whenever|when|if|unless|per(?! (?:reel|post|video|piece|seat"
    r"|head))|users?|customers?(?! (?:testimonial|quote|are being))|shoppers?|buyers?|merchants?"
    r"|subscribers?|tenants?|clients?|open questions?|readers?|admins?|administrators?|operators?"
    r"|whose|nights|weekends|mornings|marketers|which|how|whether|why|compare[ds]?|versus|vs|(?:mon"
    r"|tues|wednes|thurs|fri|satur|sun)days|once (?:it|they|a|an|the)|at a time|of the (?:day|week"
    r"|month|year)|first day|for example|e\.g|an? (?:second|minute|hour|day|week|month|year|quarter)"
    r"|\d{1,4} (?:seconds|minutes|hours|days|weeks|months) (?:after|before|later|at most|or (?:more"
    r"|less))|after \d{1,4} (?:seconds|minutes|hours|days|weeks|months)|enough|only|no longer"
    r"|automatically)\b"
)
DESIGN: Final = _cue(
    r"^\W{0,8}(?:\d{1,2}[.)] )?(?:add|allow|assume|avoid|build|choose|collect|compare|consider|cover"
    r"|create|decide|define|describe|design|develop|document|ensure|estimate|evaluate|explain|export"
    r"|expose|guarantee|handle|implement|include|introduce|keep|limit|list|make|measure|model"
    r"|outline|plan|propose|provide|raise|reduce|replace|specify|store|suggest|support|treat|use"
    r"|write(?! up)|improve|let|show|return|emit|record|log|track|automate|split"
    r"|separate)\b(?! ?[:=-])"
)
PASSIVE: Final = _cue(
    r"\b(?:is|are|be|gets?) (?:\w{1,20} )?(?!overload|crash|block|fail|delay|postpon|expir|unassign"
    r"|need|exhaust|degrad|overdu|queu|carri|saturat|clos|open|paus|throttl|fill|schedul"
    r"|stuck)[a-z]{2,20}(?:ed|ten|wn|ent|pt)\b"
)

# What a design says its parts do: "A deploy is refused", "Licences are checked", "The form asks for an address".
MADE: Final = _cue(
    r"^\W{0,8}(?:an?|all|both|no) \w|^\W{0,8}(?!(?:two|three|four|five|six|ten|several|some|our|my"
    r"|the|your|these|those|has|is|was|this|ops) )(?:\w{2,20} )?[a-z]{2,20}s (?:are|run|go|skip|take"
    r"|get|use|come|need|hold|pass|happen|last|cost|end|start|stay|keep|cover|fire|point|arrive|may"
    r"|contain|carry|have|include|show|list|name|tell|send|read|write|expire automatically|who|that"
    r"|which|with)\b|^\W{0,8}the (?:[\w-]{2,20} ){1,2}(?:shows|lists|tells|names|stores|writes|reads"
    r"|returns|contains|holds|keeps|explains|counts|describes|lets|allows|answers|takes|uses|runs"
    r"|restarts|listens|charges|checks|emits|logs|records|exports|removes|adds|gets|computes|reports"
    r"|transcodes|replays|grows|links|tracks|measures|matches|validates|accepts|receives|handles"
    r"|serves|includes|is (?:shown|sent|stored|kept|listed|written|split))\b"
    r"|^\W{0,8}the (?:[\w-]{2,20} )?(?:service|server|system|app|job|client|worker|importer|exporter"
    r"|checkout|editor|store|pipeline|scheduler|engine|feature|portal|bot|process) (?!fails|crashes"
    r"|hangs|loses|is|has)[a-z]{2,12}s\b|\b(?:form|module|column|field|button|endpoint returns"
    r"|webhook|enum|parser|class|function|table|api (?:lists|returns|takes)|option|screen|widget"
    r"|wizard|template engine|data model|workflow|use case|visitors?|end users?)\b|\b(?:was"
    r"|were) (?:measured|tested|estimated|compared|computed|sampled|chosen|assumed|drawn"
    r"|simulated)\b"
)
LASTING: Final[tuple[tuple[Cue, int], ...]] = (
    (STRICTLY_MARKETS, 3),
    (MARKETS, 1),
    (WISH, 3),
    (PLAN, 3),
    (DESIGN, 3),
    (_cue(r"`|^\s*\||->|=>"), 2),
    # A long sentence holds many kinds of words by chance.
    (lambda sentence: len(sentence) > LONG, 1),
    (lambda sentence: len(sentence) > 2 * LONG, 2),
)
"""What counts against a sentence, and how much."""

COUNTERS: Final = (*LASTING, (MADE, 3), (GENERAL, 3), (PASSIVE, 2))
"""What counts against one that is not about today."""
