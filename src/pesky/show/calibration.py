"""Calibration: what was predicted before each measurement against what came out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pesky.show.findings import Findings
from pesky.show.forecasts import Chance, Forecast, forecasts_of
from pesky.show.labels import label, percent
from pesky.show.theme import BLUE, COLORWAY, GREEN, GREY, VERMILION, nothing, plotly, see_through, themed
from pesky.study import Study

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

BINS = 5
"""Of the probabilities of a yes."""


def coverage(forecasts: Sequence[Forecast], levels: np.ndarray) -> np.ndarray:
    """The share of the values within the central interval of each level."""
    away = np.array([2 * abs(each.share_below - 0.5) for each in forecasts])
    return (away[:, None] <= levels + 1e-12).mean(0)


def calibration(study: "Study | Findings") -> "Figure":
    """What was predicted of each measurement before it was made, and how often its intervals held what came out."""
    findings = Findings.of(study)
    title = "Calibration: what was predicted before each measurement, and what came out"
    forecasts, chances = forecasts_of(findings)
    if not forecasts and not chances:
        return nothing(title, "nothing was measured yet after something was believed")
    said = "; ".join(filter(None, [_shares(forecasts), "each predicted from all that had been told before it"]))
    return themed(_drawn(forecasts, chances), title, said)


def _shares(forecasts: Sequence[Forecast], most: int = 4) -> str:
    """How many values of each outcome are within their intervals, of many outcomes those with the fewest first."""
    inside: dict[str, list[bool]] = {}
    for each in forecasts:
        inside.setdefault(each.outcome, []).append(each.low <= each.value <= each.high)
    shares = sorted((sum(own) / len(own), name, len(own)) for name, own in inside.items())
    said = [f"{label(name)} {percent(share)} of {count}" for share, name, count in shares[:most]]
    more = f" and {len(shares) - most} more outcomes" if len(shares) > most else ""
    return f"within their 90 % interval: {', '.join(said)}{more}" if said else ""


def _drawn(forecasts: list[Forecast], chances: list[Chance]) -> Any:
    from plotly.subplots import make_subplots

    outcomes = list(dict.fromkeys(each.outcome for each in forecasts))
    answers = list(dict.fromkeys(each.outcome for each in chances))
    titles = [*outcomes, *answers, *(["intervals of all levels"] if outcomes else [])]
    across = min(len(titles), 3)
    down = -(-len(titles) // across)
    figure: Any = make_subplots(
        rows=down,
        cols=across,
        subplot_titles=[label(each, 36) for each in titles],
        horizontal_spacing=0.09,
        vertical_spacing=0.28 / down,
    )
    for i, name in enumerate(titles):
        place = {"row": i // across + 1, "col": i % across + 1}
        if i < len(outcomes):
            _values(figure, [each for each in forecasts if each.outcome == name], place)
        elif i < len(outcomes) + len(answers):
            _answers(figure, [each for each in chances if each.outcome == name], place)
        else:
            _levels(figure, forecasts, outcomes, place)
    return figure.update_layout(height=150 + 300 * down)


def _values(figure: Any, own: list[Forecast], place: dict[str, int]) -> None:
    """Measured against predicted values, with their intervals."""
    go = plotly()
    ends = [min(min(each.value, each.median) for each in own), max(max(each.value, each.median) for each in own)]
    _diagonal(figure, ends, place)
    for is_inside, color, symbol, word in ((True, BLUE, "circle", "within 90 %"), (False, VERMILION, "x", "outside")):
        some = [each for each in own if (each.low <= each.value <= each.high) is is_inside]
        spread = {
            "type": "data",
            "symmetric": False,
            "thickness": 1,
            "width": 0,
            "color": see_through(color, 0.5),
            "array": [each.high - each.median for each in some],
            "arrayminus": [each.median - each.low for each in some],
        }
        said = [f"#{e.evaluation}: {e.value:.5g}, expected {e.median:.5g} ({e.low:.5g} to {e.high:.5g})" for e in some]
        trace = go.Scatter(
            x=[each.median for each in some],
            y=[each.value for each in some],
            error_x=spread,
            mode="markers",
            marker={"color": color, "symbol": symbol, "size": 7},
            name=word,
            legendgroup=word,
            showlegend=bool(some) and not any(trace.name == word and trace.showlegend for trace in figure.data),
            hovertext=said,
            hoverinfo="text",
        )
        figure.add_trace(trace, **place)
    span = (ends[1] - ends[0]) or abs(ends[0]) or 1.0  # intervals may be wider than all values together
    figure.update_xaxes(title_text="predicted", range=[ends[0] - 0.5 * span, ends[1] + 0.5 * span], **place)
    figure.update_yaxes(title_text="measured", **place)


def _answers(figure: Any, own: list[Chance], place: dict[str, int]) -> None:
    """The share of yes against the probability of a yes, in bins."""
    _diagonal(figure, [0, 1], place)
    bins: dict[int, list[Chance]] = {}
    for each in own:
        bins.setdefault(min(int(each.probability * BINS), BINS - 1), []).append(each)
    x = [np.mean([each.probability for each in some]) for some in bins.values()]
    y = [np.mean([each.is_yes for each in some]) for some in bins.values()]
    said = [f"{sum(each.is_yes for each in some)} of {len(some)} were a yes" for some in bins.values()]
    marker = {"color": GREEN, "size": [8 + 3 * np.sqrt(len(some)) for some in bins.values()], "opacity": 0.8}
    trace = plotly().Scatter(
        x=x, y=y, mode="markers", marker=marker, showlegend=False, hovertext=said, hoverinfo="text"
    )
    figure.add_trace(trace, **place)
    figure.update_xaxes(title_text="probability of a yes", range=[-0.05, 1.05], **place)
    figure.update_yaxes(title_text="share of yes", range=[-0.05, 1.05], **place)


def _levels(figure: Any, forecasts: list[Forecast], outcomes: list[str], place: dict[str, int]) -> None:
    """How many values the intervals of every level hold, and how many would by chance if all were right."""
    go, levels = plotly(), np.linspace(0, 1, 41)
    half = 1.645 * np.sqrt(levels * (1 - levels) * len(outcomes) / len(forecasts))  # of one outcome's values
    hidden = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    figure.add_trace(go.Scatter(x=levels, y=np.clip(levels + half, 0, 1), **hidden), **place)
    band = {"fill": "tonexty", "fillcolor": see_through(GREY, 0.2)}
    figure.add_trace(go.Scatter(x=levels, y=np.clip(levels - half, 0, 1), **band, **hidden), **place)
    _diagonal(figure, [0, 1], place)
    for i, outcome in enumerate(outcomes):
        own = [each for each in forecasts if each.outcome == outcome]
        line = {"color": COLORWAY[i % len(COLORWAY)], "shape": "hv"}
        trace = go.Scatter(x=levels, y=coverage(own, levels), mode="lines", line=line, name=label(outcome))
        figure.add_trace(trace, **place)
    figure.update_xaxes(title_text="probability of the interval", tickformat=".0%", **place)
    figure.update_yaxes(title_text="values within it", tickformat=".0%", **place)


def _diagonal(figure: Any, ends: Sequence[float], place: dict[str, int]) -> None:
    line = {"color": GREY, "dash": "dash", "width": 1}
    trace = plotly().Scatter(x=ends, y=ends, mode="lines", line=line, showlegend=False, hoverinfo="skip")
    figure.add_trace(trace, **place)
