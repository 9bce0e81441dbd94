"""How the messages of experiments read: one template a type. Data only.

The subject, the seat that speaks, is put in front. `moot.channels.showing.templates` explains the notation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDING: Final[Mapping[str, str]] = {
    "EXPERIMENT_STARTED": "says that {started_by.user_id} on {started_by.platform} has started {experiment_id}, a "
    "{mode} run of at most {k_planned|count:trial} ({protocol}) with {models|each}: {question}",
    "EXPERIMENT_BATCH": "has {k_attempted|count:trial} of {experiment_id} after batch {batch_number}"
    "[: {labels|each:label count}][; {novelty_rate|percent} of the batch new][; {clusters.cluster_count|count:cluster}]"
    "[; {tokens|unless:0} tokens[, {cost|micro}]][{should_stop|either:; it stops here: nothing new comes,}]",
    "EXPERIMENT_ENDED": "ends {experiment_id} after {k_attempted|count:trial}: {stop_reason|ended}"
    "[, stopped by {stopped_by.user_id} on {stopped_by.platform}][; {labels|each:label count}]"
    "[; {tokens|unless:0} tokens[, {cost|micro}]][ ({notes})]",
}

UNSHOWN: Final[Mapping[str, frozenset[str]]] = {
    "EXPERIMENT_STARTED": frozenset({"run_id", "silence_s", "config_sha256", "plan_sha256"}),
    "EXPERIMENT_BATCH": frozenset({"silence_s"}),
}
"""Fields that no card shows: the id says them, or they tell people nothing."""

DUTIES: Final[Mapping[str, str]] = {
    "running": "next batch of the run, or its end",
    "stopping": "end of the run",
}
"""What steps are called; `{n}` is the number behind their name."""
