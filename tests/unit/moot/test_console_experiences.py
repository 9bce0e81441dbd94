"""The page's cards of what debates came to: figures as people read them."""

from datetime import UTC, datetime

from moot.console.page.experiences import facts_of
from moot.console.page.shelves import shown
from moot.memory.records import Experience, PrincipleRecord

AT = datetime(2026, 2, 23, 10, tzinfo=UTC)

FIGURES = {
    "alpha": 0.769706, "confidence": 0.915209, "risk": 0.409234, "extended": 1, "revised": 0,
    "first.param.allow_short": 1, "first.param.fast": 52, "first.param.target_vol": 0.32,
    "first.symbol.NASDAQ": 1, "first.symbol.SP500": 0,
    "param.allow_short": 0, "param.fast": 52, "param.exit_channel": 7, "param.target_vol": 0.2,
    "symbol.SIM-CHARLIE": 1, "symbol.SIM-FOXTROT": 0,
    "score.crowding_risk": 0.761972, "score.overfitting": 0.067431, "score.tail_risk": 0.9,
    "test_drawdown": 0.08581, "test_sharpe": 0.544525, "test_trades": 31, "train_sharpe": 0.458529,
    "validation_sharpe": 1.371945, "of_my_own": 3,
}  # fmt: skip


def test_figures_of_a_debate_read_as_people_say_them() -> None:
    assert facts_of(FIGURES) == [
        ("strategy", "SIM-FOXTROT, SIM-CHARLIE; long only; volatility at most 20 %; exit channel 7, fast 52"),
        ("as proposed", "SP500, NASDAQ; long and short; volatility at most 32 %; fast 52"),
        ("argued", "for it 0.77, against it 0.41, confidence 0.92"),
        ("course", "extended by a round"),
        ("risk scores", "tail risk 0.90, crowding risk 0.76, overfitting 0.067"),
        ("Sharpe ratio", "0.46 in train, 1.37 in validation, 0.54 in the test"),
        ("test", "drawdown 8.58 %, 31 trades"),
        ("figures", "of my own 3"),
    ]


def test_a_record_without_figures_has_no_facts_of_them() -> None:
    assert facts_of({}) == []


def test_a_card_of_memory_shows_no_name_that_programs_use() -> None:
    record = Experience(
        key="cau_001", seq=3, at=AT, happened_at=AT, kind="success", hypothesis_id="hyp_1", lineage_id="hyp_1",
        seat=None, archetype="momentum", failure_code=None, regime="calm_up", summary="It passed.", metrics=FIGURES,
    )  # fmt: skip
    facts = dict(shown(record)["facts"])
    assert facts["risk scores"].startswith("tail risk 0.90")
    assert "metrics" not in facts
    assert not [text for text in facts.values() if "param." in text or "score." in text or "symbol." in text]


def test_a_principle_shows_its_codes_in_words_and_its_instants_to_the_minute() -> None:
    card = shown(
        PrincipleRecord(
            key="prin_001",
            seq=447,
            at=AT,
            statement="Multi factor strategies keep failing.",
            evidence_count=4,
            confidence=0.375,
            source_reflections=("ref_001",),
            created=AT,
            last_validated=AT,
            archetype="multi_factor",
            failure_code="tail_risk",
            regime="calm_up",
        )
    )
    facts = dict(card["facts"])
    assert (facts["created"], facts["last validated"]) == ("2026-02-23 10:00", "2026-02-23 10:00")
    assert (facts["archetype"], facts["failure code"], facts["regime"]) == (
        "multi-factor",
        "tail risk",
        "calm up",
    )
