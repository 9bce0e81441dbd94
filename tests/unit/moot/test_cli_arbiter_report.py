"""`moot arbiter report`: what a run found, told of whole, interrupted, killed, resolved and faulty runs."""

from __future__ import annotations

import base64
import json
import re
import shutil
import struct
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from moot.arbiter.certifying import Certifier
from moot.protocols.arbiter.generated import Configuration
from moot.statistics.wilson import wilson_interval
from tests.doubles.arbiter_answers import configured, kept, prepared
from tests.doubles.arbiter_files import changed
from tests.doubles.command_line import complaint, data, done, moot

HOSTILE = "</script><script>alert(1)</script>\x1b[31m\u202e\x00"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def without_contract(**execution: Any) -> Configuration:
    plain = configured(**execution).as_json()
    del plain["protocol"]["decision_contract"]
    return Configuration.from_json(json.dumps(plain))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Iterator[Path]:
    """Copy a run, to be changed."""
    yield Path(shutil.copytree(whole, tmp_path / "run"))


def test_a_run_is_told_in_80_columns_without_colours_or_in_colours(whole: Path) -> None:
    told = done("arbiter", "report", whole, COLUMNS="80")
    assert max(map(len, told.splitlines())) <= 80
    assert "\x1b" not in told
    for word in (
        "question",
        "end",
        "trials",
        "replies",
        "models",
        "spent",
        "policy",
        "decisions",
        "clusters",
    ):
        assert any(line.startswith(word) for line in told.splitlines()), word
    assert "\x1b[" in done("arbiter", "report", whole, NO_COLOR="", FORCE_COLOR="1")


def test_counts_are_those_of_the_files(whole: Path) -> None:
    found = data("arbiter", "report", whole)
    trials, parsed = lines_of(whole / "trials.jsonl"), lines_of(whole / "parsed.jsonl")
    rows = lines_of(whole / "convergence_trace.jsonl")
    for status in ("success", "error"):
        assert found["statuses"][status] == sum(one["status"] == status for one in trials) > 0
    for status in ("success", "fallback", "failed"):
        assert found["parse_statuses"][status] == sum(one["parse_status"] == status for one in parsed) > 0
    assert found["total_tokens"] == sum(one["usage"]["total_tokens"] for one in trials if "usage" in one)
    assert found["cost"] == pytest.approx(sum(one["usage"]["cost"] for one in trials if "usage" in one))
    assert sum(one["trials"] for one in found["models"]) == len(trials) == found["attempted"] == 96
    assert found["measured"]["novelty_rate"] == rows[-1]["novelty_rate"]
    assert found["errors"] == [["HTTP 500", found["statuses"]["error"]]]
    sizes = rows[-1]["cluster_distribution"]
    assert [one["size"] for one in found["clusters"]["largest"]] == sorted(sizes, reverse=True)[:3]
    assert found["state"] == "done"
    assert json.loads(done("arbiter", "report", whole, "--format", "json")) == found


def test_labels_have_shares_of_all_trials_and_their_wilson_intervals(whole: Path) -> None:
    found = data("arbiter", "report", whole)["decisions"]
    decided = [one for one in lines_of(whole / "parsed.jsonl") if one["parse_status"] == "success"]
    by_label = {one["label"]: one for one in found["labels"]}
    assert set(by_label) == {"yes", "no", None}
    assert sum(one["trials"] for one in found["labels"]) == found["trials"] == 96
    for label in ("yes", "no"):
        count = sum(one["outcome"] == label for one in decided)
        assert by_label[label]["trials"] == count
        assert by_label[label]["wilson"] == list(wilson_interval(count, 96, 0.05))
        assert by_label[label]["anytime"] is None
    assert found["mode"] is found["alpha"] is None


def test_a_certificate_adds_its_own_intervals_and_its_mode(run: Path) -> None:
    config = prepared(configured()).config
    certifier = Certifier(config, 0.05)
    kept(run.parent, configured(), run_id="same", subscribers=[certifier])
    certificate = certifier.certificate()
    (run / "certificate.json").write_text(json.dumps(certificate.as_json()), encoding="utf-8")
    found = data("arbiter", "report", run)["decisions"]
    yes = next(one for one in found["labels"] if one["label"] == "yes")
    assert yes["anytime"][0] < yes["wilson"][0] < yes["wilson"][1] < yes["anytime"][1]
    assert (found["mode"], found["alpha"]) == ("yes", 0.05)
    told = done("arbiter", "report", run)
    assert "Anytime ones hold together, whenever it stopped, at an error rate of 5 %" in told
    assert f"most frequent: yes, certain after {found['mode_at']} trials at an error rate of 5 %" in told


