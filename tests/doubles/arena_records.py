"""Good audit records of the Arena, written by hand: none of Moot's own code makes them."""

from __future__ import annotations

import hashlib
from typing import Any

Json = dict[str, Any]

SESSION = "reviewer-session-7"
PROMPT = "Refine the rule that sizes a position by its volatility."
TERMINAL = ("TERMINATED_APPROVED", "TERMINATED_MAX_ROUNDS", "TERMINATED_ERROR")


class Story:
    """Tells a run, line by line, as its record. Each line is a second later."""

    def __init__(
        self,
        *,
        max_rounds: int = 5,
        is_enabled: bool = True,
        is_required: bool = False,
        is_bare: bool = False,
    ) -> None:
        """Start.

        Args:
            max_rounds: The cap.
            is_enabled: Whether there is a notebook.
            is_required: Whether the task requires it.
            is_bare: Whether only the events of section 11 are told, as another implementation may.
        """
        self.is_bare = is_bare
        self.second = 0
        self.state = "INIT"
        self.n = 0
        self.attempt = 1
        self.left: list[Json] = []
        self.evidence: list[str] = []
        self.critiques: list[str] = []
        self.record: Json = {
            "config": {
                "max_rounds": max_rounds,
                "session_resume_required": True,
                "reviewer_mode": "read-only",
                "notebook_enabled": is_enabled,
            },
            "task": {
                "task_id": "task-1",
                "initial_prompt": PROMPT,
                "session_id": SESSION,
                "round_history_refs": [],
                "notebook_required": is_required,
            },
            "notebook": {
                "notebook_id": "nb-1",
                "profile": "auto",
                "tools": ["notebook_describe", "notebook_query"],
            }
            if is_enabled
            else None,
            "transitions": [],
            "rounds": [],
            "hooks": [],
            "events": [],
            "parser": [],
            "artifacts": {},
            "terminal_state": None,
            "terminal_reason": None,
            "final_output": None,
        }
        self.event("RUN_STARTED", run_id="run-1")
        if not is_enabled:
            for phase in ("before", "during", "after"):
                self.hook("SKIPPED_DISABLED", phase, "", ())

    @property
    def at(self) -> str:
        return f"2026-02-23T10:{self.second // 60:02}:{self.second % 60:02}Z"

    def event(self, kind: str, **data: Any) -> None:
        required = kind in (
            "RUN_STARTED",
            "STATE_TRANSITION",
            "ROUND_RECORDED",
            "HOOK_EXECUTED",
            "RUN_TERMINATED",
        )
        if self.is_bare and not (required or kind.startswith("PARSER_")):
            return
        self.second += 1
        self.record["events"].append({"type": kind, "at": self.at, "data": data})

    def to(self, state: str, reason: str = "as the table says") -> None:
        before, self.state = self.state, state
        self.event("STATE_TRANSITION", **{"from": before, "to": state, "reason": reason})
        self.record["transitions"].append({"from": before, "to": state, "at": self.at, "reason": reason})

    def keep(self, name: str, text: str) -> str:
        ref = f"{name}/sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        self.record["artifacts"][ref] = text
        return ref

    def hook(
        self, status: str, phase: str, query: str = "what is known of it", refs: tuple[str, ...] = ()
    ) -> None:
        result = {"phase": phase, "query": query, "evidence_refs": list(refs), "status": status}
        self.record["hooks"].append(result)
        attempt = self.attempt if phase == "during" else min(self.n, 1)
        self.event(
            "HOOK_EXECUTED",
            phase=phase,
            status=status,
            round_index=self.n,
            attempt=attempt,
            evidence_refs=list(refs),
            why="",
        )
        if status == "SUCCESS":
            self.evidence += [ref for ref in refs if ref not in self.evidence]

    def seed(self, status: str = "SUCCESS", refs: tuple[str, ...] = ("nb-1#p1",)) -> None:
        self.to("SEEDING")
        self.hook(status, "before", refs=refs)

    def draft(self) -> None:
        self.to("DRAFTING")
        self.n, self.attempt = self.n + 1, 1
        self.event(
            "PLANNER_INVOKED",
            round_index=self.n,
            prior_critiques=list(self.critiques),
            evidence_refs=list(self.evidence),
        )
        self.draft_ref = self.keep(
            f"round-{self.n}/draft", f"Draft {self.n}: halve it when volatility doubles."
        )
        self.to("REVIEWING")
        self.invoke()

    def invoke(self) -> None:
        self.event(
            "REVIEWER_INVOKED",
            round_index=self.n,
            attempt=self.attempt,
            mode="read-only",
            session_id=SESSION,
            resume_ref=f"link-{self.n}-{self.attempt}",
            resumed_round=self.n - 1,
            unresolved=[issue["id"] for issue in self.left],
        )

    def parse(self, text: str, verdict: str | None, line: int | None, code: str | None = None) -> None:
        """Parse a review; what the parser finds is written by hand, too."""
        self.review_ref = self.keep(f"round-{self.n}/review-{self.attempt}", text)
        self.record["parser"].append(
            {
                "round_index": self.n,
                "attempt": self.attempt,
                "output_ref": self.review_ref,
                "code": code,
                "line": line,
                "verdict": verdict,
            }
        )
        said: Json = {"code": code, "round_index": self.n, "attempt": self.attempt}
        if code == "PARSER_WARNING_MULTIPLE_VERDICTS":
            self.event("PARSER_WARNING", **said, matches=2)
        elif code is not None:
            self.event("PARSER_ERROR", **said, output_ref=self.review_ref)

    def retry(self) -> None:
        self.attempt = 2
        self.event("REVIEWER_RETRIED", round_index=self.n, attempt=2)
        self.invoke()

    def decide(self, verdict: str, *issues: Json) -> None:
        self.event("ROUND_RECORDED", round_index=self.n, verdict=verdict)
        self.record["rounds"].append(
            {
                "round_index": self.n,
                "planner_output_ref": self.draft_ref,
                "reviewer_output_ref": self.review_ref,
                "verdict": verdict,
                "issues": list(issues),
                "timestamp": self.at,
            }
        )
        self.critiques.append(self.review_ref)
        self.left = [issue for issue in issues if issue["kind"] != "evidence"]
        self.to("FINALIZING" if verdict == "APPROVED" else "REVISING")

    def finalizer(self) -> None:
        is_best_effort = self.state == "REVISING"
        unresolved = [{"id": one["id"], "text": one["text"]} for one in self.left] if is_best_effort else []
        self.event("FINALIZER_INVOKED", unresolved=unresolved, is_best_effort=is_best_effort)

    def final(self, text: str) -> None:
        self.keep("final", text)
        self.record["final_output"] = text

    def end(self, state: str, reason: str) -> Json:
        self.to(state, reason)
        self.record.update(terminal_state=state, terminal_reason=reason)
        self.event("RUN_TERMINATED", state=state, reason=reason)
        return self.record


