import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moot.protocols.arena.excluded import RULES
from moot.protocols.arena.relevance import VERDICT, Removed, cleanse, excess, is_spent
from moot.protocols.arena.scoring import LEXICONS
from moot.protocols.kernel.figures import SECOND_AUDIT
from moot.protocols.kernel.redact import redact

# Put together from pieces, so that no scanner takes this file for a leak.
SLACK = "xox" + "b-123456789012-abcdefABCDEF"
OPENAI = "s" + "k-proj-" + "a1B2" * 8
BEGIN, END = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"

EXCLUDED = {
    "infra_telemetry": [
        "CPU at 93 % on node-7, pod restarted 4 times",
        "- cpu usage: 91%",
        "Memory usage on web-3 is at 87 percent",
        "Disk is 95 % full",
        "the heap reached 3.1 GB",
        "memory jumped to 14 GiB on db-2",
        "p99 latency of /api/users 840 ms, heap 3.1 GB",
        "p95 response time climbed to 1.2 s",
        "latency on /health doubled overnight",
        "load average: 4.20 3.90 3.10",
        "Uptime: 99.95 %",
        "traffic peaked at 1,200 rps",
        "replication lag 40 s on the read replica",
        "GC pauses of 300 ms",
        "The worker pod was OOMKilled and evicted",
        "node-12 unreachable since noon",
        "CrashLoopBackOff again",
        "5xx rate is up",
        "a burst of 502 Bad Gateway",
        "HTTP 503 from the load balancer",
        "the Grafana dashboard is all red",
        "CloudWatch alarm fired",
        "ran kubectl get pods",
    ],
    "billing_admin": [
        "Invoice #4412 is overdue, upgrade the subscription to the Pro plan",
        "INV-2031 unpaid",
        "please pay the hosting invoice",
        "Our free trial expires on Friday",
        "Renew our licence before the end of the month",
        "switch everybody to the Team plan",
        "The card on file was declined",
        "Billing: ask for a refund",
        "update the billing address",
        "top up the API credits",
        "The AWS bill doubled",
        "expense report for March",
        "Submit your timesheets",
        "run payroll on Thursday",
        "purchase order #77 was signed",
    ],
    "incident_deployment_backlog": [
        "INC-2231: pager went off at 03:12, postmortem due Friday",
        "SEV-1 is over",
        "P1 incident: the database is down",
        "The incident was mitigated at 03:40",
        "who is incident commander?",
        "the on-call rotation starts with Ann",
        "post-mortem meeting with the platform team",
        "Status page updated",
        "Deployment backlog: roll out v2.3.1 to staging on Tuesday",
        "backlog grooming at ten",
        "Deploy v2.3 to production on Friday",
        "rolled back 1.4.2 in prod",
        "hotfix for the login page",
        "terraform apply, then helm upgrade",
        "the CI pipeline is red",
        "code freeze until Monday",
        "follow the runbook",
    ],
    "creative_marketing": [
        "Draft three Instagram captions for the spring campaign",
        "content calendar: newsletter on Monday",
        "schedule the LinkedIn posts for next week",
        "Write social media posts about the launch",
        "write the captions",
        "editorial calendar for May",
        "The newsletter goes out on Tuesday",
        "draft a blog post about us",
        "budget for the holiday campaign",
        "ad copy for the banner, and a tagline",
        "mood board for the rebrand",
        "creative brief, second draft",
        "Marketing backlog: three videos",
        "logo variants in blue",
        "new brand guidelines",
    ],
}

