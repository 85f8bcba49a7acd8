"""A belief drawn along single parameters: a column for each, a row for each outcome."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pesky.problem import Constraint
from pesky.show.axes import axis, coordinate, is_separate
from pesky.show.labels import label
from pesky.show.points import Point
from pesky.show.slices import LINE, Slice
from pesky.show.solution import density
from pesky.show.theme import BLUE, GREEN, GREY, HELD, ORANGE, PURPLE, VERMILION, plotly, see_through
from pesky.show.view import View, limits_of, panels, said

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

NEAR = 0.25
"""Points at this distance from a slice, as a share of the ranges, are faint; nearer ones are darker."""

FAINT = 0.4
"""How faint they are at least."""
BAR = {"symbol": "line-ew", "size": 14}
"""What is expected of a value that is drawn by itself."""


def draw_lines(view: View) -> "Figure":
    """A column for each parameter; rows: each outcome, whether all constraints hold, and where x* may be."""
    from plotly.subplots import make_subplots

    outcomes, problem = panels(view), view.inferred.problem
    rows = [*outcomes, *(["all<br>hold"] if len(problem.conditions) > 1 else []), "where<br>x* is"]
    heights = [*([1.0] * len(outcomes)), *([0.45] * (len(rows) - len(outcomes)))]
    figure = make_subplots(
        rows=len(rows),
        cols=len(view.slices),
        shared_xaxes=True,
        shared_yaxes=True,
        row_heights=heights,
        vertical_spacing=0.02,
        horizontal_spacing=0.02,
    )
    for col, each in enumerate(view.slices, 1):
        for row, outcome in enumerate(outcomes, 1):
            _outcome(figure, view, each, outcome, row, col)
        if len(rows) > len(outcomes) + 1:
            _chance(figure, view, each, len(outcomes) + 1, col)
        _density(figure, view, each, len(rows), col)
        _axes(figure, view, each, len(rows), col)
    for row, name in enumerate(rows, 1):
        figure.update_yaxes(title_text=label(name, 18) if row <= len(outcomes) else name, row=row, col=1)
    figure.update_layout(shapes=_answer(figure, view, len(rows)))
    width = 1000 if len(view.slices) < 4 else 250 * len(view.slices)
    return figure.update_layout(height=170 + 170 * len(outcomes) + 80 * (len(rows) - len(outcomes)), width=width)


def _answer(figure: Any, view: View, rows: int) -> list[dict[str, Any]]:
    """A line through every panel where the answer is."""
    line = {"color": ORANGE if view.answer.is_confident else GREY, "width": 1.5, "dash": "dot"}
    shapes = []
    for col, each in enumerate(view.slices, 1):
        name = each.parameters[0]
        x = coordinate(view.inferred.space.parameters[name], view.answer.params[name])
        for row in range(1, rows + 1):
            panel = figure.get_subplot(row, col)
            x_axis, y_axis = (each.plotly_name.replace("axis", "") for each in (panel.xaxis, panel.yaxis))
            shapes.append(
                {
                    "type": "line",
                    "x0": x,
                    "x1": x,
                    "y0": 0,
                    "y1": 1,
                    "xref": x_axis,
                    "yref": f"{y_axis} domain",
                    "line": line,
                }
            )
    return shapes


def _outcome(figure: Any, view: View, each: Slice, outcome: str, row: int, col: int) -> None:
    go, parameter = plotly(), view.inferred.space.parameters[each.parameters[0]]
    x, outlook, first = each.along[0], each.outlook, row == 1 and col == 1
    if outcome not in outlook.mean:
        look: dict[str, Any] = {"mode": "lines", "line": {"color": GREEN}}
        if is_separate(parameter):
            look = {"mode": "markers", "marker": {**BAR, "color": GREEN, "line": {"width": 2.5, "color": GREEN}}}
        p = outlook.probabilities[outcome]
        figure.add_trace(go.Scatter(x=x, y=p, name="its probability", showlegend=False, **look), row=row, col=col)
        _level(figure, view, each, limits_of(view)[outcome].confidence, row, col)
        figure.update_yaxes(range=[-0.08, 1.08], tickvals=[0, 0.5, 1], tickformat=".0%", row=row, col=col)
        _points(figure, view, each, limits_of(view)[outcome].outcome, row, col, wanted=limits_of(view)[outcome])
        return
    mean, low, high = outlook.mean[outcome], outlook.low[outcome], outlook.high[outcome]
    words = {"name": "expected", "legendgroup": "expected", "showlegend": first}
    if is_separate(parameter):
        spread = {"type": "data", "symmetric": False, "array": high - mean, "arrayminus": mean - low, "color": BLUE}
        marker = {**BAR, "color": BLUE, "line": {"width": 2.5, "color": BLUE}}
        bars = go.Scatter(x=x, y=mean, mode="markers", marker=marker, error_y=spread, **words)
        figure.add_trace(bars, row=row, col=col)
    else:
        hidden = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
        figure.add_trace(go.Scatter(x=x, y=high, showlegend=False, **hidden), row=row, col=col)
        band = {"fill": "tonexty", "fillcolor": see_through(BLUE, 0.2), "name": "90 % interval"}
        figure.add_trace(
            go.Scatter(x=x, y=low, legendgroup="band", showlegend=first, **band, **hidden), row=row, col=col
        )
        figure.add_trace(
            go.Scatter(x=x, y=mean, mode="lines", line={"color": BLUE, "width": 2}, **words), row=row, col=col
        )
    for limit in view.inferred.problem.conditions:
        if limit.outcome == outcome:
            _level(figure, view, each, float(limit.threshold), row, col)
    _points(figure, view, each, outcome, row, col)
    _frame(figure, view, each, outcome, row, col)


def _level(figure: Any, view: View, each: Slice, y: float, row: int, col: int) -> None:
    """A limit, all over a panel; a trace, since plotly takes seconds for many shapes."""
    go, name = plotly(), each.parameters[0]
    ends = view.inferred.space.parameters[name]
    found = axis(name, ends)
    x = np.power(10.0, found["range"]) if found["type"] == "log" else found["range"]
    line, is_first = {"color": VERMILION, "dash": "dash", "width": 1.5}, col == 1 and not _has(figure, "limit")
    words = {"name": "limit", "legendgroup": "limit", "showlegend": is_first, "hoverinfo": "skip"}
    figure.add_trace(go.Scatter(x=x, y=[y, y], mode="lines", line=line, **words), row=row, col=col)


def _has(figure: Any, name: str) -> bool:
    return any(trace.name == name for trace in figure.data)


def _frame(figure: Any, view: View, each: Slice, outcome: str, row: int, col: int) -> None:
    """The range of a panel: what is believed and measured of it, and its limits where these are not far away."""
    told = [p.told[outcome] for p in view.points if outcome in p.told]
    shown = np.concatenate(
        [*(s.outlook.low[outcome] for s in view.slices), *(s.outlook.high[outcome] for s in view.slices), told]
    )
    low, high = float(shown.min()), float(shown.max())
    span = (high - low) or abs(high) or 1.0
    for limit in view.inferred.problem.conditions:
        if limit.outcome == outcome and low - 2 * span < limit.threshold < high + 2 * span:
            low, high = min(low, float(limit.threshold)), max(high, float(limit.threshold))
    room = 0.07 * ((high - low) or span)
    figure.update_yaxes(range=[low - room, high + room], row=row, col=col)


def _points(
    figure: Any, view: View, each: Slice, outcome: str, row: int, col: int, wanted: Constraint | None = None
) -> None:
    """The measured points, the fainter the further from the slice."""
    go, name = plotly(), each.parameters[0]
    for held, (color, symbol, word) in HELD.items():
        own = [p for p in view.points if outcome in p.told and p.holds.get(outcome, p.is_feasible) is held]
        x = [coordinate(view.inferred.space.parameters[name], p.params[name]) for p in own]
        y = [float(wanted.holds(round(p.told[outcome]))) if wanted else p.told[outcome] for p in own]
        figure.add_trace(
            go.Scatter(
                x=x,
                y=y,
                mode="markers",
                name=f"measured: {word}",
                legendgroup=word,
                showlegend=row == 1 and col == 1 and bool(_any(view, held)),
                marker={
                    "color": color,
                    "symbol": symbol,
                    "size": 8,
                    "opacity": [_nearness(view, each, p) for p in own],
                    "line": {
                        "width": {"circle": 0.5, "circle-open": 2}.get(symbol, 1),
                        "color": color if symbol != "circle" else "white",
                    },
                },
                hovertext=[said(p, outcome) for p in own],
                hoverinfo="text",
                cliponaxis=False,
            ),
            row=row,
            col=col,
        )


def _any(view: View, held: bool | None) -> bool:
    """Whether any panel has such points: the legend is that of all of them."""
    return any(p.is_feasible is held or held in p.holds.values() for p in view.points)


def _nearness(view: View, each: Slice, point: Point) -> float:
    """From FAINT, far from the slice, to 1, in it."""
    place = view.inferred.space.place(point.params)
    if place is None:
        return FAINT
    others = ~view.inferred.space.columns_of(each.parameters)
    away = (place - view.inferred.space.encode(view.at))[others]
    distance = float(away.abs().max()) if len(away) else 0.0
    return round(FAINT + (1 - FAINT) * float(np.exp(-((distance / NEAR) ** 2))), 3)


def _chance(figure: Any, view: View, each: Slice, row: int, col: int) -> None:
    p = each.outlook.feasible
    words = {"hovertext": [f"{each:.3f}" for each in p], "hoverinfo": "text"}
    figure.add_trace(_filled(view, each, p, GREEN, words), row=row, col=col)
    figure.update_yaxes(range=[0, 1.08], tickvals=[0, 1], tickformat=".0%", row=row, col=col)


def _density(figure: Any, view: View, each: Slice, row: int, col: int) -> None:
    y = density(view.solution, view.inferred, each.parameters, LINE)
    figure.add_trace(_filled(view, each, y, PURPLE, {"hoverinfo": "skip"}), row=row, col=col)
    figure.update_yaxes(range=[0, 1.1], showticklabels=False, ticks="", showgrid=False, row=row, col=col)


def _filled(view: View, each: Slice, y: np.ndarray, color: str, words: dict[str, Any]) -> Any:
    """An area below a line, or bars where values are drawn each by itself."""
    go, fill = plotly(), see_through(color, 0.3)
    places = {"x": each.along[0], "y": y, "showlegend": False, **words}
    if is_separate(view.inferred.space.parameters[each.parameters[0]]):
        return go.Bar(**places, marker={"color": fill, "line": {"color": color, "width": 1.5}})
    return go.Scatter(**places, mode="lines", fill="tozeroy", line={"color": color}, fillcolor=fill)


def _axes(figure: Any, view: View, each: Slice, rows: int, col: int) -> None:
    """The parameter's axis, below all panels of its column."""
    name = each.parameters[0]
    parameter = view.inferred.space.parameters[name]
    found = axis(name, parameter)
    title = found.pop("title")
    figure.update_xaxes(**found, col=col)
    figure.update_xaxes(title=title, row=rows, col=col)
