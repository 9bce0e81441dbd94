"""What chatter of the office reads like, as word lists: how many kinds of cues a sentence holds, beside what keeps it.

The rules of `excluded` know how exact kinds of lines look. These lists find others: a sentence is about operations,
billing, incidents or marketing where it names a topic and several kinds of cues that it comes out of a day's work:
a state, an instant, a request to a colleague, a name of one thing, a tool of the house. Words of research, of what
a design wants and of what holds in general count against it. Each kind counts once, so that length proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache, lru_cache
from typing import Final, NamedTuple

from moot.protocols.arena.cues import (
    COUNTERS,
    GENERAL,
    HOUSE,
    INSTANT,
    LASTING,
    MEASURES,
    MONEY,
    PIECES,
    PLAN,
    REQUEST,
    THING,
    TODAY,
    TOLD,
    VERSIONS,
    WISH,
    Cue,
)
from moot.protocols.arena.excluded import Category

THRESHOLD: Final = 3
"""A sentence that scores so much is excluded."""

MOST_TOPICS: Final = 3
MOST_STATES: Final = 2
"""Topics and states give at most so many points."""

_WORD: Final = re.compile(r"[a-z0-9_]+(?:[-'/][a-z0-9_]+){0,3}", re.ASCII)
_SENTENCE: Final = re.compile(r"[.!?]\s+")
_TICKET: Final = re.compile(
    r"\b(?:inc|ops|bug|dev|devops|plat|infra|sre|chg|sev|issue|fix|req|task|web|app|core|jira|proj)-\d{2,6}\b"
)
_SUFFIX: Final = re.compile(r"(?<=[a-z]{3})(?:ing|ed|es|s|e)$")


_FIRST: Final = (
    r"action|ad|bank|blog|brand|business|case|change|code|cold|color|colour|cost|credit|data|direct|disk"
    r"|error|expense|feature|guest|home|hot|landing|load|meeting|mock|mood|node|on|op|out|packet"
    r"|pen|petty|photo|post|press|pro|pull|purchase|radio|release|response|roll|rolled|rolling|root|server|service"
    r"|sick|smoke|social|stand|status|subject|team|test|thank|trade|video|white|wire"
)
_SECOND: Final = (
    r"back|balancer|board|book|branch|call|card|cash|cause|center|centre|copy|debit|desk|ed|env|event"
    r"|fair|fix|flag|forma|freeze|guide|items?|kit|leave|line|lines|loss|manager|media|memory|mortem"
    r"|note|notes|office|order|page|palette|paper|pool|post|rate|release|report|request|room|shoot|show"
    r"|space|spot|study|tests?|times?|train|transfer|up|window"
)
_PHRASE: Final = re.compile(rf"\b(?P<first>{_FIRST}) (?P<second>{_SECOND})\b")


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """Return a word without the ending of its number or tense."""
    stem = _SUFFIX.sub("", word.removesuffix("'s"))
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "sl" else stem


@cache
def _stems(words: str) -> frozenset[str]:
    """Return the stems of a list of words, made when it is first needed."""
    return frozenset(map(_stem, words.split()))


class Lexicon(NamedTuple):
    """What one category's sentences are made of.

    Attributes:
        id: Its name in the list of what was removed.
        category: What it belongs to.
        strong: Topics that seldom stand for anything else: two points, three for two of them.
        weak: Topics that stand for other things, too: one point.
        states: What happens to them: one point.
        figures: Its figures with a unit, which are a cue.
    """

    id: str
    category: Category
    strong: str
    weak: str
    states: str
    figures: Cue

    def is_named(self, stems: Set[str]) -> bool:
        """Return whether a sentence of these stems names a topic."""
        return not (stems.isdisjoint(_stems(self.strong)) and stems.isdisjoint(_stems(self.weak)))

    def score(self, sentence: str, stems: Set[str], cues: int, is_told: bool) -> int:
        """Return the points of a sentence, 0 for one with a topic and nothing else.

        Args:
            sentence: In lower case.
            stems: Of its words.
            cues: How many kinds of cues it holds, whatever the category.
            is_told: Whether it tells what was or is done.
        """
        topics, others = _stems(self.strong), _stems(self.weak)
        strong, weak = len(stems & topics), len(stems & others)
        states = min(MOST_STATES if strong else 1, len((stems & _stems(self.states)) - topics - others))
        cues += self.figures(sentence) + (is_told and (strong > 0 or weak > 1))
        if not strong:
            return min(weak, 2) - 1 + states + cues if cues and states + cues > 1 else 0
        return min(MOST_TOPICS, 1 + strong + weak) + states + cues if states + cues else 0


LEXICONS: Final = (
    Lexicon(
        "machine_chatter",
        "infra_telemetry",
        strong="""
            4xx 5xx alarm apache autoscaler autoscaling autovacuum battery bgp cassandra cdn
            celery clickhouse cloudwatch consul container coredns cpu cron cronjob daemon
            data-center data-centre datadog disk disk-space dmesg dns ec2 elasticsearch envoy
            error-rate etcd exception fan firewall gc generator gpu grafana haproxy hdd
            healthcheck heap heartbeat hvac hypervisor icinga influxdb ingress inode iops iowait
            istio jaeger jvm k8s kafka kernel kibana kubectl kubelet kubernetes lambda latency
            load-balancer loki memcached modem mongo mongodb mysql nagios namespace nas newrelic
            nfs nginx nginx's node-pool ntp oom oomkill opentelemetry p50 p90 p95 p99 p999
            packet packet-loss pagerduty pod postgres prometheus proxmox qps rabbitmq rack raid
            ram rds redis replicaset response-time rps rss s3 san segfault segfaults sentry
            server-room sigkill smtp splunk ssd ssh ssl stacktrace statuspage stderr stdout swap
            swap-space syslog systemd tcp telemetry throughput tls tomcat traefik udp ups uptime
            uptimerobot vacuum vm vmware vpn watchdog wifi zabbix zfs
        """,
        weak="""
            agent alert api backup balancer bandwidth broker bucket bytes cable cache
            certificate checksum cluster connection consumer cooling core crawler dashboard
            database db deadlock depth door downstream endpoint error exporter fan file-system
            filesystem gateway host hostname humidity inbox index ingest instance iops ip job
            lag latencies load lock log login machine mail memory monitor monitoring network
            node packet partition ping port power power-supply primary probe process proxy
            queries query queue rack read region replica request response room router runner
            scheduler scrape secondary sensor server service session shard site socket storage
            switch table target temperature thread timeout traffic uplink upstream volume wal
            web-server website worker write zone
        """,
        states="""
            alert answer average back backlog behind breach climb complain corrupt crash
            crashloop crashloopbackoff creep critical dead degrade die died disconnect double
            down drift drop eating evict exceed exhaust expire fail failure fall fell fill fire
            firing flap flat flood freeze froze frozen full grew grow grown hang healthy high
            hit hot hover hung jump kick killed leak log lose lost noisy notready offline oom
            oom-killed outage overload page peak pile ran reads reboot reconnect recover red
            refuse report restart restore retry return rise rose running saturate says show
            shows sits skew slow sluggish spike stale stopp stuck swap throttle top trip triple
            unavailable unhealthy unknown unreachable unresponsive used using warn warning went
            zero
        """,
        figures=MEASURES,
    ),
    Lexicon(
        "billing_chatter",
        "billing_admin",
        strong="""
            accountant bank-transfer bill billing bookkeeper bookkeeping business-card catering
            chargeback cost-center cost-centre countersign credit-card datev direct-debit
            docusign dunning expense expense-report freelancer furniture iban invoice invoiced
            invoicing keycard lease licence license mileage msa nda offboarding onboarding
            overage overtime parking payable paypal payroll payslip payslips per-diem petty-cash
            po prepaid prepayment pro-forma procurement pto purchase-order quickbooks receipt
            receivable refund reimburse reimbursement reinvoice remittance renewal rent reseller
            retainer salary sick-leave sow stationery subscription timesheet vacation vat w-9
            wire-transfer xero
        """,
        weak="""
            account accountant agreement approval approver audit badge bank bonus bookkeeper
            budget card catering chair cleaning coffee contract contractor cost cost-centre
            courier credit customs deadline deposit desk dollars domain fee flight form
            headcount holiday hosting hotel hours hr insurance key kitchen landlord laptop legal
            limit meeting-room membership monitor number offsite onboarding order
            paperwork parcel parking payment pension phone plan po printer quote renewal request
            room seat seats sheet sick signature spend statement supplier tax taxi tier train
            training transfer travel trial trip vendor visa visitor wire workspace
        """,
        states="""
            add approval approve arrive ask bill book bought bounce buy cancel charge chase
            claim clear close confirm correct cost countersign decline dispute double doubled
            downgrade due end exceed expire expired expiry extend file fill forward increase
            invoice lack lapse late left missing move open order outstanding overdue owe paid
            pay print question raise reach reconcile refund reject remind remove renew request
            rise rose run run-out scan send sent settle sign sort stop submit switch top
            transfer unpaid update upgrade wait went wrong
        """,
        figures=MONEY,
    ),
    Lexicon(
        "release_chatter",
        "incident_deployment_backlog",
        strong="""
            action-item action-items ansible argocd autoscaling backport bamboo bitbucket
            blue-green bugfix canary change-window changelog cherry-pick ci/cd circleci
            code-freeze deploy devops docker downtime feature-flag firmware github gitlab
            go-no-go helm hot-fix hotfix hotfixes incident jenkins jira mitigation on-call
            oncall opsgenie outage outages p0 p1 pager patch pen-test playbook post-mortem
            postmortem postmortems pr prod prs pull-request rca rebase redeploy release-branch
            release-manager release-notes release-train remediation reverts roll-back rollback
            rolled-back rollout root-cause runbook service-desk sev-1 sev-2 sev-3 sev1 sev2
            smoke-test smoke-tests sonarqube sre stacktrace staging stand-up standup status-page
            teamcity terraform test-env ticket ticket-id triage uat victorops war-room
        """,
        weak="""
            api artifact backend backlog blocker board branch bug build cause cd cert
            certificate checkout ci cluster commit customer customer-facing cut database
            deadline dependency deployment driver env environment epic escalation fault firmware
            fix fixes follow-up freeze frontend handover hardware incident job kernel library
            linter lockfile log4j login maintenance manager merge migration milestone node notes
            on-duty pipeline postpone production qa queue rc rc1 regression release repo
            repository retro retrospective roadmap root router runner schema service shift sla
            sprint story suite support tag task test timeline upgrade version window
        """,
        states="""
            ack acknowledge assign block blocked break broke broken carry cause close closed
            cover cut delay done due ended escalate escalated expire fail failure fix flaky
            follow follow-up go go-live goes green groom hand handover inform informed
            investigate investigation land landed last late live merge missing mitigate move
            open out page pending pick plan planned postpone promote queue queued ready red
            reopen rerun restart restore retest revert review roll rolled schedule ship slip
            slips spill started stuck swap triage unassigned unmerged unresolved verify wait
            went write write-up
        """,
        figures=VERSIONS,
    ),
    Lexicon(
        "creative_chatter",
        "creative_marketing",
        strong="""
            ad-copy ads advertising advertorial adwords animator artwork b-roll backdrop banner
            billboard blog blog-post blogger brand-book brand-guide brochure campaign's canva
            caption carousel casting clickbait clip cmyk color-palette colour-palette commercial
            copywriter copywriters copywriting crossposting cta designer drone ebook emoji
            emojis facebook flyer gif giveaway goodies guest-post hashtag hashtags headlines
            hero hoodie hubspot influencer influencers infographic instagram invitations jingle
            keynote landing-page letterhead linkedin logo lookbook mailchimp mailing marketing
            mascot meetup meme merch mock-up mockup mood-board moodboard mug newsletter op-ed
            palette pantone photo-shoot photographer photographers photoshoot photoshop podcast
            poster press-kit press-photo press-release promo punchline radio-spot rebrand
            rebranding reel retargeting roll-up roll-ups rollups seo slogan social-media sticker
            storyboard stylist subject-line swag tagline tagline's team-photo teaser testimonial
            thank-you-note thumbnails tiktok tiktoks tote trade-fair trade-show typeface
            typography ugc voice-over voiceover webinar youtube
        """,
        weak="""
            ad ads advert agency animation artwork audience backdrop blog booth brand campaign
            case-study claim colleague color colour content copy cover creative creator ctr
            customer deck event fair font fonts footage giveaway headline homepage icon
            illustration illustrations illustrator image impressions interview invitation
            keyword landing-page launch launch-party layout leaflet magazine marketing meetup
            motto music name page photo picture pitch portrait post postcard press press-kit
            press-release pun reach script slide social song sponsor sponsorship spot stand
            stories story subject-line template testimonial testimonials theme thumbnail tone
            trailer tweet twitter video visual voice website white-paper whitepaper
        """,
        states="""
            another approve audience bolder brainstorm brighter catchy choose color colour copy
            crop cut deadline deliver design draft due edit engagement feedback film follower
            font fresh funny go goes hate headline idea lack late launch like logo look love
            missing names new order pick playful polish post prefer print proofread publish
            punchier punchy ready record redesign render reshoot resize retouch rewrite schedule
            shoot shot sign snappy subject swap t-shirt teaser test tone variant version vibe
            want went
        """,
        figures=PIECES,
    ),
)


def chatter(line: str) -> Lexicon | None:
    """Return what a line in lower case reads like: a sentence of it scores high enough; None when it is kept."""
    for sentence in _SENTENCE.split(line):
        if (found := _read(sentence)) is not None:
            return found
    return None


def is_general(line: str) -> bool:
    """Return True for a line in lower case that tells what holds or is wanted in general, and nothing of today."""
    return any(cue(line) for cue in (WISH, PLAN, GENERAL)) and not any(
        cue(line) for cue in (INSTANT, REQUEST, THING)
    )


def _read(sentence: str) -> Lexicon | None:
    """Return what a sentence reads like, None when it is kept."""
    plain = _PHRASE.sub(r"\g<first>-\g<second>", _TICKET.sub("ticket-id", sentence))
    stems = {*map(_stem, _WORD.findall(plain))}
    named = [lexicon for lexicon in LEXICONS if lexicon.is_named(stems)]
    if not named:
        return None
    cues = sum(cue(sentence) for cue in (INSTANT, REQUEST, THING, HOUSE))
    is_told = TOLD(sentence)
    found = [(lexicon.score(sentence, stems, cues, is_told), lexicon) for lexicon in named]
    most, best = max(found, key=lambda one: one[0])
    if most < THRESHOLD:
        return None
    counters = LASTING if TODAY(sentence) else COUNTERS
    against = sum(weight for cue, weight in counters if cue(sentence))
    return best if most - against >= THRESHOLD else None
