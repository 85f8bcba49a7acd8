"""The dashboard of a run: how far it is, the best so far, what each task told and cost, and what runs now."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich import box
from rich.console import RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pesky.cli.format import exact, values
from pesky.cli.log_view import stopping
from pesky.data.formatting import first_line
from pesky.store import Evaluation, State
from pesky.text import one_line
from pesky.wording import duration

if TYPE_CHECKING:
    from pesky.study import Progress, Recommendation

Rows = list[tuple[str | Text, RenderableType]]
"""Labels, and what they label."""

SHOWN = 8
"""Running evaluations that are listed."""


@dataclass
class DashboardState:
    """What the dashboard shows of a run."""

    storage: str
    progress: "Progress | None" = None
    best: "Recommendation | None" = None
    trouble: str | None = None
    asked: dict[str, int] = field(default_factory=dict)
    """How often each task was asked."""
    gains: dict[str, float] = field(default_factory=dict)
    """What the last question of each task was expected to tell, in nats."""
    failure: Evaluation | None = None
    """The latest failure."""
    has_grounds: bool = False
    """Whether a recommendation can be made."""

    def take(self, progress: "Progress") -> None:
        """Remember where the run stands."""
        evaluations = [e for e in progress.study.evaluations.values() if not e.is_yours]
        self.asked = {task: sum(e.task == task for e in evaluations) for task in progress.study.problem.tasks}
        self.gains = {e.task: e.gain for e in evaluations if e.gain is not None}
        failed = [e for e in evaluations if e.state is State.FAILED]
        self.failure = max(failed, key=lambda e: e.ended or 0.0, default=None)
        inferred = set(progress.study.problem.grounds)
        self.has_grounds = any(e.outcomes.keys() & inferred for e in progress.study.evaluations.values())
        self.progress = progress


def dashboard(state: DashboardState, now: float) -> RenderableType:
    """What to print at a time, in seconds since 1970."""
    progress = state.progress
    if progress is None:
        return Text("starting ...", style="dim")
    problem = progress.study.problem
    goal = f"minimize {problem.minimize}" if problem.maximize is None else f"maximize {problem.maximize}"
    rows = Table.grid(padding=(0, 2, 0, 0), expand=True)
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(ratio=1)
    for part in (_limits(progress), _best(state), _tasks(state, progress), _running(progress, now), _counts(state)):
        if rows.row_count and part:
            rows.add_row()
        for label, content in part:
            rows.add_row(label, content)
    return Panel(
        rows,
        title=Text.assemble((one_line(progress.study.name), "bold"), f": {goal}"),
        subtitle=Text(one_line(state.storage), style="dim"),
        title_align="left",
        subtitle_align="right",
        box=box.ROUNDED,
        border_style="yellow" if progress.state == "stopping" else "blue",
    )


def _limits(progress: "Progress") -> Rows:
    """A bar for each limit of the budget; evaluations and time also without one."""
    budget, cost, count = progress.budget, sum(progress.spent.values()), progress.done + progress.failed
    time, end = duration(progress.seconds), duration(budget.seconds or 0)
    return [
        ("evaluations", _bar(count, budget.evaluations, str(count), f"{count} of {budget.evaluations}")),
        *([] if budget.cost is None else [("cost", _bar(cost, budget.cost, "", f"{cost:.4g} of {budget.cost:.4g}"))]),
        ("time", _bar(progress.seconds, budget.seconds, time, f"{time} of {end}")),
        *([] if budget.gain_per_cost is None else [("gain", f"ends below {budget.gain_per_cost:g} nats per cost")]),
    ]


def _bar(now: float, limit: float | None, plain: str, text: str) -> RenderableType:
    if limit is None:
        return Text(plain)
    bar = Table.grid(padding=(0, 2, 0, 0), expand=True)
    bar.add_column(ratio=1)
    bar.add_column(justify="right", no_wrap=True, min_width=12)
    bar.add_row(ProgressBar(limit, min(now, limit), complete_style="blue"), text)
    return bar


def _value(best: "Recommendation") -> str:
    """The objective as it was measured, or what is expected of it."""
    if best.is_measured and not best.deviation:
        return f"{exact(best.expected)} measured"
    return f"{exact(best.expected)} ± {best.deviation:.2g} expected" + (
        "" if best.is_measured else ", not measured yet"
    )


def _best(state: DashboardState) -> Rows:
    best = state.best
    if best is None:
        return [("best so far", Text(first_line(state.trouble) or "not known yet", style="dim"))]
    sure = ("best so far", "bold green") if best.is_confident else ("likeliest", "bold yellow")
    held = Text("   ").join(Text(f"P({text}) = {p:.3f}") for text, p in best.probabilities.items())
    return [
        (Text(*sure), Text(f"{best.objective} = {_value(best)}", style="bold")),
        ("", Text(values(best.params))),
        *([("", held)] if best.probabilities else []),
    ]


def _tasks(state: DashboardState, progress: "Progress") -> Rows:
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="dim", show_edge=False)
    table.add_column("task")
    for heading in ("asked", "spent", "last gain (nats)"):
        table.add_column(heading, justify="right")
    for task in progress.study.problem.tasks:
        gain = state.gains.get(task)
        cost = f"{progress.spent.get(task, 0.0):.4g}"
        table.add_row(Text(task), str(state.asked.get(task, 0)), cost, "" if gain is None else f"{gain:.3g}")
    return [("tasks", table)]


def _running(progress: "Progress", now: float) -> Rows:
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1, style="dim")
    table.add_column(justify="right", no_wrap=True)
    for e in progress.running[:SHOWN]:
        again = f", attempt {e.attempts}" if e.attempts > 1 else ""
        since = "" if e.began is None else duration(now - e.began)
        table.add_row(Text(f"{e.named} {one_line(e.task)}{again}"), Text(values(e.params)), since)
    rows: Rows = [("running", table)] if progress.running else []
    if len(progress.running) > SHOWN:
        rows.append(("", Text(f"and {len(progress.running) - SHOWN} more", style="dim")))
    if progress.state == "asking":
        rows.append(("", Text("deciding what to ask next ...", style="italic dim")))
    if progress.state == "stopping" and progress.running:
        rows.append(("", Text(stopping(len(progress.running)), style="bold yellow")))
    return rows


def _counts(state: DashboardState) -> Rows:
    progress = state.progress
    assert progress is not None
    text = Text(f"{progress.done} done")
    text.append(f", {progress.failed} failed", style="red" if progress.failed else "")
    text.append(f", {progress.lost} lost", style="yellow" if progress.lost else "")
    rows: Rows = [("so far", text)]
    if state.failure is not None:
        reason = Text(f"{state.failure.named} {first_line(state.failure.error)}", overflow="ellipsis", no_wrap=True)
        rows.append((Text("last failure", style="red"), reason))
    return rows
