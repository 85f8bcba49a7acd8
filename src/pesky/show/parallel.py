"""Parallel coordinates: every measured point as a line through its parameters, colored by objective and feasibility."""

from typing import TYPE_CHECKING, Any

from pesky.problem import Choice, Option, Parameter, Real
from pesky.show.findings import Findings
from pesky.show.labels import label, value
from pesky.show.points import Point
from pesky.show.theme import GREY, VALUES, VERMILION, nothing, plotly, themed
from pesky.space import columns
from pesky.study import Study

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SHADES = 6
"""Of the objective, each for as many of the feasible points."""
FAINT = 0.55


def height_of(parameter: Parameter, given: Any) -> float | None:
    """Where a value is on its axis, from 0 to 1 within the bounds; None of an option that there is not."""
    if isinstance(parameter, Choice):
        count = len(parameter.options)
        return parameter.options.index(given) / (count - 1) if given in parameter.options else None
    place = columns.to_place(parameter, given)
    return None if place is None else place[0]


def groups(points: list[Point], objective: str, sign: int) -> list[list[Point]]:
    """The feasible points in shades of the objective, the best last; as evenly filled as may be."""
    own = [p for p in points if p.is_feasible and objective in p.told]
    own.sort(key=lambda p: -sign * p.told[objective])
    count = min(SHADES, len(own))
    return [own[i * len(own) // count : (i + 1) * len(own) // count] for i in range(count)]


def parallel(study: "Study | Findings") -> "Figure":
    """Every measured point as a line through its parameters: colors are the objective, where it is feasible."""
    findings = Findings.of(study)
    problem, points = findings.problem, findings.points
    title = f"Parallel coordinates: measured points, colored by {label(problem.objective)} where feasible"
    if not points:
        return nothing(title, "nothing was measured yet")
    figure = plotly().Figure()
    shaded = groups(points, problem.objective, problem.sign)
    feasible = {p.ids for each in shaded for p in each}
    others = {False: (VERMILION, "dot", "not feasible"), None: (GREY, "dot", "open")}
    for held, (color, dash, word) in others.items():
        own = [p for p in points if p.ids not in feasible and (p.is_feasible is False) is (held is False)]
        _lines(figure, findings, own, {"color": color, "dash": dash, "width": 1}, word)
    for color, own in zip(_colors(len(shaded)), shaded, strict=True):
        values = [p.told[problem.objective] for p in own]
        word = f"{min(values):.4g} to {max(values):.4g}" if min(values) < max(values) else f"{values[0]:.4g}"
        _lines(figure, findings, own, {"color": color, "width": 2}, word)
    _axes(figure, findings)
    counts = f"{sum(map(len, shaded))} of {len(points)} points are feasible; the darkest are best"
    return themed(figure, title, counts, height=520, hovermode="closest")


def _colors(count: int) -> list[str]:
    """From the lightest that is seen on white to the darkest that is seen on black; the best is the darkest."""
    from plotly.colors import sample_colorscale

    places = [0.9 - 0.75 * i / max(count - 1, 1) for i in range(count)]
    return [str(each) for each in sample_colorscale(VALUES, places)] if count else []


def _lines(figure: Any, findings: Findings, own: list[Point], line: dict[str, Any], word: str) -> None:
    if not own:
        return
    parameters = findings.problem.parameters
    x, y, said = [], [], []
    for p in own:
        x += [*range(len(parameters)), None]
        y += [*(height_of(each, p.params[name]) for name, each in parameters.items()), None]
        text = f"#{p.ids[0]}: " + ", ".join(f"{label(name)} = {each:.4g}" for name, each in list(p.told.items())[:6])
        said += [f"{text}<br>{label(name)} = {value(p.params[name])}" for name in parameters] + [""]
    opacity = 1.0 if line["width"] > 1 else FAINT
    figure.add_scatter(x=x, y=y, mode="lines", line=line, name=word, opacity=opacity, hovertext=said, hoverinfo="text")


def marks(parameter: Parameter) -> list[tuple[Option, float]]:
    """The values that are written beside an axis and how high they are: options, or the bounds and what is between."""
    if isinstance(parameter, Choice):
        return [(each, i / (len(parameter.options) - 1)) for i, each in enumerate(parameter.options)]
    middle = columns.from_unit(parameter, [0.5])
    if isinstance(parameter, Real):
        middle = float(f"{middle:.2g}")
    between = height_of(parameter, middle)
    inside = [(middle, between)] if between is not None and middle not in (parameter.low, parameter.high) else []
    return [(parameter.low, 0.0), *inside, (parameter.high, 1.0)]


def _named(name: str, parameter: Parameter, room: int) -> str:
    """What is written below an axis."""
    is_log = not isinstance(parameter, Choice) and parameter.log
    return label(name, room) + ("<br>(log)" if is_log else "")


def _axes(figure: Any, findings: Findings) -> None:
    """An upright line for each parameter, with what its heights mean beside it."""
    parameters = findings.problem.parameters
    notes, shapes = [], []
    room = max(4, 90 // len(parameters))
    for i, parameter in enumerate(parameters.values()):
        shapes.append({"type": "line", "x0": i, "x1": i, "y0": 0, "y1": 1, "line": {"width": 1.5}})
        for each, y in marks(parameter):
            look = {"showarrow": False, "font": {"size": 11, "color": "#1F2933"}, "bgcolor": "rgba(228,231,235,0.85)"}
            notes.append({"x": i, "y": y, "text": value(each, room), "xanchor": "left", "xshift": 4, **look})
    ticks = {
        "tickvals": list(range(len(parameters))),
        "ticktext": [_named(name, each, room) for name, each in parameters.items()],
    }
    figure.update_layout(shapes=shapes, annotations=notes)
    figure.update_xaxes(
        tickmode="array", showgrid=False, showline=False, ticks="", range=[-0.15, len(parameters) - 0.6], **ticks
    )
    figure.update_yaxes(visible=False, range=[-0.06, 1.06])