def test_top_bounds_rationales_clusters_and_texts(whole: Path) -> None:
    none, many = (
        data("arbiter", "report", whole, "--top", "0"),
        data("arbiter", "report", whole, "--top", "50"),
    )
    assert none["rationales"] == none["clusters"]["largest"] == none["errors"] == []
    assert len(many["clusters"]["largest"]) == many["clusters"]["count"]
    assert len(data("arbiter", "report", whole)["rationales"]) == 3
    labels = {one["label"] for one in data("arbiter", "report", whole, "--top", "2")["rationales"]}
    assert labels == {"yes", "no"}
    assert "'--top'" in complaint(2, "arbiter", "report", whole, "--top", "-1")


def test_an_interrupted_run_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    run = kept(tmp_path, stop_after_s=20)
    found = data("arbiter", "report", run)
    assert (found["state"], found["incomplete"]) == ("interrupted", True)
    assert 0 < found["attempted"] < found["planned"] == 96
    told = done("arbiter", "report", run)
    assert f"interrupted by hand after {found['attempted']} of 96 trials" in told
    assert "a guide only" in told


def test_a_trial_that_the_end_cut_short_is_no_trial_without_a_decision(tmp_path: Path) -> None:
    run = kept(tmp_path, stop_after_s=20.5, asked=2)
    trials = lines_of(run / "trials.jsonl")
    cut = sum(one["error_code"] == "shutdown_abort" for one in trials)
    found = data("arbiter", "report", run)
    assert cut > 0
    assert found["decisions"]["trials"] == len(trials) - cut == found["attempted"] - cut
    assert sum(one["trials"] for one in found["decisions"]["labels"]) == len(trials) - cut


