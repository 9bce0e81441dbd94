"""A run before its first call: everything is resolved, planned and hashed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from moot.config.arbiter.bank import Bank
from moot.protocols.arbiter.generated import Hashes, PlannedTrial, ResolvedConfiguration
from moot.protocols.arbiter.hashes import config_sha256, plan_sha256
from moot.protocols.arbiter.plan import plan


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run before its first call.

    Attributes:
        config: With nothing left open.
        trials: The plan, by trial_id.
        hashes: What it is made from.
    """

    config: ResolvedConfiguration
    trials: tuple[PlannedTrial, ...]
    hashes: Hashes


def prepare(config: ResolvedConfiguration, bank: Bank) -> Prepared:
    """Draw the plan and take the hashes."""
    trials = tuple(plan(config))
    hashes = Hashes(
        config_sha256=config_sha256(config.as_json()),
        plan_sha256=plan_sha256(one.as_json() for one in trials),
        model_catalog_version=bank.catalog.catalog_version,
        model_catalog_sha256=bank.model_catalog_sha256,
        prompt_manifest_sha256=bank.prompt_manifest_sha256,
    )
    return Prepared(config, trials, hashes)


def run_id(now: datetime, chance: bytes) -> str:
    """Return the id of a run that begins now.

    Args:
        now: UTC.
        chance: Three random bytes, that runs of the same second differ.
    """
    return f"{now:%Y%m%dT%H%M%SZ}_{chance.hex()}"
