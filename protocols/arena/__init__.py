"""Arena Protocol v2: Planner, Reviewer and Finalizer refine a task under an Orchestrator (spec arena-protocol-v2)."""
