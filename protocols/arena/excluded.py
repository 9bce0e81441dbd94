"""What may not stand in a protocol artifact, as data: the rules by which `relevance` takes it out (R-A9, spec 10.3)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from typing import Final, Literal, NamedTuple

from moot.protocols.kernel.scanning import scanner

Category = Literal[
    "infra_telemetry", "billing_admin", "incident_deployment_backlog", "creative_marketing", "secret"
]


class Rule(NamedTuple):
    """How one kind of excluded line looks.

    Attributes:
        id: Its name in the list of what was removed.
        category: What it belongs to.
        pattern: The regex that is looked for in the line in lower case.
        unless: A sentence of which this is true is kept all the same.
        beside: A line in which this is found, too, is kept.
    """

    id: str
    category: Category
    pattern: str
    unless: Unless
    beside: re.Pattern[str] | None = None

    def finds(self, line: str) -> bool:
        """Say whether a line in lower case falls under it: a sentence of it does, and nothing keeps that."""
        pattern = _compiled(self.pattern)
        if not pattern.search(line) or (self.beside is not None and self.beside.search(line)):
            return False
        ends = [0, *(end.end() for end in _END.finditer(line)), len(line)]
        # Each sentence is asked once, however often the pattern is found in it.
        starts = {min(bisect_right(ends, found.start()), len(ends) - 1) for found in pattern.finditer(line)}
        return not all(self.unless(line[ends[n - 1] : ends[n]]) for n in sorted(starts))


Unless = Callable[[str], bool]


def _spaced(pattern: str) -> str:
    """Write a pattern as a regex: a blank stands for one to three, and one with a question mark for up to three."""
    return pattern.replace(" ?", r"\s{0,3}").replace(" ", r"\s{1,3}")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a regex when it is first looked for: all of them together take longer than many a command."""
    return re.compile(pattern, re.ASCII)


def _found(pattern: str) -> Unless:
    """Make the question whether a pattern is found in a sentence; most are answered without going back and forth."""
    exact = _spaced(pattern)
    may_hold = scanner([exact])
    return lambda sentence: may_hold(sentence) and _compiled(exact).search(sentence) is not None


_TRADING: Final = re.compile(r"\b(?:strat(?:egy|egies|_\d)|paper|backtest|hypothes[ie]s|deliberation|desk\b)")
_RESEARCH: Final = re.compile(
    r"\b(?:signals?|sentiment|alpha|features?|predict\w*|datasets?|data|backtest\w*|hypothes[ie]s|factors?"
    r"|returns|revenues?|earnings|spend(?:ing)?)\b"
)
_CUSTOMERS: Final = re.compile(
    r"\b(?:users?|customers?|shoppers?|buyers?|merchants?|subscribers?|checkout)\b"
)

_END: Final = re.compile(r"[.!?;]\s")
"""Where a sentence of a line ends."""

_NO_LETTER: Final = r"[\x00-@\[-`{-\x7f]"
_BEGIN: Final = rf"^{_NO_LETTER}{{0,12}}(?:please |we |you |then |and )?"
"""What may stand before the first word of a sentence: a bullet, a number, a heading's mark."""