def test_a_run_that_was_killed_or_goes_on_lacks_what_was_not_written(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest.update(incomplete=True, stop_reason="completed")
    (run / "manifest.json").write_text(json.dumps(manifest))
    for name in ("aggregates.json", "clusters/online.state.json", "embeddings.arrow", "parsed.jsonl"):
        (run / name).unlink()
    trials = (run / "trials.jsonl").read_bytes()
    (run / "trials.jsonl").write_bytes(trials[: len(trials) // 2 + 7])
    found = data("arbiter", "report", run)
    assert found["state"] == "unfinished"
    assert found["remarks"] == [
        "trials.jsonl: its last line is cut off, and left out",
        "parsed.jsonl: there is no such file",
    ]
    assert 0 < found["attempted"] < 96
    assert {count for _, count in found["artifacts"]} == {None}
    assert "it goes on, or was killed" in done("arbiter", "report", run)


def test_a_run_that_ended_before_its_plan_says_why_and_that_wilson_is_a_guide(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    for reason, state in (("completed", "settled"), ("converged", "converged"), ("error", "failed")):
        notes = {"notes": "the disk is full"} if reason == "error" else {}
        changed = {**manifest, "stop_reason": reason, "k_planned": 200, **notes}
        (run / "manifest.json").write_text(json.dumps(changed))
        assert data("arbiter", "report", run)["state"] == state
        told = done("arbiter", "report", run)
        assert "after 96 of 200 trials" in told
        assert "a guide only" in told
        assert ("the disk is full" in told) is (state == "failed")


def test_the_run_of_which_docs_show_a_picture_can_be_carried_out(tmp_path: Path) -> None:
    config = Path(__file__).parents[3] / "docs" / "how-to" / "arbiter" / "sundays.json"
    found = data("arbiter", "report", data("arbiter", "mock-run", config, "--out", tmp_path)["path"])
    assert (found["planned"], found["attempted"], found["decisions"]) == (48, 48, None)


@pytest.mark.parametrize("template", ["quickstart", "debate"])
def test_a_mock_run_is_told_as_made_up_and_one_that_asked_models_is_not(
    whole: Path, tmp_path: Path, template: str
) -> None:
    config = tmp_path / "run.json"
    done("arbiter", "init", "Tea?", "--template", template, "--out", config)
    run = data("arbiter", "mock-run", config, "--out", tmp_path / "runs")["path"]
    found = data("arbiter", "report", run)
    assert found["embedded_by"] is None
    assert "notes       a mock run: no model was asked" in done("arbiter", "report", run)
    text = paged(Path(run), tmp_path / "page.html")
    assert "A mock run: no model was asked" in text and "made no decision" in text
    assert "mock" not in done("arbiter", "report", whole)
    assert "embedded by scripted/bag-of-words" in done("arbiter", "report", whole)


def test_a_run_that_was_only_resolved_says_that_nobody_was_asked(tmp_path: Path) -> None:
    config = tmp_path / "run.json"
    done("arbiter", "init", "Tea?", "--out", config)
    run = data("arbiter", "resolve", config, "--out", tmp_path / "runs")["path"]
    found = data("arbiter", "report", run)
    assert (found["state"], found["attempted"], found["measured"]) == ("resolved", 0, None)
    assert found["decisions"] is None
    assert "nobody was asked" in done("arbiter", "report", run)


def test_a_run_without_a_contract_has_answers_and_no_decisions(tmp_path: Path) -> None:
    config = without_contract(k_max=12)
    found = data(
        "arbiter", "report", kept(tmp_path, config, answers=lambda trial_id, model: f"It is {trial_id % 2}.")
    )
    assert found["decisions"] is None
    assert found["clusters"]["largest"][0]["examples"][0]["text"].startswith("It is ")


def test_a_run_without_embeddings_shows_texts_of_any_trial(tmp_path: Path) -> None:
    found = data("arbiter", "report", kept(tmp_path, answers=lambda trial_id, model: " "))
    assert found["clusters"] is None
    assert found["measured"] == {
        "novelty_rate": None,
        "mean_max_sim_to_prior": None,
        "trend": None,
        "delta": None,
        "would_stop_at": None,
    }
    assert found["decisions"]["labels"][-1]["trials"] == 96
    assert "no answer of it was embedded" in done("arbiter", "report", tmp_path / found["run_id"])


def test_a_hostile_text_cannot_reach_the_terminal(hostile: Path) -> None:
    told = done("arbiter", "report", hostile)
    assert "alert(1)" in told
    assert not {"\x1b", "\u202e", "\x00"} & set(told)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep a run in which whatever a model or a user may word would break out of a page."""
    plain = without_contract(k_max=4, batch_size=4).as_json()
    plain["question"]["text"] = HOSTILE
    plain["sampling"]["personas"] = [{"persona": HOSTILE, "weight": 1, "text": HOSTILE}]
    config = Configuration.from_json(json.dumps(plain))
    return kept(
        tmp_path_factory.mktemp("hostile"), config, answers=lambda trial_id, model: f"{HOSTILE} {trial_id}"
    )


class Tags(HTMLParser):
    """Takes a page apart.

    Attributes:
        names: Of its elements.
        attributes: All of them: name, value.
        opened: Elements that are not closed yet; none at the end.
    """

    VOID = ("meta",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.opened: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


def paged(run: Path, out: Path, *more: str) -> str:
    assert f"page        {out}" in done("arbiter", "report", run, "--html", out, *more)
    return out.read_text(encoding="utf-8")


def test_a_page_stands_alone_and_no_text_breaks_out_of_it(hostile: Path, whole: Path, tmp_path: Path) -> None:
    for run in (hostile, whole):
        text = paged(run, tmp_path / "page.html")
        found = Tags(text)
        assert not found.opened
        assert not {"script", "link", "img", "iframe", "object", "base", "form"} & found.names
        assert not {name for name, _ in found.attributes if name in ("src", "href") or name.startswith("on")}
        assert not re.search(r"url\(|@import", text)
        assert not {"\x1b", "\u202e", "\x00"} & set(text)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in paged(hostile, tmp_path / "page.html")


def test_a_page_shows_every_picture_with_words_and_a_table_behind_it(whole: Path, tmp_path: Path) -> None:
    text = paged(whole, tmp_path / "page.html")
    titles = ("Decisions", "Convergence", "Clusters over batches", "Map of the answers", "Tokens", "Cost")
    for title in titles:
        assert f"<h2>{title}</h2>" in text
        assert f"<summary>{title} in numbers</summary>" in text
    assert text.count('role="img"') == len(titles) - 1
    found = data("arbiter", "report", whole)
    for words in (
        *found["hashes"].values(),
        "persona_skeptic",
        found["rationales"][0]["text"],
        "binary_decision_v1",
    ):
        assert words.replace("'", "&#x27;") in text, words


def test_a_page_of_a_run_without_trials_embeddings_or_end_is_whole_all_the_same(
    run: Path, tmp_path: Path
) -> None:
    config = tmp_path / "run.json"
    done("arbiter", "init", "Tea?", "--out", config)
    resolved = Path(data("arbiter", "resolve", config, "--out", tmp_path / "runs")["path"])
    for name in ("embeddings.arrow", "clusters/online.state.json"):
        (run / name).unlink()
    for one in (resolved, run):
        text = paged(one, tmp_path / "page.html")
        assert not Tags(text).opened
        assert "Map of the answers" not in text


def test_a_page_that_cannot_be_written_or_embeddings_that_cannot_be_read_are_one_line(run: Path) -> None:
    assert "cannot be written" in complaint(
        1, "arbiter", "report", run, "--html", run / "nowhere" / "page.html"
    )
    (run / "embeddings.arrow").write_bytes(b"ARROW1 but no more")
    assert "embeddings.arrow: cannot be read" in complaint(
        1, "arbiter", "report", run, "--html", run / "page.html"
    )


def test_the_map_draws_what_a_killed_run_had_embedded(run: Path, tmp_path: Path) -> None:
    (run / "embeddings.arrow").unlink()
    (run / "debug").mkdir()
    vector = base64.b64encode(struct.pack("<3f", 1, 2, 3)).decode()
    line = {
        "embedding_status": "success",
        "vector_b64": vector,
        "dtype": "float32",
        "encoding": "float32le_base64",
        "dimensions": 3,
        "embed_text_sha256": "0" * 64,
        "embed_text_truncated": False,
        "embed_text_original_chars": 1,
        "embed_text_final_chars": 1,
        "truncation_reason": None,
    }
    text = "".join(json.dumps({"trial_id": n, **line}) + "\n" for n in (1, 0))
    (run / "debug" / "embeddings.jsonl").write_text(f'{text}{{"trial_id": 2, "embedd', encoding="utf-8")
    assert "2 answers by their first two principal components" in paged(run, tmp_path / "page.html")


def spoil(path: Path, number: int, text: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[number - 1] = text + "\n"
    path.write_text("".join(lines), encoding="utf-8")


def test_what_is_no_run_or_a_faulty_one_is_refused_in_one_line(run: Path, tmp_path: Path) -> None:
    assert "there is no such folder" in complaint(1, "arbiter", "report", tmp_path / "nowhere")
    assert "it holds no manifest.json" in complaint(1, "arbiter", "report", tmp_path)
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({**manifest, "schema_version": "2.0.0"}))
    assert "is of schema version '2.0.0', and this Moot reads 1.0.0" in complaint(1, "arbiter", "report", run)
    (run / "manifest.json").write_text(json.dumps(manifest))
    spoil(run / "trials.jsonl", 7, '{"trial_id": -1}')
    assert "trials.jsonl, line 7: " in complaint(1, "arbiter", "report", run)
    spoil(run / "trials.jsonl", 7, "{")
    assert "trials.jsonl, line 7: is not JSON" in complaint(1, "arbiter", "report", run)
    (run / "trials.jsonl").unlink()
    assert "there is no such file, though the run is complete" in complaint(1, "arbiter", "report", run)
    (run / "config.resolved.json").unlink()
    assert "config.resolved.json: there is no such file" in complaint(1, "arbiter", "report", run)


def test_a_faulty_row_of_the_trace_is_refused_by_what_it_was_meant_to_be(run: Path) -> None:
    spoil(run / "convergence_trace.jsonl", 2, '{"batch_number": 1, "cluster_count": "x"}')
    line = complaint(1, "arbiter", "report", run)
    assert "convergence_trace.jsonl, line 2: " in line
    assert moot("arbiter", "report", run).stdout == ""


@pytest.mark.parametrize(
    ("rates", "trend"),
    [
        ([0.5, 0.509], "flat"),
        ([0.5, 0.51], "rising"),
        ([0.5, 0.4], "falling"),
        ([0.5], None),
        ([0.5, None], None),
    ],
)
def test_the_trend_is_that_of_the_last_two_batches(
    run: Path, rates: list[float | None], trend: str | None
) -> None:
    rows = lines_of(run / "convergence_trace.jsonl")[: len(rates)]
    for row, rate in zip(rows, rates, strict=True):
        row["novelty_rate"] = rate
    (run / "convergence_trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert data("arbiter", "report", run)["measured"]["trend"] == trend


def test_a_question_that_is_a_whole_work_is_cut_in_the_headline_and_stands_whole_below(
    tmp_path: Path,
) -> None:
    config = tmp_path / "run.json"
    done("arbiter", "init", "--out", config)
    work = "\n".join(f"Paragraph {n} of a work that a panel judges." for n in range(40))
    changed(config, lambda plain: plain["question"].update(text=work))
    changed(
        config,
        lambda plain: plain.update(
            protocol={"type": "moot:panel", "decision_contract": {"id": "editorial_decision_v1"}}
        ),
    )
    changed(config, lambda plain: plain["execution"].update(k_max=1, k_min=0, batch_size=1))
    run = data("arbiter", "mock-run", config, "--out", tmp_path / "runs")["path"]
    told = done("arbiter", "report", run, "--html", tmp_path / "page.html")
    assert max(map(len, told.splitlines()[:1])) < 260
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Paragraph 39" not in page[: page.index("</h1>")] and "Paragraph 39" in page
    assert "Sprint contract reviewer/reviewer_full/v1" in page
    assert "simulated minds spoke" in page
