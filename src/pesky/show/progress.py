"""Progress: what the answer was expected to be as evaluations came in, the best as measured, and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from pesky.answer.recommend import recommendation_from
from pesky.errors import DataError, unknown_name
from pesky.run.best import BestMeasured, is_exact, name_of_best
from pesky.run.spending import cost_of
from pesky.show.findings import Findings
from pesky.show.labels import label
from pesky.show.theme import BLUE, COLORWAY, GREEN, GREY, ORANGE, nothing, plotly, see_through, themed
from pesky.store.evaluation import listed
from pesky.study import Study
from pesky.wording import counted, duration

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Against = Literal["evaluations", "cost", "time"]
"""What progress can be seen against."""
TITLES = {"evaluations": "number of evaluations that ended", "cost": "cost", "time": "hours since the first question"}


@dataclass(frozen=True)
class Ended:
    """How far the study was when an evaluation had ended."""

    evaluation: int
    """Which one it was."""
    count: int
    cost: float
    seconds: float
    """Since the first question."""
    best: float | None
    """The best value as measured, see `pesky.run.best`."""
    spent: tuple[float, ...]
    """What each task had cost."""

    def at(self, against: Against) -> float:
        """How far that is."""
        return {"evaluations": float(self.count), "cost": self.cost, "time": self.seconds / 3600}[against]


@dataclass(frozen=True)
class Answer:
    """What would have been answered when so many evaluations had ended."""

    count: int
    expected: float
    low: float
    high: float
    is_confident: bool


@dataclass(frozen=True)
class Progress:
    """A study's way, evaluation by evaluation."""

    objective: str
    tasks: tuple[str, ...]
    ended: tuple[Ended, ...]
    answers: tuple[Answer, ...]
    """At some moments; see `replay`."""

    @property
    def feasible_since(self) -> Ended | None:
        """When the first point was measured that holds every constraint."""
        return next((each for each in self.ended if each.best is not None), None)


def progress_of(findings: Findings) -> Progress:
    """The numbers of the picture."""
    problem, every = findings.problem, findings.ended
    start = min((e.asked for e in findings.evaluations.values()), default=0.0)
    tasks = tuple(dict.fromkeys([*problem.tasks, *(e.task for e in every)]))
    spent, steps = dict.fromkeys(tasks, 0.0), []
    best = BestMeasured(problem)
    for count, e in enumerate(every, 1):
        best.add(e)
        spent[e.task] += cost_of(e, problem)
        since = (e.asked if e.ended is None else e.ended) - start
        steps.append(Ended(e.id, count, sum(spent.values()), since, best.value, tuple(spent.values())))
    answers = []
    for moment in findings.moments:
        is_now = moment.inferred is findings.inferred
        found = findings.answer if is_now else recommendation_from(moment.inferred)
        answers.append(Answer(len(moment.known), found.expected, *found.interval, found.is_confident))
    return Progress(problem.objective, tasks, tuple(steps), tuple(answers))


def progress(study: "Study | Findings", against: Against = "evaluations") -> "Figure":
    """What was expected of the answer as evaluations came in, with the best as measured and what each task cost.

    `against` is what it is seen against: "evaluations", "cost" or "time". The answers of before are those that the rule
    for answers gives for what was known then, computed anew at up to twelve moments.
    """
    if against not in get_args(Against):
        raise DataError(f"progress: {unknown_name('axis', against, get_args(Against))}")
    findings = Findings.of(study)
    title = f"Progress: {label(findings.problem.objective)} against {against}"
    if not findings.ended:
        return nothing(title, "nothing was measured yet")
    found = progress_of(findings)
    problem = findings.problem
    exact = is_exact(problem) or (not findings.missing and findings.inferred.noiseless >= set(problem.rows))
    figure = _drawn(found, against, name_of_best(exact=exact))
    return themed(figure, title, _said(findings, found.ended[-1]), height=560, hovermode="x unified")


def _said(findings: Findings, last: Ended) -> str:
    best = findings.best
    said = "no point is measured completely yet"
    if best is not None:
        ids = listed(best.evaluations, best.trials)
        sure = "best measured point" if best.is_confident else "most probably feasible measured point"
        said = f"{sure}: {ids}, {label(best.objective)} = {best.expected:.6g}"
    return f"{counted(last.count)} in {duration(last.seconds)} for a cost of {last.cost:.6g}; {said}"


