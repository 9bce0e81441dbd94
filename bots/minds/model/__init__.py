"""The mind that a language model fills: view → prompt → call → typed body (K30).

* `mind`: `ModelMind`, for every seat whose bot posts typed messages.
* `writing`: the same for the seats of the Arena and of panels, whose shells make the messages.
* `asking`: one answer as a conversation: repairs, a larger cap, tools, and what is not asked again.
* `filling`: the form of a duty; `measured`: what of a message is no matter of opinion.
* `material`: what the model is shown, quoted so that nothing in it can pass for an instruction.
* `reviews`, `judging`: forms that are written as the grammars of the Arena and of panels read them.
* `toolkit`, `research`: what it may look up; all of it reads only.

What a prompt says is data, see `moot.config.prompts`. A model chooses words and figures of the form that it is given;
type, seat and channel come from the obligation.
"""