def issue(n: int, at: int, kind: str, text: str, claim: str | None = None, ref: str | None = None) -> Json:
    return {"id": f"r{n}-{at}", "kind": kind, "text": text, "claim": claim, "evidence_ref": ref}


def approved_at_once(*, is_bare: bool = False) -> Json:
    """T01."""
    story = Story(is_bare=is_bare)
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during", refs=("nb-1#p2",))
    story.parse("It holds, see nb-1#p2.\nVERDICT: APPROVED\n", "APPROVED", 2)
    return approve(story)


def approve(story: Story) -> Json:
    story.decide("APPROVED")
    story.finalizer()
    if story.record["config"]["notebook_enabled"]:
        story.hook("SUCCESS", "after", "does the final text drift from the evidence?", ("nb-1#p9",))
    story.final("Halve the position whenever volatility doubles.")
    return story.end("TERMINATED_APPROVED", "APPROVED: approved, the final output stands")


def revised_then_approved() -> Json:
    """T02, T07 and T09."""
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during", refs=("nb-1#p2", "nb-1#p3"))
    story.parse("- say what doubles\nnb-1#p2 says so.\r\nVERDICT: REVISE", "REVISE", 3)
    story.decide(
        "REVISE",
        issue(1, 1, "issue", "say what doubles"),
        issue(1, 2, "contradiction", "contradiction: it is daily (nb-1#p2)", "it is daily", "nb-1#p2"),
        issue(1, 3, "evidence", "evidence consulted: nb-1#p3", None, "nb-1#p3"),
    )
    story.draft()
    story.hook("SUCCESS", "during", refs=("nb-1#p4",))
    story.parse("RATIONALE: nb-1#p4 settles it.\n verdict: approveD \t\n\n", "APPROVED", 2)
    return approve(story)


def capped(max_rounds: int = 3) -> Json:
    """T03."""
    story = Story(max_rounds=max_rounds)
    story.seed()
    for n in range(1, max_rounds + 1):
        story.draft()
        story.hook("SUCCESS", "during", refs=(f"nb-1#r{n}",))
        story.parse(f"nb-1#r{n}: not yet.\nVERDICT: REVISE\n", "REVISE", 2)
        story.decide("REVISE", issue(n, 1, "unnamed", "the review asks for a revision and names no item"))
    story.finalizer()
    story.hook("SUCCESS", "after", "does the best effort drift?")
    story.final("Halve it. Unresolved: r3-1, the review names no item.")
    return story.end("TERMINATED_MAX_ROUNDS", f"MAX_ROUNDS: round {max_rounds} still asks for a revision")


def verdict_missing_twice() -> Json:
    """T04."""
    story = Story()
    story.seed()
    story.draft()
    for _ in range(2):
        story.hook("SUCCESS", "during", refs=("nb-1#p2",))
        story.parse(f"Review {story.attempt}: I like it.", None, None, "PARSER_ERROR_MISSING_VERDICT")
        if story.attempt == 1:
            story.retry()
        else:
            break
    return story.end("TERMINATED_ERROR", "PARSER_ERROR_MISSING_VERDICT: neither review has a verdict line")