KEPT = [
    "",
    "the deployment of a strategy to paper trading",
    "the budget of 20 minutes",
    "latency of the broker",
    "memory of past failures",
    "risk of an incident",
    "marketing data as a signal source",
    "Deploy strat_1 v1.2 to staging and trade it on paper for 5 days.",
    "Roll out the strategy, release 1.2, to staging first",
    "The Operator moves strat_1 from candidates to staging.",
    "Sharpe 0.93, drawdown 12 %, volatility at 18 %",
    "Long memory at 5 % significance, Hurst exponent 0.61",
    "memory: 2 GB and 20 minutes of CPU for each run",
    "GPU makers are up 12 % since the earnings",
    "RAM prices rose by 5 % in the sample",
    "Disk makers trade at 9 times earnings",
    "The 10-year swap at 3.2 % against 3.4 %",
    "p99 of daily losses is 4.1 %",
    "p95 latency of fills is 40 ms in the model",
    "The latency of the signal is one bar",
    "a server with 16 cores is enough for the backtest",
    "The node of the decision tree splits at 0.3",
    "The referee restarts the case after an override",
    "503 trades in the test split, 502 of them on time",
    "Errors in 500 of 20,000 bars were repaired",
    "Datadog beat its earnings; the signal held",
    "Unpaid invoices as a credit-risk indicator",
    "Card spending data leads retail sales by 3 weeks",
    "Analysts downgrade on slowing subscription growth",
    "nonfarm payrolls surprise on the first Friday",
    "purchase orders of the ISM survey as a factor",
    "A plan to move to a higher tier of liquidity",
    "The trial of 200 parameter sets ends in overfitting",
    "expense ratio of 0.2 % a year",
    "Order backlog of industrial companies predicts returns",
    "A postmortem of the rejected hypothesis, due to its drawdown",
    "An exchange outage leaves a gap in the data of 2020-10-01",
    "Incidents like a halt are told to the admin",
    "The admin is paged after 5 minutes, then again after 30",
    "On-call or not, silence is never consent.",
    "RFC 3339 instants, UTC",
    "The pipeline of signals: clean, rank, trade",
    "A freeze of the parameters before the test split",
    "release the hold of 2 % cash when volatility falls",
    "production of crude oil fell in the week",
    "The economic calendar lists the FOMC on Wednesday",
    "Trading calendar: half day on 2026-11-27",
    "Twitter posts as a sentiment signal",
    "Instagram posts per day are an alternative data set",
    "Facebook ads revenue grew by 11 %",
    "campaign finance data, lagged by a quarter",
    "Marketing campaign spending predicts revenues one quarter ahead",
    "brand value as a quality factor",
    "a press release at 16:05 moved the price",
    "a blog post claims that momentum is dead",
    "The slogan 'buy the dip' is no thesis",
    "Content of the message: one JSON body",
    "visual check of the equity curve",
    "A creative use of the term structure",
    "budget_tokens: 4096, 3 of 5 seats answered",
    "the Critic's secretary, a token gesture, the key idea",
    "hyp_20260223_1030_2/assess-1/critic",
    "session_id sess-4, resume_ref r/7, round 2 of 5",
    "Claim c3 contradicts evidence ev:9f86d081884c7d65",
    "VERDICT: APPROVED",
    "  verdict:revise\t",
    "[removed: billing_admin]",
    "[removed: infra_telemetry]",
    "[removed: incident_deployment_backlog]",
    "[removed: creative_marketing]",
    "[redacted:password]",
]


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize(
    ("category", "line"), [(category, line) for category, lines in EXCLUDED.items() for line in lines]
)
def test_r_a9_a_line_about_something_excluded_is_replaced_by_its_category(category, line):
    clean, removed = cleanse(f"before\n{line}\nafter")
    assert clean == f"before\n[removed: {category}]\nafter"
    assert [(found.line, found.category) for found in removed] == [(2, category)]


