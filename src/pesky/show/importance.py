"""Importance: how much each parameter matters to each outcome."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pesky.show.findings import Findings
from pesky.show.indices import Indices
from pesky.show.labels import label, listed
from pesky.show.theme import BLUE, SKY, nothing, plotly, themed
from pesky.study import Study

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def _without(found: Mapping[str, Indices]) -> str:
    """Which options were not looked at since nothing was told there, by outcome."""
    said = [f"{label(key)} without {listed([*map(str, each.untried)])}" for key, each in found.items() if each.untried]
    more = f" and {len(said) - 3} more" if len(said) > 3 else ""
    return f"; {', '.join(said[:3])}{more}, of which nothing was told" if said else ""


def importance(study: "Study | Findings") -> "Figure":
    """How much of each outcome's variation over the space each parameter brings about, alone and with others."""
    title = "Importance: the share of each outcome's variation that a parameter brings about"
    findings = Findings.of(study)
    if findings.missing:
        return nothing(title, label(findings.missing, 100))
    from plotly.subplots import make_subplots

    go, names, found = plotly(), list(findings.problem.parameters), findings.indices
    across = min(len(found), 3)
    down = -(-len(found) // across)
    figure = make_subplots(
        rows=down,
        cols=across,
        subplot_titles=[label(key) for key in found],
        shared_yaxes=True,
        horizontal_spacing=0.05,
        vertical_spacing=min(0.3 / down, 70 / (120 + 26 * len(names))),
    )
    for i, indices in enumerate(found.values()):
        row, col = divmod(i, across)
        for part, color, name in ((indices.total, SKY, "with others"), (indices.main, BLUE, "by itself")):
            bars = go.Bar(
                y=list(range(len(names))),
                x=[part[each] for each in names],
                orientation="h",
                name=name,
                marker={"color": color, "pattern": {"shape": "/" if color == SKY else "", "solidity": 0.25}},
                width=0.75 if color == SKY else 0.4,
                legendgroup=name,
                showlegend=i == 0,
                hovertext=[f"{label(each)}: {part[each]:.2f} {name}" for each in names],
                hoverinfo="text",
            )
            figure.add_trace(bars, row=row + 1, col=col + 1)
    figure.update_xaxes(range=[0, 1.05], tickformat=".0%", tickvals=[0, 0.5, 1])
    ticks = {"tickvals": list(range(len(names))), "ticktext": [label(name) for name in names]}
    figure.update_yaxes(tickmode="array", autorange="reversed", showgrid=False, **ticks)
    subtitle = f"shares of the variance of what is expected, over the space (Sobol' indices){_without(found)}"
    return themed(figure, title, subtitle, barmode="overlay", height=170 + down * (90 + 26 * len(names)))