# What a plan is about, and what it leaves out: "Payment method selection is out of scope."
_scope: Final = _found(
    r"\b(?:out of|in|beyond the) scope\b|\bnon-goals?\b"
    r"|\b(?:plan|design|draft|proposal|spec(?:ification)?|architecture|solution)s? (?:itself )?"
    r"(?:adds|allows|assumes|avoids|covers|defines|describes|does|excludes|explains|handles|has|includes|keeps|lacks"
    r"|limits|lists|leaves|makes|must|names|needs|provides|requires|shall|should|shows|states|supports|tells|treats"
    r"|uses|will)\b"
    r"|\b(?:section|chapter|appendix|part)s? (?:about|for|in|of|on|to) (?:the |this |our )?"
    r"(?:plan|design|draft|proposal|spec(?:ification)?|document)\b"
)
# What somebody is to write: "Write a runbook for the on-call engineer."
_planned: Final = _found(
    _BEGIN
    + r"(?:add|create|define|describe|design|document|draft|explain|include|list|outline|plan|propose|provide"
    r"|specify|suggest|write)\s{1,3}(?![:=-])"
)
# What is asked of a design: "Cut the p95 response time below 200 ms.", "Uptime of 99.9 % is the target."
_asked: Final = _found(
    r"\b(?:must|shall|should|ought to|ha(?:s|ve) to|needs? to|(?:is|are) to|(?:we|i) (?:need|want|expect|require|aim)"
    r"|aims? (?:at|for)|required?|requires)\b"
    r"|\b(?:is|are|as|a|an|the|our|its|no) (?:\w{1,20} )?"
    r"(?:target|goal|objective|requirement|slo|sla|criterion|criteria|constraint)s?\b"
    rf"|^{_NO_LETTER}{{0,12}}(?:\w{{1,20}} )?"
    r"(?:target|goal|objective|requirement|slo|sla|criterion|criteria|constraint|limit|budget)s? ?[:=]"
    r"|\b(?:below|under|within|at most|at least|less than|fewer than|faster than|no (?:more|less|longer|slower) than) "
    r"\d|<=?\s?\d"
    r"|\b(?:handles?|tolerates?|survives?|falls? back|fallbacks?|degrades? gracefully|backs? off|backoff|by retrying"
    r"|retr(?:y|ies) (?:on|after|at|when|if|with|up|once|twice|each|every))\b"
    r"|\b(?:is|are|gets?) (?:restarted|drained|evicted|rebooted|cordoned) (?:when|if|once|before|after|within|by)\b"
    r"|" + _BEGIN + r"(?:if|when|whenever|in case|as soon as)\b"
    r"|"
    + _BEGIN
    + r"(?:achieve|allow|assume|avoid|bound|bring|build|cap|choose|collect|compare|consider|cover|cut"
    r"|decide|develop|ensure|estimate|evaluate|expose|export|guarantee|halve|handle|implement|improve|increase"
    r"|introduce|keep|limit|lower|make|measure|model|optimi[sz]e|prevent|raise|reduce|replace|retry|speed up|support"
    r"|treat|tune)\s{1,3}(?![:=-])"
)
# What was seen on a machine, whatever it should be: "p99 is at 840 ms, above the target".
_seen: Final = _found(
    r"\b(?:climbed|rose|jumped|spiked|peaked|doubled|tripled|dropped|fell|fired|firing|crashed|oom-?killed|rebooted"
    r"|exceeded|breached|missed|overnight|yesterday)\b"
    r"|\b(?:reached|hits?|exceeds) \d|\brestarted (?:\d|again|twice|thrice|at|since)"
    r"|\bwent (?:up|down|off|red|over|above|from)\b|\bfailed (?:at|with|again|on|since|after|this|last)\b"
    r"|\b(?:is|are|was|were) (?:(?:now|currently|still|already) )?(?:up|down|red|at|above|over) (?:\d|again|since)"
    r"|\b(?:now|currently|still|already) (?:at|up|down|red|above|over|\d)"
    r"|\bsince (?:noon|midnight|this|last|\d)|\b(?:this morning|last night|right now)\b"
    rf"|\bat \d{{1,2}}:\d{{2}}\b|^{_NO_LETTER}{{0,3}}\d{{4}}-\d{{2}}-\d{{2}}[\st]\d"
    r"|\b(?:above|over|beyond|outside|off|missing|misses|breaching|breaches) (?:of )?(?:(?:the|our|its) )?"
    r"(?:target|slo|sla|goal|objective|budget|limit|threshold)s?\b"
    rf"|^{_NO_LETTER}{{0,3}}(?:debug|info|warn(?:ing)?|error|alert|alarm|critical|fatal) ?[:\]|]"
    r"|\b(?:must|should|needs? to|have to|has to) (?:be )?(?:check|escalat|investigat|look|page|watch)\w{0,3}\b"
)


def _is_asked(sentence: str) -> bool:
    """Say whether a sentence is a requirement: that is no telemetry, unless it says what was seen."""
    return (_asked(sentence) or _planned(sentence) or _scope(sentence)) and not _seen(sentence)


def _is_planned(sentence: str) -> bool:
    """Say whether a sentence tells what a plan does, or what is to be written."""
    return _scope(sentence) or (_planned(sentence) and not _seen(sentence))


def _rule(
    category: Category,
    name: str,
    pattern: str,
    beside: re.Pattern[str] | None = None,
    *,
    unless: Unless | None = None,
) -> Rule:
    default = _is_asked if category == INFRA else _scope
    return Rule(name, category, _spaced(pattern), unless or default, beside)


_DAY: Final = "(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|next week|weekly|monthly)"
INFRA: Final[Category] = "infra_telemetry"
_BILLING: Final[Category] = "billing_admin"
_INCIDENT: Final[Category] = "incident_deployment_backlog"
_CREATIVE: Final[Category] = "creative_marketing"