ASKED = [
    "Uptime of 99.9 % is the target.",
    "The design handles HTTP 503 by retrying.",
    "Payment method selection is out of scope.",
    "Add a runbook section to the plan.",
    "Write a runbook for the on-call engineer.",
    "Cut the p95 response time of the checkout below 200 ms.",
    "The p95 response time must stay below 200 ms.",
    "- p95 response time: below 200 ms",
    "Goal: uptime 99.95 %",
    "The API must handle 1,200 rps.",
    "Keep CPU usage at 60 % at most",
    "Reduce the latency of /checkout to 100 ms",
    "Keep replication lag below 5 s.",
    "GC pauses should stay below 300 ms",
    "The client retries on 5xx with backoff.",
    "Return HTTP 503 when the queue is full: the design must say so.",
    "Pods are restarted when unhealthy.",
    "If a node is unreachable, its work moves to another one.",
    "Define alerts in Grafana: which alerts on Grafana page whom.",
    "Add a Grafana dashboard for the error rate.",
    "The plan lists who is on the on-call rotation.",
    "Design an on-call rotation for five people.",
    "Users can cancel their subscription at any time.",
    "Let customers change the payment method in the checkout.",
    "Process a refund for the customer within 5 days.",
    "The alert goes to the on-call engineer after 5 minutes.",
    "## Runbook",
    "A runbook for the failover is a deliverable.",
    "The service must sustain 2,000 qps.",
    "SLO: p99 response time under 400 ms",
    "Design a retry policy for HTTP 503.",
    "Plan the migration so that uptime is 99.9 %.",
    "Marketing campaigns are out of scope.",
    "The incident channel is out of scope.",
    "Uptime: at least 99.9 %",
    "Target: uptime 99.9 %",
    "the system shall survive a crashed node",
    "Plan how a worker pod that was evicted is replaced",
    "Improve p95 response time from 900 ms to 200 ms",
    "1. Reduce p99 response times by half",
]
"""Requirements and sentences of plans: they name what telemetry and chatter name, and are neither."""

SEEN = [
    "CPU at 93 %, must look into it",
    "p99 response time 840 ms, above the target of 200 ms",
    "p95 response time is at 840 ms and should be below 200 ms",
    "[WARN] CPU at 93 %, should be below 80",
    "2026-02-23 10:31 CPU at 93 %",
    "node-7 unreachable, retrying",
    "Uptime: 99.95 %",
    "Uptime was 99.2 % last month",
    "HTTP 503 from the load balancer",
    "Alert: CPU at 93 %",
    "p95 response time peaked at 2 s, the goal is 200 ms",
    "update the payment method on file",
    "our payment method was declined",
    "follow the runbook",
    "see the failover runbook",
    "the on-call engineer acked at 03:12",
    "The uptime is 99.2 %",
    "heap at 3.1 GB, the pod restarted 4 times and must be watched",
    "the p95 response time missed the target again",
    "traffic at 1,200 rps now",
    "Please pay the invoice",
    "Renew the Slack subscription",
    "uptime 99.2 %, target missed",
    "Grafana dashboard shows 5xx spike",
    "5xx rate up since noon, please check",
    "CPU at 93 % on web-3. The plan must be short.",
    "The plan must be short. CPU at 93 % on web-3.",
    "Uptime: 99.95 %; the target is met",
]
"""Measurements, log lines, alerts and chatter, some of them beside what should be."""


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("line", ASKED)
def test_r_a9_requirements_and_sentences_of_a_plan_are_no_telemetry(line):
    assert cleanse(line) == (line, ())
    assert cleanse(f"2. {line.upper()}").removed == ()


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("line", SEEN)
def test_r_a9_what_was_seen_is_telemetry_whatever_it_should_be(line):
    (found,) = excess(line)
    assert cleanse(line).text == f"[removed: {found.category}]"


def test_a_line_is_asked_sentence_by_sentence():
    """One requirement in it keeps no measurement, and one measurement takes the line."""
    wish, seen = "The p95 response time must stay below 200 ms.", "CPU at 93 % on web-3."
    assert cleanse(f"{wish} {wish}").removed == ()
    load = "Keep the CPU at 60 %."
    assert cleanse(load).removed == ()
    for line in (f"{wish} {seen}", f"{seen} {wish}", f"{load} {seen} {load}", f"{load} {load} {seen}"):
        assert [found.rule for found in excess(line)] == ["machine_load"]


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("[removed: infra_telemetry]", True),
        ("- [removed: billing_admin]\n\n* [redacted:password].", True),
        ("password: [redacted:password]", False),
        ("[removed: infra_telemetry]\nPlan the gaps.", False),
        ("???", False),
        ("", False),
    ],
)
def test_a_text_is_spent_when_only_marks_are_left(text, is_it):
    assert is_spent(text) is is_it


