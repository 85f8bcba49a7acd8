"""Limits: the answer's objective against the threshold of each constraint: what a limit costs."""

from typing import TYPE_CHECKING, Any

from pesky.show.findings import Findings
from pesky.show.labels import label
from pesky.show.theme import BLUE, GREY, VERMILION, nothing, plotly, see_through, themed
from pesky.study import Study, Tradeoff

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def limits(study: "Study | Findings") -> "Figure":
    """What is expected of the answer under other thresholds of each constraint, the others as they are."""
    findings = Findings.of(study)
    title = f"Limits: {label(findings.problem.objective)} of the answer against each threshold"
    if findings.missing:
        return nothing(title, label(findings.missing, 100))
    if not findings.tradeoffs:
        return nothing(title, "there is no limit to move")
    return themed(_drawn(findings), title, "what each limit costs, by what is believed; the present one is dashed")


def _drawn(findings: Findings) -> Any:
    from plotly.subplots import make_subplots

    found, constraints = findings.tradeoffs, {str(each): each for each in findings.problem.constraints}
    across = min(len(found), 3)
    down = -(-len(found) // across)
    figure: Any = make_subplots(
        rows=down,
        cols=across,
        subplot_titles=[_said(each) for each in found],
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=0.3 / down,
    )
    for i, each in enumerate(found):
        row, col = i // across + 1, i % across + 1
        constraint = constraints[each.constraint]
        _panel(figure, each, row, col, legend=i == 0)
        line = {"color": VERMILION, "dash": "dash", "width": 1.5}
        figure.add_vline(x=float(constraint.threshold), line=line, row=row, col=col)
        figure.update_xaxes(
            title_text=f"threshold: {label(f'{constraint.outcome} {constraint.sense}')}", row=row, col=col
        )
        if col == 1:
            figure.update_yaxes(title_text=label(each.objective), row=row, col=col)
    return figure.update_layout(height=160 + 270 * down)


def _said(each: Tradeoff) -> str:
    """The constraint with its shadow price, which is none where it is a matter of rounding."""
    if each.shadow_price is None:
        return label(each.constraint)
    words = each.price_in_words().removeprefix("about ").replace(f" of {each.objective}", "").partition(":")[0]
    return f"{label(each.constraint)}: {label(words, 60)}"


def _panel(figure: Any, each: Tradeoff, row: int, col: int, *, legend: bool) -> None:
    go = plotly()
    sure = [price for price in each.prices if price.is_confident]
    x, y = [price.threshold for price in sure], [price.expected for price in sure]
    hidden = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    low, high = ([price.interval[end] for price in sure] for end in (0, 1))
    figure.add_trace(go.Scatter(x=x, y=high, showlegend=False, **hidden), row=row, col=col)
    band = {"fill": "tonexty", "fillcolor": see_through(BLUE, 0.2), "name": "90 % interval", "legendgroup": "band"}
    figure.add_trace(go.Scatter(x=x, y=low, showlegend=legend, **band, **hidden), row=row, col=col)
    look = {"mode": "lines+markers", "line": {"color": BLUE, "width": 2}, "marker": {"size": 8}}
    words = {"name": "expected of the answer", "legendgroup": "expected", "showlegend": legend}
    figure.add_trace(go.Scatter(x=x, y=y, **look, **words), row=row, col=col)
    unsure = [price for price in each.prices if not price.is_confident]
    marker = {"color": GREY, "symbol": "x-open", "size": 10}
    words = {"name": "nothing is known to hold", "legendgroup": "unsure", "showlegend": legend}
    places = {"x": [price.threshold for price in unsure], "y": [price.expected for price in unsure]}
    figure.add_trace(go.Scatter(**places, mode="markers", marker=marker, **words), row=row, col=col)
