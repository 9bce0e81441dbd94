"""The report of a run as one page of HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from moot.arbiter import telling
from moot.arbiter.pictures import LabelShare, cluster_map, cluster_sizes, convergence, label_shares, spending
from moot.arbiter.projection import project, sample
from moot.arbiter.reading import ReadRun, read_vectors
from moot.arbiter.summary import Example, Summary
from moot.channels.showing.wording import clean
from moot.protocols.arbiter.generated import ClusteredRow
from moot.reports import html
from moot.reports.drawing import Picture
from moot.reports.html import sentence, table, text

MOST_DRAWN: Final = 2_000
"""Answers on the map."""

MOST_BATCHES: Final = 200
"""Batches in a curve and in the table behind it."""

MOST_TEXT: Final = 8_000
"""Characters of a text."""

MOST_AT_ONCE: Final = 1_200
MOST_LINES: Final = 12
"""Characters and line ends of a text that is shown at once."""


def page(run: ReadRun, summary: Summary) -> str:
    """Write the report of a run.

    Args:
        run: As its folder tells it.
        summary: What it found.

    Raises:
        Faulty: Its embeddings cannot be read.
    """
    parts = [
        *_head(summary),
        '<div class="two">',
        *(html.figure(*one) for one in _pictures(run, summary)),
        "</div>",
    ]
    parts += [*_said(summary), *_asked(run, summary), *_went(summary)]
    return html.page(f"{clean(summary.question, 80)} · Arbiter", parts)


def _head(summary: Summary) -> Iterator[str]:
    yield f"<header><p class=kicker>Arbiter: one question, asked {summary.attempted:,} times</p>"
    yield f"<h1 dir=auto>{text(clean(summary.question, telling.MOST_QUESTION))}</h1>"
    yield f'<p class="state {summary.state}">{text(sentence(telling.ended(summary)))}</p>'
    yield f"<p class=soft>Run {text(telling.about(summary))}</p>"
    said = [sentence(summary.notes)] if summary.notes else []
    yield from (f"<p class=lacks>{text(line)}</p>" for line in (*said, *summary.remarks))
    yield "</header>"
    tiles = [("trials ended", f"{summary.attempted:,} of {summary.planned:,}")]
    found = summary.decisions
    if found is not None and found.trials and found.labels:
        first = max(found.labels, key=lambda one: one.trials)
        decided = "made no decision" if first.label is None else f"decided {telling.named(first.label)}"
        tiles.append((decided, telling.per_cent(first.share)))
    if summary.measured is not None and summary.measured.novelty_rate is not None:
        tiles.append(("new in the last batch", telling.per_cent(summary.measured.novelty_rate)))
    if summary.clusters is not None:
        tiles.append(("clusters", f"{summary.clusters.count:,}"))
    if summary.total_tokens is not None:
        tiles.append(("tokens", f"{summary.total_tokens:,}"))
    if summary.cost is not None:
        tiles.append(("spent", f"${telling.dollars(summary.cost)}"))
    yield html.tiles(tiles)


def _pictures(run: ReadRun, summary: Summary) -> Iterator[tuple[Picture, Sequence[str]]]:
    """Return each picture, with what is said beside it."""
    if (found := summary.decisions) is not None and found.trials:
        shares = [
            LabelShare(telling.named(one.label), one.trials, one.share, one.wilson, one.anytime)
            for one in found.labels
        ]
        lines = "Solid lines are intervals by Wilson, dashed ones anytime." if found.alpha else ""
        mode = f"{telling.mode(found)}." if found.alpha else ""
        yield label_shares(shares), [mode, telling.intervals(summary), lines]
    rows = [run.rows[n] for n in sample(len(run.rows), MOST_BATCHES)]
    if rows:
        policy = run.manifest.stop_policy
        curve = convergence(
            [row.k_attempted for row in rows],
            [row.novelty_rate for row in rows],
            [row.mean_max_sim_to_prior for row in rows],
            novelty_epsilon=policy.novelty_epsilon,
            similarity_threshold=policy.similarity_threshold,
        )
        yield curve, [f"New answers: {telling.settled(summary)}.", f"{telling.would_stop(summary)}."]
    clustered = [row for row in rows if isinstance(row, ClusteredRow)]
    if clustered and clustered[-1].cluster_count:
        sizes = cluster_sizes(
            [row.k_attempted for row in clustered], [row.cluster_distribution for row in clustered]
        )
        yield sizes, [f"Clusters: {telling.groups(summary)}."]
    yield from ((picture, [picture.told]) for picture in _map(run))
    ended = [one for one in run.trials if one.tokens is not None]
    if ended:
        yield (
            spending("Tokens", "tokens", list(accumulate(one.tokens or 0 for one in run.trials))),
            [telling.spent(summary)],
        )
    if any(one.cost is not None for one in run.trials):
        cost = spending("Cost", "$", list(accumulate(one.cost or 0.0 for one in run.trials)))
        yield cost, [cost.told]


def _map(run: ReadRun) -> Iterator[Picture]:
    vectors = read_vectors(run)
    if vectors is None or len(vectors.trial_ids) < 2:
        return
    drawn = sample(len(vectors.trial_ids), MOST_DRAWN)
    plane = project(vectors.rows[drawn])
    last = run.rows[-1] if run.rows else None
    trial_ids = [int(one) for one in vectors.trial_ids[drawn]]
    assigned = [run.assignments[one].cluster_id if one in run.assignments else None for one in trial_ids]
    yield cluster_map(
        [(float(x), float(y)) for x, y in plane.points],
        assigned,
        last.cluster_distribution if isinstance(last, ClusteredRow) else (),
        plane.explained,
    )


def _said(summary: Summary) -> Iterator[str]:
    if not (summary.rationales or summary.clusters or summary.examples):
        return
    yield "<section><h2>What was said</h2>"
    if summary.rationales:
        yield "<h3>Rationales</h3>"
        yield from map(_quote, summary.rationales)
    for one in summary.clusters.largest if summary.clusters else ():
        share = telling.per_cent(one.share)
        yield f"<h3>Cluster {one.cluster_id}: {one.size:,} answers, {share}</h3>"
        yield from map(_quote, one.examples)
    if summary.examples:
        yield "<h3>Answers</h3>"
        yield from map(_quote, summary.examples)
    yield "</section>"


def _asked(run: ReadRun, summary: Summary) -> Iterator[str]:
    sampling, protocol = run.config.sampling, run.config.protocol
    yield "<section><h2>What was asked</h2>"
    yield table(
        ("model", "weight", "trials", "failed", "tokens", "dollars"),
        [
            (
                one.model,
                "–" if one.weight is None else f"{one.weight:g}",
                f"{one.trials:,}",
                f"{one.trials - one.successes:,}",
                "–" if one.tokens is None else f"{one.tokens:,}",
                telling.dollars(one.cost),
            )
            for one in summary.models
        ],
    )
    prompts: list[tuple[str, str]] = []
    if len(summary.question) > telling.MOST_QUESTION:
        prompts.append(("The question, whole", summary.question))
    if protocol.panel is not None:
        contract = json.dumps(protocol.panel.contract, indent=2, ensure_ascii=False)
        prompts.append((f"Sprint contract {protocol.panel.contract['contract_id']}", contract))
    prompts += [(f"Persona {one.persona}", one.text) for one in sampling.personas]
    if protocol.type == "independent":
        prompts += [(f"Template {one.protocol}", one.text) for one in sampling.protocols]
    prompts += [(f"Instrument {one.instrument}", one.text) for one in sampling.instruments or ()]
    if protocol.prompts is not None:
        roles = (
            protocol.prompts.proposer_system,
            protocol.prompts.critic_system,
            protocol.prompts.proposer_final_system,
        )
        prompts += [(f"Role {one.id}", one.text) for one in roles]
    if protocol.decision_contract is not None:
        schema = json.dumps(protocol.decision_contract.schema_, indent=2, ensure_ascii=False)
        prompts.append((f"Contract {protocol.decision_contract.id}", schema))
    if sampling.decode is not None:
        prompts.append(("Decoding", json.dumps(sampling.decode.as_json(), indent=2)))
    for name, prompt in prompts:
        body = text(_cut(prompt)) or "<i>says nothing</i>"
        yield f"<details><summary>{text(name)}</summary><pre dir=auto>{body}</pre></details>"
    yield "<h3>Hashes</h3><dl class=hashes>"
    yield from (f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in summary.hashes.items())
    yield "</dl></section>"


def _went(summary: Summary) -> Iterator[str]:
    yield "<section><h2>How it went</h2><dl class=facts>"
    facts = [
        ("Trials", telling.trials(summary)),
        ("Replies", telling.replies(summary) or "none"),
        ("Policy", telling.policy(summary)),
        *((f"{count:,} times", clean(error)) for error, count in summary.errors),
    ]
    yield from (f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in facts)
    yield "</dl><details><summary>Files</summary>"
    yield table(
        ("file", "records"),
        [(path, "" if count is None else f"{count:,}") for path, count in summary.artifacts],
    )
    yield f"</details><p class=soft>Made from {text(summary.directory)}.</p></section>"


def _quote(one: Example) -> str:
    label = f", {telling.named(one.label)}" if one.label is not None else ""
    # A text of many lines is read in a box of its own, which a keyboard can scroll.
    is_long = len(one.text) > MOST_AT_ONCE or one.text.count("\n") > MOST_LINES
    box = ' class="long" tabindex="0"' if is_long else ""
    return (
        f"<figure class=quote><blockquote dir=auto{box}>{text(_cut(one.text))}</blockquote>"
        f"<figcaption>trial {one.trial_id}{text(label)}</figcaption></figure>"
    )


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…"
