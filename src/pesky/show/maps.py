"""A belief drawn over two parameters: a map of each outcome, of what is feasible, and of where x* may be."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pesky.problem import Choice, Option
from pesky.show.axes import axis, coordinate, is_separate
from pesky.show.labels import label
from pesky.show.slices import PLANE
from pesky.show.solution import density
from pesky.show.theme import CHANCES, GREY, HELD, ORANGE, PLACES, VALUES, VERMILION, plotly
from pesky.show.view import View, limits_of, panels, said

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SIDES = {
    "top center": (0.0, 0.045),
    "bottom center": (0.0, -0.045),
    "middle right": (0.05, 0.0),
    "middle left": (-0.05, 0.0),
    "top right": (0.04, 0.035),
    "top left": (-0.04, 0.035),
    "bottom right": (0.04, -0.035),
    "bottom left": (-0.04, -0.035),
}
"""Where a number may be beside its point, as a share of the map."""
ROOM = (0.05, 0.04)
"""How far it is from all other numbers and points in either direction, at least."""
NUMBERS = {"size": 9, "color": "#1F2933", "shadow": "0 0 2px white, 0 0 2px white, 0 0 3px white, 0 0 3px white"}
"""Their look: dark with a bright rim is read on any color."""


def draw_maps(view: View) -> "Figure":
    """A map of each outcome with its limits, then of the probability that all holds, then of where x* may be."""
    from plotly.subplots import make_subplots

    (each,), outcomes = view.slices, panels(view)
    limited = bool(view.inferred.problem.conditions)
    titles = [*outcomes, *(["probability that all constraints hold"] if limited else []), "where x* may be"]
    across = min(len(titles), 3)
    down = -(-len(titles) // across)
    figure = make_subplots(
        rows=down,
        cols=across,
        subplot_titles=[label(title, 40) for title in titles],
        horizontal_spacing=0.09 if across > 1 else 0.0,
        vertical_spacing=0.32 / down,
    )
    outlook = each.outlook
    fields: dict[str, tuple[np.ndarray, Any]] = {
        name: (outlook.mean[name], VALUES) if name in outlook.mean else (outlook.probabilities[name], CHANCES)
        for name in outcomes
    }
    fields |= {titles[-2]: (outlook.feasible, CHANCES)} if limited else {}
    fields[titles[-1]] = density(view.solution, view.inferred, each.parameters, PLANE).ravel(), PLACES
    for i, (title, (z, scale)) in enumerate(fields.items()):
        row, col = i // across + 1, i % across + 1
        _field(figure, view, z, scale, title, row, col)
        if i < len(outcomes):
            _limits(figure, view, title, row, col)
        is_last = i == len(fields) - 1
        if not is_last:
            _points(figure, view, title if title in outcomes else None, row, col, legend=i == 0)
        _answer(figure, view, row, col, legend=i == 0)
        for which, name in enumerate(each.parameters):
            found = axis(name, view.inferred.space.parameters[name])
            if which and col > 1:  # as in the first column
                found |= {"title": None, "showticklabels": False}
            (figure.update_yaxes if which else figure.update_xaxes)(**found, row=row, col=col)
    return figure.update_layout(height=130 + 360 * down, width=1100 if across == 3 else 760)


def _is_smooth(view: View) -> bool:
    own = [view.inferred.space.parameters[name] for name in view.slices[0].parameters]
    return not any(isinstance(each, Choice) or is_separate(each) for each in own)


def _field(figure: Any, view: View, z: np.ndarray, scale: Any, title: str, row: int, col: int) -> None:
    """The colors of a map, with a bar that says what they mean."""
    go, (x, y) = plotly(), view.slices[0].along
    grid = np.asarray(z).reshape(len(x), len(y)).T
    x_axis, y_axis = figure.get_subplot(row, col).xaxis, figure.get_subplot(row, col).yaxis
    bar = {
        "thickness": 8,
        "len": y_axis.domain[1] - y_axis.domain[0],
        "y": sum(y_axis.domain) / 2,
        "x": x_axis.domain[1] + 0.005,
        "outlinewidth": 0,
        "tickfont": {"size": 10},
        "nticks": 5,
    }
    look: dict[str, Any] = {"x": x, "y": y, "z": grid, "colorscale": scale, "colorbar": bar, "name": label(title)}
    look["hovertemplate"] = "%{z:.4g}<extra></extra>"
    if scale is not VALUES:
        look |= {"zmin": 0, "zmax": 1}
    if scale is PLACES:
        look |= {"showscale": False, "hovertemplate": None, "hoverinfo": "skip"}
    if not _is_smooth(view):
        figure.add_trace(go.Heatmap(**look), row=row, col=col)
        return
    levels = {"coloring": "heatmap"}
    figure.add_trace(
        go.Contour(**look, contours=levels, line={"width": 0.4, "color": "rgba(255,255,255,0.35)"}), row=row, col=col
    )


def _limits(figure: Any, view: View, outcome: str, row: int, col: int) -> None:
    """Where what is expected is at a limit, or a yes or no has its confidence."""
    if not _is_smooth(view):
        return
    go, each = plotly(), view.slices[0]
    x, y = each.along
    for text, limit in limits_of(view).items():
        if limit.outcome == outcome or text == outcome:
            z = each.outlook.probabilities[text] if limit.is_yes_no else each.outlook.mean[outcome]
            level = limit.confidence if limit.is_yes_no else float(limit.threshold)
            contours = {"start": level, "end": level, "size": 1, "coloring": "none"}
            line = {"color": VERMILION, "width": 2.5, "dash": "dash"}
            grid = np.asarray(z).reshape(len(x), len(y)).T
            trace = go.Contour(x=x, y=y, z=grid, contours=contours, line=line, showscale=False, showlegend=False)
            trace.hoverinfo = "skip"
            figure.add_trace(trace, row=row, col=col)


def _points(figure: Any, view: View, outcome: str | None, row: int, col: int, *, legend: bool) -> None:
    """The measured points: those that told of the outcome, or all."""
    go, (first, second) = plotly(), view.slices[0].parameters
    parameters = view.inferred.space.parameters
    told_by = limits_of(view)[outcome].outcome if outcome in limits_of(view) else outcome
    sides = numbered(view)
    for held, (color, symbol, word) in HELD.items():
        own = [p for p in view.points if told_by is None or told_by in p.told]
        own = [p for p in own if p.holds.get(told_by or "", p.is_feasible) is held]
        look = {
            "color": "white" if held is None else color,
            "symbol": symbol.removesuffix("-open"),
            "size": 8,
            "line": {"width": 1, "color": "white" if held is not None else GREY},  # seen in the legend, too
        }
        figure.add_trace(
            go.Scatter(
                x=[coordinate(parameters[first], p.params[first]) for p in own],
                y=[coordinate(parameters[second], p.params[second]) for p in own],
                mode="markers+text",
                cliponaxis=False,
                text=[str(p.ids[0]) if p.ids in sides else "" for p in own],
                textposition=[sides.get(p.ids, "top center") for p in own],
                textfont=NUMBERS,
                marker=look,
                name=f"measured: {word}",
                legendgroup=word,
                showlegend=legend and any(p.is_feasible is held or held in p.holds.values() for p in view.points),
                hovertext=[said(p, told_by or view.inferred.problem.objective) for p in own],
                hoverinfo="text",
            ),
            row=row,
            col=col,
        )


def numbered(view: View) -> dict[tuple[int, ...], str]:
    """The points, by their ids, that have their number beside them, and on which side: the first that have room."""
    every = [_place(view, params) for params in (*(p.params for p in view.points), view.answer.params)]
    sides: dict[tuple[int, ...], str] = {}
    numbers: list[tuple[float, float]] = []
    for i, p in enumerate(view.points):
        if (place := every[i]) is None:
            continue
        taken = [*filter(None, [*every[:i], *every[i + 1 :]]), *numbers]
        for side, (right, up) in SIDES.items():
            x, y = place[0] + right, place[1] + up
            is_free = not any(abs(x - a) < ROOM[0] and abs(y - b) < ROOM[1] for a, b in taken)
            if is_free and max(abs(x - 0.5), abs(y - 0.5)) <= 0.48:
                numbers.append((x, y))
                sides[p.ids] = side
                break
    return sides


def _place(view: View, params: Mapping[str, Option]) -> tuple[float, float] | None:
    """How far along both axes a point is, from 0 to 1; None where it is beyond their ends."""
    parameters, names = view.inferred.space.parameters, view.slices[0].parameters
    x, y = (_along(axis(name, parameters[name]), coordinate(parameters[name], params[name])) for name in names)
    return None if x is None or y is None or not (0 <= x <= 1 and 0 <= y <= 1) else (x, y)


def _along(axis: dict[str, Any], given: float | None) -> float | None:
    """How far along an axis a coordinate is, from 0 to 1."""
    low, high = axis["range"]
    return None if given is None else ((np.log10(given) if axis["type"] == "log" else given) - low) / (high - low)


def _answer(figure: Any, view: View, row: int, col: int, *, legend: bool) -> None:
    go, (first, second) = plotly(), view.slices[0].parameters
    parameters, params = view.inferred.space.parameters, view.answer.params
    word = "the answer" if view.answer.is_confident else "most probably feasible"
    x, y = coordinate(parameters[first], params[first]), coordinate(parameters[second], params[second])
    marker = {"symbol": "star", "size": 15, "color": ORANGE, "line": {"width": 1, "color": "white"}}
    star = go.Scatter(x=[x], y=[y], mode="markers", marker=marker, name=word, legendgroup="answer", showlegend=legend)
    star.hovertext, star.hoverinfo = word, "text"
    figure.add_trace(star, row=row, col=col)
