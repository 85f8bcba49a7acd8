"""Why: what each task was worth around the last question, and how much of the solution is not known yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from pesky.errors import DataError
from pesky.show.axes import axis, coordinate, coordinates, is_separate
from pesky.show.findings import Findings
from pesky.show.labels import label, value
from pesky.show.slices import LINE, named, points
from pesky.show.theme import COLORWAY, GREY, ORANGE, nothing, plotly, themed
from pesky.store import Evaluation
from pesky.strategy.explain import KINDS, Explanation, known_before
from pesky.study import Study

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

COLUMNS = 6
"""The most parameters that there is room for: the first ones, unless others are named."""


@dataclass(frozen=True)
class Gains:
    """What each task on offer was worth for its price along one parameter, through the point that was asked."""

    parameter: str
    along: np.ndarray
    per_cost: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Left:
    """How much was not known of the solution when an evaluation was asked."""

    evaluation: int
    each: Mapping[str, float]
    """Of each parameter: 1 is nothing known, 0 all but a tenth of its range."""


@dataclass(frozen=True)
class Reasons:
    """Why a question was asked."""

    asked: Evaluation
    unit: str
    gains: tuple[Gains, ...]
    left: tuple[Left, ...]


def questions(findings: Findings) -> dict[int, Evaluation]:
    """The evaluations that a rule chose by what they are worth."""
    return {e.id: e for e in sorted(findings.evaluations.values(), key=lambda e: e.id) if e.why and e.why.get("values")}


def question(findings: Findings, evaluation: int | None = None) -> Evaluation | None:
    """The one of this number, or the last if none is named; None if there was none yet."""
    kept = questions(findings)
    if evaluation is None:
        return next(reversed(kept.values()), None)
    if evaluation not in kept:
        ids = ", ".join(map(str, list(kept)[-8:]))
        raise DataError(
            f"why: evaluation {evaluation} was not chosen by what it is worth, or is none: "
            + (f"expected one that was, like {ids}." if ids else "no question was yet.")
        )
    return kept[evaluation]


def reasons_of(findings: Findings, asked: Evaluation, parameters: Sequence[str] | None = None) -> Reasons:
    """The numbers of the picture: gains computed anew from what was known then, the rest as it was kept."""
    space, problem = findings.study.space, findings.problem
    values = findings.study.task_values(known_before(findings.evaluations.values(), asked))
    offered, gains = Explanation.of(asked).values, []
    names = list(problem.parameters)[:COLUMNS] if parameters is None else named("why", parameters, problem.parameters)
    for name in names if space.contains(asked.params) else ():
        U, (along,) = points(space, asked.params, [name], LINE)
        # the very point that was asked is one of them
        place = coordinates(problem.parameters[name], space.encode(asked.params)[None][:, space.columns_of([name])])
        here = int(np.searchsorted(along, place[0]))
        U = torch.cat([U[:here], space.encode(asked.params)[None], U[here:]])
        along = np.insert(along, here, place[0])
        with torch.no_grad():
            per_cost = dict(zip(problem.tasks, values.per_cost(U).numpy().T, strict=True))
        gains.append(Gains(name, along, {task: each for task, each in per_cost.items() if task in offered}))
    left = [(e.id, e.why.get("left")) for e in findings.evaluations.values() if e.why]
    shares = tuple(Left(id_, each) for id_, each in left if isinstance(each, Mapping))
    is_priced = any(task.cost != 1 for task in problem.tasks.values())
    what = Explanation.of(asked).unit or "value"
    return Reasons(asked, f"{what} per cost" if is_priced else what, tuple(gains), shares)


def why(study: "Study | Findings", parameters: Sequence[str] | None = None, evaluation: int | None = None) -> "Figure":
    """What each task was worth for its price around a question, and what was not known yet of the solution.

    `parameters` are those to look along, the first six if not given; `evaluation` is the number of the question, the
    last that a rule chose by what it is worth if not given.
    """
    findings = Findings.of(study)
    which = "the last question" if evaluation is None else f"question #{evaluation}"
    title = f"Why: what each task was worth at {which}, and what is left to learn"
    asked = question(findings, evaluation)
    if asked is None:
        return nothing(title, "no question was chosen by what it is worth yet")
    found = reasons_of(findings, asked, parameters)
    return themed(_drawn(findings, found), title, _said(findings, found), height=600)


def _said(findings: Findings, found: Reasons) -> str:
    asked, explained = found.asked, Explanation.of(found.asked)
    shown = list(asked.params.items())[:COLUMNS]
    where = ", ".join(f"{label(name)} = {value(each)}" for name, each in shown)
    where += f" and {more} more" if (more := len(asked.params) - len(shown)) else ""
    rule = f" ({label(explained.rule)})" if explained.rule else ""
    kind = KINDS.get(explained.kind, label(explained.kind)).partition(",")[0]
    return f"#{asked.id}: {label(asked.task)} at {where}{rule}: {kind}"


def _drawn(findings: Findings, found: Reasons) -> Any:
    from plotly.subplots import make_subplots

    go, columns = plotly(), max(len(found.gains), 1)
    wide = [{"colspan": columns}, *([None] * (columns - 1))]
    figure: Any = make_subplots(
        rows=2,
        cols=columns,
        shared_yaxes=True,
        specs=[[{}] * columns, wide],
        vertical_spacing=0.2,
        horizontal_spacing=0.03,
    )
    for col, each in enumerate(found.gains, 1):
        parameter = findings.problem.parameters[each.parameter]
        for i, (task, gain) in enumerate(each.per_cost.items()):
            words = {"name": label(task), "legendgroup": task, "showlegend": col == 1, "hoverinfo": "y+name"}
            look = {"mode": "markers" if is_separate(parameter) else "lines", "line": _line(i)}
            figure.add_trace(go.Scatter(x=each.along, y=gain, **look, **words), row=1, col=col)
        _asked(figure, findings, found, each, col)
        figure.update_xaxes(**axis(each.parameter, parameter), row=1, col=col)
    figure.update_yaxes(title_text=label(found.unit), row=1, col=1)
    _left(figure, findings, found)
    return figure


def _line(i: int) -> dict[str, str]:
    """The color and kind of one line of many."""
    return {"color": COLORWAY[i % len(COLORWAY)], "dash": ("solid", "dot", "dash")[i // len(COLORWAY) % 3]}


def _asked(figure: Any, findings: Findings, found: Reasons, gains: Gains, col: int) -> None:
    """A star at what was asked."""
    go, name = plotly(), gains.parameter
    x = coordinate(findings.problem.parameters[name], found.asked.params[name])
    here = int(np.abs(gains.along - x).argmin()) if x is not None else 0
    chosen = gains.per_cost.get(found.asked.task)
    if x is not None and chosen is not None:
        marker = {"symbol": "star", "size": 14, "color": ORANGE, "line": {"width": 1, "color": "white"}}
        words = {"name": "asked", "legendgroup": "asked", "showlegend": col == 1, "hoverinfo": "skip"}
        figure.add_trace(go.Scatter(x=[x], y=[chosen[here]], mode="markers", marker=marker, **words), row=1, col=col)


def _left(figure: Any, findings: Findings, found: Reasons) -> None:
    """The entropy of each parameter of x*, question by question."""
    go, x = plotly(), [each.evaluation for each in found.left]
    for i, name in enumerate(findings.problem.parameters, max((len(each.per_cost) for each in found.gains), default=0)):
        look = _line(i)  # other ones than those of tasks
        y = [each.each.get(name) for each in found.left]
        words = {"name": f"{label(name)} of x*", "legendgroup": "left", "hoverinfo": "x+y+name"}
        figure.add_trace(
            go.Scatter(x=x, y=y, mode="lines+markers", line=look, marker={"size": 4}, **words), row=2, col=1
        )
    mean = [sum(each.each.values()) / max(len(each.each), 1) for each in found.left]
    words = {"name": "on average", "hoverinfo": "x+y+name"}
    figure.add_trace(go.Scatter(x=x, y=mean, mode="lines", line={"color": GREY, "width": 3}, **words), row=2, col=1)
    figure.update_xaxes(title_text="evaluation", row=2, col=1)
    figure.update_yaxes(title_text="not known of x*", range=[-0.02, 1.05], tickformat=".0%", row=2, col=1)