def retried_then_approved() -> Json:
    """The retry of T04 helps."""
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during", refs=("nb-1#p2",))
    story.parse("I like it.", None, None, "PARSER_ERROR_MISSING_VERDICT")
    story.retry()
    story.hook("SUCCESS", "during", refs=("nb-1#p2",))
    story.parse("nb-1#p2 bears it out.\nVERDICT: APPROVED", "APPROVED", 2)
    return approve(story)


def two_verdict_lines() -> Json:
    """T05."""
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during")
    story.parse(
        "VERDICT: REVISE\nNo, on second thoughts:\nVERDICT: APPROVED\n",
        "APPROVED",
        3,
        "PARSER_WARNING_MULTIPLE_VERDICTS",
    )
    return approve(story)


def degraded() -> Json:
    """T08, optional: the notebook fails in each phase and the run goes on."""
    story = Story()
    story.seed("SKIPPED_DEGRADED", ())
    story.draft()
    story.hook("SKIPPED_DEGRADED", "during")
    story.parse("VERDICT: APPROVED", "APPROVED", 1)
    story.decide("APPROVED")
    story.finalizer()
    story.hook("SKIPPED_DEGRADED", "after")
    story.final("Halve it.")
    return story.end("TERMINATED_APPROVED", "APPROVED: approved, the final output stands")


def required_and_failed(phase: str) -> Json:
    """T08, required: the notebook fails in one phase and ends the run (R-A3)."""
    story = Story(max_rounds=1, is_required=True)
    reason = f"NOTEBOOK_UNAVAILABLE: the task requires the notebook, and {phase} the loop it was silent"
    story.seed("FAILED" if phase == "before" else "SUCCESS", ())
    if phase == "before":
        return story.end("TERMINATED_ERROR", reason)
    story.draft()
    story.hook("FAILED" if phase == "during" else "SUCCESS", "during")
    if phase == "during":
        return story.end("TERMINATED_ERROR", reason)
    story.parse("- more\nVERDICT: REVISE", "REVISE", 2)
    story.decide("REVISE", issue(1, 1, "issue", "more"))
    story.finalizer()
    story.hook("FAILED", "after")
    return story.end("TERMINATED_ERROR", reason)


def write_blocked() -> Json:
    """T11: the Reviewer tries to write (R-A7)."""
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during", refs=("nb-1#p2",))
    story.event("SAFETY_VIOLATION", seat="reviewer", tool="write_file", detail="notes.md", round_index=1)
    return story.end("TERMINATED_ERROR", "SAFETY_VIOLATION: the Reviewer tried to write, it was blocked")


def session_gone() -> Json:
    """T09: there is no session to resume in round 2."""
    story = Story()
    story.seed()
    story.draft()
    story.hook("SUCCESS", "during")
    story.parse("1. more\nVERDICT: REVISE", "REVISE", 2)
    story.decide("REVISE", issue(1, 1, "issue", "more"))
    story.draft()
    story.hook("SUCCESS", "during")
    story.event("SESSION_RESUME_MISSING", round_index=2, session_id=SESSION)
    return story.end("TERMINATED_ERROR", "SESSION_RESUME_MISSING: the session cannot be resumed")


def without_notebook() -> Json:
    """The notebook is disabled (R-A6)."""
    story = Story(is_enabled=False, max_rounds=2)
    story.draft()
    story.parse("- more\nVERDICT: REVISE\nand so on", "REVISE", 2)
    story.decide("REVISE", issue(1, 1, "issue", "more"))
    story.draft()
    story.parse("VERDICT: APPROVED", "APPROVED", 1)
    return approve(story)


def config_refused() -> Json:
    """An invalid config (6.2)."""
    story = Story()
    story.record["config"]["max_rounds"] = 9
    return story.end("TERMINATED_ERROR", "CONFIG_INVALID: the config is invalid: max_rounds: at most 5")


def session_refused() -> Json:
    """A task without a session (6.3)."""
    story = Story()
    story.record["task"]["session_id"] = " "
    return story.end("TERMINATED_ERROR", "SESSION_ID_MISSING: the task has no valid session_id")


def good_records() -> dict[str, Json]:
    """Return each good record by its name; fresh ones at every call."""
    return {
        "T01": approved_at_once(),
        "T01 bare": approved_at_once(is_bare=True),
        "T02": revised_then_approved(),
        "T03": capped(),
        "T04": verdict_missing_twice(),
        "T04 helped": retried_then_approved(),
        "T05": two_verdict_lines(),
        "T08 degraded": degraded(),
        "T08 before": required_and_failed("before"),
        "T08 during": required_and_failed("during"),
        "T08 after": required_and_failed("after"),
        "T09": session_gone(),
        "T11": write_blocked(),
        "no notebook": without_notebook(),
        "bad config": config_refused(),
        "no session": session_refused(),
    }