def _drawn(found: Progress, against: Against, name_of_best: str) -> Any:
    from plotly.subplots import make_subplots

    go = plotly()
    figure: Any = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.72, 0.28], vertical_spacing=0.06)
    along = {each.count: each.at(against) for each in found.ended}
    for trace in _answers(go, found, along):
        figure.add_trace(trace, row=1, col=1)
    values = [each.best for each in found.ended]
    line = {"color": ORANGE, "width": 2, "shape": "hv"}
    best = go.Scatter(x=[*along.values()], y=values, name=name_of_best, mode="lines+markers", line=line)
    best.marker = {"size": 4}
    best.hovertext = [
        f"{each.best:.6g} after #{each.evaluation}" if each.best is not None else "" for each in found.ended
    ]
    best.hoverinfo = "text+name"
    figure.add_trace(best, row=1, col=1)
    if (first := found.feasible_since) is not None:
        figure.add_vline(x=along[first.count], line={"color": GREEN, "width": 1.5, "dash": "dot"}, row=1, col=1)
        figure.add_annotation(
            text=f"#{first.evaluation}: the first that held every constraint as measured",
            x=along[first.count],
            y=1,
            yref="y domain",
            yanchor="top",
            xanchor="left",
            showarrow=False,
            font={"color": GREEN},
            row=1,
            col=1,
        )
    for i, task in enumerate(found.tasks):
        color = COLORWAY[i % len(COLORWAY)]
        trace = go.Scatter(
            x=[0, *along.values()],
            y=[0.0, *(each.spent[i] for each in found.ended)],
            name=f"cost of {label(task)}",
            stackgroup="cost",
            showlegend=len(found.tasks) > 1,
            line={"color": color, "width": 1, "shape": "hv"},
            fillcolor=see_through(color, 0.35),
        )
        figure.add_trace(trace, row=2, col=1)
    figure.update_xaxes(title_text=TITLES[against], row=2, col=1)
    figure.update_yaxes(title_text=label(found.objective), row=1, col=1)
    figure.update_yaxes(title_text="cost so far", rangemode="tozero", row=2, col=1)
    return figure


def _answers(go: Any, found: Progress, along: dict[int, float]) -> list[Any]:
    """The band of the answers' intervals, and what was expected of each, which it is until the next."""
    if not found.answers:
        return []
    x = [*(along[each.count] for each in found.answers), 1.02 * max(along.values())]  # the last one holds, too
    held = [*found.answers, found.answers[-1]]
    sure = [each for each in found.answers if each.is_confident]
    unsure = [each for each in found.answers if not each.is_confident]
    hidden = {"mode": "lines", "line": {"width": 0, "shape": "hv"}, "hoverinfo": "skip"}
    return [
        go.Scatter(x=x, y=[each.high for each in held], showlegend=False, **hidden),
        go.Scatter(
            x=x,
            y=[each.low for each in held],
            fill="tonexty",
            fillcolor=see_through(BLUE, 0.18),
            name="its 90 % interval",
            **hidden,
        ),
        go.Scatter(
            x=x,
            y=[each.expected for each in held],
            mode="lines",
            line={"color": BLUE, "width": 1.5, "shape": "hv"},
            showlegend=False,
            hoverinfo="skip",
        ),
        _marks(go, sure, along, "expected of the answer", {"color": BLUE, "symbol": "circle", "size": 8}),
        _marks(
            go,
            unsure,
            along,
            "the same, not known to hold every constraint",
            {"color": GREY, "symbol": "circle-open", "size": 8},
        ),
    ]


def _marks(go: Any, answers: Sequence[Answer], along: dict[int, float], name: str, marker: dict[str, Any]) -> Any:
    """The answers that are of one kind."""
    said = [f"{each.expected:.6g}, 90 %: {each.low:.6g} to {each.high:.6g}" for each in answers]
    x, y = [along[each.count] for each in answers], [each.expected for each in answers]
    words = {"hovertext": said, "hoverinfo": "text+name", "showlegend": bool(answers)}
    return go.Scatter(x=x, y=y, name=name, mode="markers", marker={**marker, "line": {"width": 1.5}}, **words)
