"""`pesky status`: where a study stands, who measures what, and what went wrong."""

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from pesky.cli.arguments import AsJson, LookedAt, StudyName

if TYPE_CHECKING:
    from pesky.cli.stored_study import Looked, Snapshot
    from pesky.data.slips import Unusual
    from pesky.store import Evaluation

LATEST = 3
"""Failures of which the reason is printed."""


def status(study: LookedAt, name: StudyName = None, json: AsJson = False) -> None:
    """Print counts per state, what is running and by whom, why evaluations failed, and what was spent."""
    from pesky.cli.consoles import console, say_json
    from pesky.cli.stored_study import Looked

    looked = Looked.of(study, name)
    kept = looked.read()
    if json:
        say_json(_plain(looked, kept))
        return
    screen = console()
    for line in _lines(looked, kept, time.time()):
        screen.print(line, soft_wrap=True)


def _counts(kept: "Snapshot") -> dict[str, int]:
    from pesky.store import State

    return {state.value: sum(e.state is state for e in kept.evaluations) for state in State}


def _plain(looked: "Looked", kept: "Snapshot") -> dict[str, object]:
    from pesky.data.formatting import noise_as_of_last_question
    from pesky.data.outliers import as_of_last_question
    from pesky.run.spending import spent
    from pesky.study.export import as_dict

    by_id = {e.id: e for e in kept.evaluations}
    noise_as_of, noise = noise_as_of_last_question(kept.evaluations) or (None, {})
    return {
        "study": looked.name,
        "storage": looked.shown,
        "counts": _counts(kept),
        "spent": spent(by_id, kept.problem),
        "outliers": [asdict(each) for each in as_of_last_question(kept.evaluations)],
        "far_beyond": [asdict(each) for each in _absurd(kept)],
        "noise": noise,
        "noise_as_of": noise_as_of,
        "budget": looked.budget.model_dump(),
        "set_aside": kept.set_aside,
        **{state: [as_dict(e) for e in _in(kept, state)] for state in ("running", "pending", "lost", "failed")},
    }


def _absurd(kept: "Snapshot") -> "list[Unusual]":
    """The values decades beyond all others that no model has left out."""
    from pesky.data.outliers import as_of_last_question
    from pesky.data.slips import absurd

    left_out = {(each.evaluation, each.outcome) for each in as_of_last_question(kept.evaluations)}
    return [each for each in absurd(kept.problem, kept.evaluations) if (each.evaluation, each.outcome) not in left_out]


def _in(kept: "Snapshot", state: str) -> "list[Evaluation]":
    return [e for e in kept.evaluations if e.state.value == state]


def _lines(looked: "Looked", kept: "Snapshot", now: float) -> Iterator[str]:
    from pesky.cli.format import values
    from pesky.data.formatting import first_line, noise_as_of_last_question, noise_in_words
    from pesky.data.outliers import as_of_last_question
    from pesky.run.spending import spent
    from pesky.store.transitions import counts
    from pesky.wording import counted, duration

    yield f"{looked.name} in {looked.shown}"
    yield ", ".join(f"{count} {state}" for state, count in _counts(kept).items() if count) or "nothing asked yet"
    for state in ("running", "pending"):
        for e in _in(kept, state):
            since = "" if e.began is None else f" for {duration(now - e.began)}"
            by = f", asked by {e.worker}" if e.worker else ""
            yield f"  {e.named} {e.task} {state}{since}{by}, at {values(e.params)}"
    for e in _in(kept, "lost"):
        yield f"  {e.named} {e.task} lost ({first_line(e.error) or 'no sign of life'}), to be asked again"
    failed = sorted(_in(kept, "failed"), key=lambda e: e.ended or 0.0)
    for e in failed[-LATEST:]:
        yield f"  {e.named} {e.task} failed: {first_line(e.error)}"
    if len(failed) > LATEST:
        yield f"  and {len(failed) - LATEST} more: pesky show {looked.again} --state failed"
    for each in as_of_last_question(kept.evaluations):
        yield f"  {each}; `pesky correct` or `pesky exclude` if it is wrong"
    for each in _absurd(kept):
        yield f"  {each.in_words}; `pesky correct` or `pesky exclude` if it is wrong"
    as_of, noise = noise_as_of_last_question(kept.evaluations) or (None, {})
    if noise:
        yield f"noise, which the file does not declare, as the values said at #{as_of}: {noise_in_words(noise)}"
    by_id = {e.id: e for e in kept.evaluations}
    costs = spent(by_id, kept.problem)
    for task, cost in costs.items():
        asked = sum(e.task == task and e.attempts > 0 for e in kept.evaluations)
        yield f"spent on {task}: {cost:.6g} in {counted(asked)}"
    asked = sum(map(counts, kept.evaluations))
    for what, used, limit in (
        ("evaluations", asked, looked.budget.evaluations), ("cost", sum(costs.values()), looked.budget.cost)
    ):  # fmt: skip
        if limit is not None:
            beyond = f", and {used - limit:.6g} beyond it" if used > limit else ""
            yield f"budget: {min(used, limit):.6g} of {limit:.6g} {what}{beyond}"
    if any(e.outcomes for e in kept.evaluations):
        to_ask = "STUDY.toml" if looked.file is None else looked.again
        yield (
            f"recommendation: `pesky recommend {looked.again}` says what it is, and whether it was measured; if not, "
            f"`pesky ask {to_ask} --confirm` asks for it"
        )