LINES = json.loads((Path(__file__).parents[2] / "doubles" / "arena_lines.json").read_text(encoding="utf-8"))
BEFORE = SECOND_AUDIT - 1
"""The rules version before lines are scored."""


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize(("name", "least"), [("held_out", 0.8), ("second", 1.0), ("tuned", 0.94)])
def test_r_a9_lines_that_no_rule_was_written_for_are_found_and_no_other(name, least, record_property):
    """Measured: precision 1.0 and recall 0.8 on lines that the word lists were not tuned on."""
    excluded, kept = LINES[name]["excluded"], LINES[name]["kept"]
    found = [line for line in excluded if excess(line)]
    wrong = [line for line in kept if excess(line)]
    precision = len(found) / (len(found) + len(wrong))
    recall = len(found) / len(excluded)
    record_property("precision", precision)
    record_property("recall", recall)
    assert precision == 1.0, f"{name}: precision {precision:.2f}, kept lines that are removed: {wrong}"
    missed = [line for line in excluded if line not in found]
    assert recall >= least, f"{name}: recall {recall:.2f}, missed: {missed}"


def test_the_held_out_lines_are_ten_and_ten_and_none_of_them_is_tuned_on():
    held, tuned = LINES["held_out"], LINES["tuned"]
    assert (len(held["excluded"]), len(set(held["kept"]))) == (10, 10)
    assert not {*held["excluded"], *held["kept"]} & {*tuned["excluded"], *tuned["kept"]}


@pytest.mark.rule("R-A9", "R-G17")
def test_r_a9_lines_are_scored_from_rules_version_4_on():
    """What logs of older versions hold is judged as it was."""
    line = "INC-4821 postmortem still open"
    chatter = "the designer wants another banner"
    assert cleanse(chatter, BEFORE) == (chatter, ()) and excess(chatter, BEFORE) == ()
    assert cleanse(chatter, SECOND_AUDIT) == cleanse(chatter)
    assert cleanse(chatter).removed == (Removed(1, "creative_marketing", "creative_chatter"),)
    assert cleanse(line, BEFORE).removed == cleanse(line).removed != ()
    general = "Overdue invoices are escalated to finance after 30 days."
    assert cleanse(general, BEFORE).removed != () and cleanse(general).removed == ()


@pytest.mark.parametrize("lexicon", LEXICONS, ids=lambda lexicon: lexicon.id)
def test_each_word_list_finds_lines_and_lists_no_word_twice(lexicon):
    for words in (lexicon.strong, lexicon.weak, lexicon.states):
        assert sorted(set(words.split())) == words.split()
    assert any(found.rule == lexicon.id for line in LINES["tuned"]["excluded"] for found in excess(line))


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize("line", KEPT)
def test_r_a9_lines_of_research_design_and_review_survive(line):
    assert cleanse(line) == (line, ())
    assert cleanse(f"- {line.upper()}.").removed == ()


def test_there_are_many_lines_that_must_survive():
    assert len(set(KEPT)) >= 60


def test_every_rule_finds_at_least_one_of_the_examples():
    named = {
        found.rule
        for lines in EXCLUDED.values()
        for line in lines
        for found in excess(line.replace(",", "\n"), BEFORE)
    }
    assert named == {rule.id for rule in RULES}
    assert len(named) == len(RULES)


def test_print_blanks_and_letters_of_other_scripts_hide_nothing():
    assert [found.rule for found in excess("\u00e4 \u2013 CPU at 93\u202f% on node\u20117")] == [
        "machine_load"
    ]
    assert cleanse("\u4ef7\u683c: Sharpe 0.9 \u2013 \u201efine\u201c").removed == ()