# Every gap is bounded, so that a line of any length takes linear time.
RULES: Final = (
    # A machine's load with its figure: "CPU at 93 %", "heap 3.1 GB", "disk usage: 91 %".
    _rule(
        INFRA,
        "machine_load",
        r"\b(?:[cg]pu|(?<!long[\s-])memory|heap|disk|ram|iowait|inodes?)(?: (?:usage|use|utili[sz]ation|load))?"
        r"(?: (?:on|of|for) [\w./-]{1,40})?\s{0,2}[:=]?\s{0,2}"
        r"(?:(?:now|is|are|was|at|hits?|reached|over|above|to) ){0,3}[~>]?\d[\d.,]{0,9}\s{0,2}(?:%|percent\b)"
        # A size alone may be a demand of a design ("memory: 2 GB"); reaching it is a measurement.
        r"|\b(?:memory|heap|disk|ram) (?:(?:usage|use|is|was|now) ){0,2}"
        r"(?:at|hits?|reached|(?:peaked|spiked) at|jumped to) \d[\d.,]{0,9}\s{0,2}[kmgt]i?b\b"
        r"|\bheap:? \d[\d.,]{0,9}\s{0,2}[kmgt]i?b\b",
    ),
    # The machine's other figures: "load average: 4.2", "uptime 99.95 %", "1,200 rps", "replication lag 40 s".
    _rule(
        INFRA,
        "machine_figures",
        r"\bload average:? \d|\buptime(?: (?:is|was|of|at))?:? \d|\b\d[\d.,]{0,9}k?\s?(?:rps|qps|iops)\b"
        r"|\breplication lag\b|\bgc pauses?\b.{0,20}?\d",
    ),
    # Containers and nodes and how they fare: "pod restarted 4 times", "node-7 evicted".
    _rule(
        INFRA,
        "cluster_state",
        r"\b(?:pods?|containers?|kubelets?|nodes?|node-\w{1,20}|vms?|clusters?|servers?)\b.{0,40}?"
        r"\b(?:restart(?:s|ed|ing)|crash(?:ed|ing|es|loop\w{0,20})|evicted|oom-?killed|unreachable|rebooted|drained"
        r"|cordoned|notready|unhealthy)\b|\b(?:crashloopbackoff|oom-?killed|oom[\s-]killer)\b",
    ),
    # A service's answers and errors: "p99 latency of /api/users 840 ms", "5xx rate", "502 Bad Gateway".
    _rule(
        INFRA,
        "service_health",
        r"\bp(?:50|90|95|99|999)\b.{0,30}?\bresponse times?\b|\b(?:latency|response times?)\b.{0,20}?\s/[a-z][\w/-]*"
        r"|\b5xx\b|\b50[234] (?:errors?|bad gateway|gateway timeout|responses)\b|\bhttp 50[0234]\b"
        r"|\b(?:api|server|gateway) (?:errors|error rate)\b.{0,20}?\d",
    ),
    # Tools that watch machines: "the Grafana dashboard", "CloudWatch alarm".
    _rule(
        INFRA,
        "monitoring_tool",
        r"\b(?:grafana|prometheus|datadog|cloudwatch|newrelic|nagios|kibana)\b.{0,20}?"
        r"\b(?:dashboards?|alerts?|alarms?|panels?|graphs?|monitors?|metrics?)\b"
        r"|\b(?:alerts?|alarms?|metrics?|dashboards?) (?:in|from|on) (?:grafana|prometheus|datadog|cloudwatch|kibana)\b"
        r"|\bkubectl \w",
    ),
    # A bill with its number or state: "Invoice #4412 is overdue", "INV-2031".
    _rule(
        _BILLING,
        "invoice",
        r"\binvoices?(?: no\.?| number)? ?#? ?(?:inv-?)?\d|\binv-\d{2,}"
        r"|\binvoices? (?:is|are|was|were) (?:over)?due\b|\b(?:pay|send|approve|dispute|forward) (?:the|an?|our|this) "
        r"(?:\w{1,20} )?(?:invoice|receipt)s?\b|\boverdue invoices?\b.{0,30}?\b(?:accounting|finance|vendor)\b",
    ),
    # What the society's tools are rented under: "upgrade the subscription to the Pro plan", "the trial ends".
    _rule(
        _BILLING,
        "subscription",
        r"\b(?:upgrad|downgrad|renew|cancel|extend)\w{0,4} (?:(?:the|our|your|my|this|a) )?(?:\w{1,20} )?"
        r"(?:subscription|licen[cs]e)s?\b"
        r"|\b(?:upgrad|downgrad|switch|mov)\w{0,4}\b.{0,40}?\b(?:pro|free|team|business|enterprise|premium|starter) "
        r"(?:plan|tier)\b|\b(?:free|your|our) trial (?:ends|ended|expires|expired)\b"
        r"|\bsubscription (?:fee|renewal|payment|invoice)s? (?:is|are|was|due|of|for)\b",
        _CUSTOMERS,
    ),
    # How bills are paid: "the credit card on file", "billing address", "top up the credits", "the AWS bill".
    _rule(
        _BILLING,
        "payment",
        r"\bbilling:? (?:address|portal|cycle|account|contact|department|team|admin|statement|dispute|question|issue"
        r"|email|page|settings)\b|\bbilling:|\bpayment (?:reminder|overdue)\b"
        r"|\bpayment method (?:on file|(?:is|was|has) (?:expired|invalid|declined|missing))\b"
        r"|\b(?:update|change|replace|confirm) (?:the|our|your|my) payment method\b"
        r"|\b(?:credit )?card (?:on file|was declined|declined|has expired|expired|ending in)\b"
        r"|\btop(?:ped)?[\s-]up\b.{0,30}?\b(?:credits?|balance)\b|\b(?:aws|azure|gcp|cloud|hosting|saas|openai) bill\b"
        r"|\b(?:request|issue|process)\w{0,3} (?:a |the )?refund\b",
        _CUSTOMERS,
    ),
    # DutyRunner work: "expense report", "timesheets", "run payroll", "purchase order 12".
    _rule(
        _BILLING,
        "office",
        r"\bexpense reports?\b|\btimesheets?\b|\b(?:run|approve|process) (?:the )?payroll\b"
        r"|\bpurchase order (?:no\.? |number )?#?\d|\bvacation (?:request|approval)s?\b"
        r"|\breimburse(?:ment|d)? (?:of|for|the|my)\b",
    ),
    # A ticket or severity: "INC-2231", "SEV-1", "P1 incident", "incident #12".
    _rule(
        _INCIDENT,
        "incident_ticket",
        r"\binc-?\d{2,}\b|\b(?:chg|prb)-?\d{3,}\b|\bsev[\s-]?[0-4]\b|\bp[0-3] incident\b|\bincident ?#\d"
        r"|\bincident (?:commander|channel|bridge|timeline|ticket|queue|backlog)\b"
        r"|\bincident\b.{0,40}?\b(?:resolved|mitigated|declared|opened|closed|started)\b.{0,20}?\b\d{1,2}:\d{2}\b",
    ),
    # People on call and what they write afterwards: "pager went off", "postmortem due Friday".
    _rule(
        _INCIDENT,
        "on_call",
        r"\bpager (?:went|goes|fired|rang)\b|\bpagerduty\b"
        rf"|\bpost-?mortems?\b.{{0,40}}?\b(?:due(?! to)|meeting|scheduled|action items?|{_DAY})\b"
        r"|\bstatus page (?:is|was|updated|shows|says|green|red)\b",
    ),
    # Who is on call, and for how long: "the on-call rotation starts with Ann".
    _rule(
        _INCIDENT,
        "on_call_shift",
        r"\bon-?call (?:rotation|shift|handover|schedule)s?\b"
        r"|\bon-?call engineers? (?:is|are|was|were|has|had|said|got|took|ack\w{0,10})\b",
        unless=_is_planned,
    ),
    # What is done by the book: "follow the runbook".
    _rule(
        _INCIDENT,
        "runbook",
        r"\b(?:follow|consult|check|open|see|run|execute|use|per|updat)\w{0,3} (?:the |our |this |that |its )?"
        r"(?:\w{1,20} )?runbooks?\b|\b(?:as in|according to) (?:the|our) (?:\w{1,20} )?runbooks?\b"
        r"|\brunbooks? (?:says?|said|steps?|link|page|https?|#?\d)",
        unless=_is_planned,
    ),
    # Lists of work on machines: "Deployment backlog", "backlog grooming".
    _rule(
        _INCIDENT,
        "backlog",
        r"\b(?:deploy(?:ment)?|release|rollout|ops|devops|infra(?:structure)?|incident|sprint|maintenance|bug|ticket)s?"
        r" backlog\b|\bbacklog (?:grooming|refinement|tickets?)\b|\bbacklog of (?:\w{1,20} )?(?:incident|deployment|"
        r"release|ticket|bug)s?\b",
    ),
    # Software on its way to machines: "roll out v2.3.1 to staging", "deploy 1.4 to production".
    _rule(
        _INCIDENT,
        "rollout",
        r"\b(?:roll(?:ed|ing)?[\s-]?(?:out|back)|deploy(?:ed|ing)?|ship(?:ped)?|releas(?:e|ed|ing)|push(?:ed)?|hotfix)\b"
        r".{0,60}?\b(?:v\d{1,4}(?:\.\d{1,4}){0,2}|\d{1,4}\.\d{1,4}(?:\.\d{1,4})?|hotfix|image|build|service|migration)\b"
        r".{0,40}?\b(?:staging|prod|production|canary|cluster)\b",
        _TRADING,
    ),
    # The tools and habits of releases: "terraform apply", "the CI pipeline is red", "code freeze", "hotfix".
    _rule(
        _INCIDENT,
        "release_work",
        r"\bhelm (?:upgrade|install|rollback)\b|\bterraform (?:apply|plan)\b"
        r"|\b(?:ci|ci/cd|jenkins|github actions|deploy(?:ment)?) (?:pipeline|build|job) (?:(?:is|was|has) )?"
        r"(?:red|green|failed|failing|broken|stuck)\b|\b(?:code|change|deploy(?:ment)?|release) freeze\b"
        r"|\bhotfix(?:es)?\b|\brelease train\b|\bcherry-pick\b.{0,40}?\brelease\b",
        _TRADING,
    ),
    # Posts for a public: "Draft three Instagram captions", "schedule the LinkedIn posts".
    _rule(
        _CREATIVE,
        "social_posts",
        r"\b(?:instagram|tiktok|facebook|linkedin|youtube) (?:captions?|reels?|carousels?|thumbnails?|stories)\b"
        r"|\b(?:draft|write|design|schedule|create|prepare|film|plan|publish|post)(?:s|d|ed|ing)?\b.{0,40}?"
        r"\b(?:instagram|tiktok|facebook|linkedin|twitter|youtube|social(?:[\s-]media)?)"
        r" (?:posts?|ads?|videos?|banners?|threads?)\b"
        r"|\b(?:draft|write)(?:s|ing)? .{0,20}?\bcaptions?\b",
    ),
    # Plans of publishing: "content calendar", "editorial calendar".
    _rule(
        _CREATIVE,
        "content_calendar",
        r"\b(?:content|editorial|social(?:[\s-]media)?|posting|campaign|marketing) calendar\b"
        r"|\bcontent (?:plan|pillars?|strategy|ideas?) for\b",
    ),
    # Letters to subscribers and articles: "newsletter on Monday", "write the blog post".
    _rule(
        _CREATIVE,
        "newsletter",
        rf"\bnewsletter\b.{{0,30}}?\b(?:{_DAY}|subject line|subscribers|goes out|draft|copy)\b"
        r"|\b(?:draft|write|send|design|schedule|proofread)(?:s|ing)?\b.{0,30}?"
        r"\b(?:newsletter|blog (?:posts?|articles?))\b",
        _RESEARCH,
    ),
    # Campaigns: "the spring campaign", "ad campaign".
    _rule(
        _CREATIVE,
        "campaign",
        r"\b(?:spring|summer|autumn|winter|holiday|christmas|launch|ad|advertising|marketing|e-?mail|social(?:[\s-]media)?"
        r"|brand|influencer) campaigns?\b",
        _RESEARCH,
    ),
    # Work on a brand's looks and words: "tagline", "mood board", "ad copy", "creative brief".
    _rule(
        _CREATIVE,
        "brand_work",
        r"\b(?:taglines?|mood ?boards?|ad copy|copywriting|photo ?shoots?|storyboards?|key visuals?)\b"
        r"|\bslogans? (?:for|ideas?)\b|\bbrand (?:voice|guidelines?|colou?rs|assets?|refresh)\b"
        r"|\blogo (?:designs?|drafts?|variants?|concepts?)\b|\bhashtags? for\b"
        r"|\bcreative (?:backlog|briefs?|brainstorm\w{0,4}|assets?|team|direction)\b"
        r"|\bmarketing (?:backlog|copy|assets?|team|deck|materials?|e-?mails?|schedule|plan)\b",
        _RESEARCH,
    ),
)
"""The rules; where several find a line, the first one names it."""