@pytest.mark.rule("R-A9")
@pytest.mark.parametrize(
    ("line", "clean", "kind"),
    [
        ("use " + OPENAI + " here", "use [redacted:api_key] here", "api_key"),
        ("password=hunter2", "password=[redacted:password]", "password"),
        ("the password is hunter2", "the password is [redacted:told]", "told"),
        ("Authorization: Bearer abc", "Authorization: Bearer [redacted:authorization]", "authorization"),
        ('{"token": "abc"}', '{"token": "[redacted:password]"}', "password"),
    ],
)
def test_r_a9_a_secret_goes_and_the_rest_of_its_line_stays(line, clean, kind):
    assert cleanse(f"a\r\n{line}\rb") == (f"a\r\n{clean}\rb", (Removed(2, "secret", kind),))


@pytest.mark.rule("R-A9")
def test_r_a9_each_line_of_a_private_key_goes_and_a_verdict_among_them_stays():
    text = f"key: {BEGIN}\r\nMIIabc\n\nVERDICT: REVISE\rdef==\n{END} end\nlast"
    clean, removed = cleanse(text)
    gone = "[redacted:private_key]"
    assert clean == f"key: {gone}\r\n{gone}\n\nVERDICT: REVISE\r{gone}\n{gone} end\nlast"
    assert [found.line for found in removed] == [1, 2, 5, 6]
    assert {(found.category, found.rule) for found in removed} == {("secret", "private_key")}


def test_two_private_keys_in_one_line_are_both_redacted():
    assert cleanse(f"a {BEGIN}x{END} b {BEGIN}y{END} c").text == (
        "a [redacted:private_key] b [redacted:private_key] c"
    )


def test_a_line_with_a_secret_about_something_excluded_is_listed_for_both():
    clean, removed = cleanse("Invoice #12: password=hunter2")
    assert clean == "[removed: billing_admin]"
    assert removed == (Removed(1, "billing_admin", "invoice"), Removed(1, "secret", "password"))


@pytest.mark.parametrize("before", ["password:", "token =", "Authorization:", "bearer", BEGIN, "secret: '"])
@pytest.mark.parametrize("line", ["VERDICT: APPROVED", "verdict:Revise", "\t VERDICT:\x0bREVISE \x0c"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_no_secret_above_it_takes_a_verdict_away(before, line, end):
    assert cleanse(before + end + line + end).text.endswith(end + line + end)


def test_a_verdict_of_other_letters_is_an_ordinary_line():
    assert VERDICT.fullmatch("VERDICT: REVI\u017fE") is None
    assert VERDICT.fullmatch("VERDICT: REVISE.") is None


def test_lines_end_with_lf_cr_lf_and_cr_and_with_nothing_else():
    text = "expense report\x0b\x85\u2028the Sharpe is 0.9\rexpense report"
    assert cleanse(text).text == "[removed: billing_admin]\r[removed: billing_admin]"


def test_t12_an_artifact_of_mixed_inputs_holds_nothing_excluded_and_nothing_like_a_credential():
    secrets = [
        f"the key {OPENAI} is ours",
        f"slack {SLACK}",
        "db: postgres://moot:s3cret@host/db",
        "pwd=hunter2",
    ]
    mixed = [
        line
        for group in zip(
            *([*lines * 5][:60] for lines in [*EXCLUDED.values(), secrets * 4]), KEPT, strict=False
        )
        for line in group
    ]
    key = f"{BEGIN}\nMIIabc\ndef==\n{END}"
    clean, removed = cleanse("\n".join([*mixed, key]))
    lines = clean.split("\n")
    assert len(lines) == len(mixed) + 4
    survivors = [line for line in mixed if line in KEPT]
    assert [line for line in lines if line in survivors] == survivors
    assert {found.category for found in removed} == {*EXCLUDED, "secret"}
    for line in [line for group in EXCLUDED.values() for line in group]:
        assert line not in clean
    for part in (OPENAI, SLACK, "s3cret", "hunter2", "MIIabc", "def=="):
        assert part not in clean
    assert redact(clean) == clean
    assert excess(clean) == ()


ANY_LINE = st.sampled_from(
    [line for lines in EXCLUDED.values() for line in lines]
    + KEPT
    + [
        BEGIN,
        END,
        "password:",
        "token:",
        "bearer",
        "hunter2",
        '"',
        "'",
        "\\",
        SLACK,
        "Authorization:",
        "VERDICT: REVISE",
    ]
)
PIECE = (
    ANY_LINE
    | st.text(max_size=6)
    | st.sampled_from(["\n", "\r", "\r\n", " ", ":", "=", "\u0130", "\u03a3", "-"])
)
TEXT = st.lists(PIECE, max_size=14).map("".join)
BREAK = re.compile("\r\n|\r|\n")


@given(TEXT)
@example(f"password:\n{EXCLUDED['billing_admin'][0]}\nhunter2")
@example(f"a{BEGIN}\nVERDICT: REVISE\npassword:{END}\nhunter2")
def test_cleansing_twice_changes_nothing_more(text):
    once = cleanse(text)
    assert cleanse(once.text) == (once.text, ())


@given(TEXT)
def test_lines_their_breaks_and_every_line_that_is_not_listed_stay(text):
    clean, removed = cleanse(text)
    assert BREAK.findall(clean) == BREAK.findall(text)
    listed = {found.line for found in removed}
    for number, (before, after) in enumerate(zip(BREAK.split(text), BREAK.split(clean), strict=True), 1):
        assert (before == after) is (number not in listed), number
    assert list(removed) == sorted(removed)


SPOILED = st.sampled_from([line for lines in EXCLUDED.values() for line in lines] + SEEN) | st.sampled_from(
    ["password=hunter2", "password:", "secret: '", "bearer", BEGIN, f"x {SLACK} y"]
)
VERDICTS = st.builds(
    lambda before, key, gap, word, after: f"{before}{key}{gap}{word}{after}",
    st.sampled_from(["", " ", "\t", "\x0b"]),
    st.sampled_from(["VERDICT:", "verdict:", "Verdict:"]),
    st.sampled_from(["", " ", "\t \x0c"]),
    st.sampled_from(["APPROVED", "REVISE", "approved", "Revise"]),
    st.sampled_from(["", "  ", "\x0b"]),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(SPOILED, ENDS, VERDICTS, ENDS), min_size=1, max_size=6), TEXT)
def test_no_verdict_is_ever_touched(spoiled, rest):
    """Each stands between lines of which something is taken out."""
    text = "expense report\n" + "".join(part for four in spoiled for part in four) + rest
    clean, removed = cleanse(text)
    before, after = BREAK.split(text), BREAK.split(clean)
    verdict = re.compile(r"^\s*VERDICT:\s*(APPROVED|REVISE)\s*$", re.IGNORECASE | re.ASCII)
    stood = [(n, line) for n, line in enumerate(before) if verdict.match(line)]
    assert len(stood) >= len(spoiled) and removed[0].line == 1
    assert stood == [(n, line) for n, line in enumerate(after) if verdict.match(line)]


@given(TEXT)
def test_excess_lists_what_cleanse_takes_out(text):
    assert excess(text) == cleanse(text).removed


@pytest.mark.parametrize(
    "unit",
    [
        "a sentence about a strategy and its drawdown in the test split, with its risks.\n",
        "a sentence about a strategy and its drawdown without an end ",
        "memory cpu disk ",
        "memory at is at is now at ",
        "deploy v1 deploy v1 staging ",
        "node node pod pods restart",
        "\r",
        "VERDICT:",
        " ",
        "expense report\n",
        BEGIN + "\n",
        "password:\n",
        "\u03a3'",
        "invoice # invoice no. ",
        "draft write campaign newsletter ",
        "Keep the CPU at 60 %. ",
        "must the cpu at 9 % within ",
        "the a slo target is p95 response time ",
        "if when keep node unreachable; ",
        "invoice please tomorrow our ticket banner cpu ",
        "The cpu is down again. ",
        "ops-1 v1.2.3 #4412 ",
        "is is is overdue ",
        "on call on call ",
        "a-b-c-d-e-f-",
        "12 34 56 eur ",
    ],
)
def test_hostile_text_takes_linear_time(unit):
    """Quadratic rules would not be done with it before the suite's limit for a test."""
    text = unit * (1_000_000 // len(unit))
    assert cleanse(text).text.count("\n") == text.count("\n")
