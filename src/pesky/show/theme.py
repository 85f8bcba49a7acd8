"""One look for all pictures: colors that the color-blind tell apart, on white paper and on a dark screen."""

from typing import TYPE_CHECKING, Any

from pesky.errors import PeskyError
from pesky.extras import to_install

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Okabe and Ito's colors, without black and yellow: each of these is seen on white and on nearly black.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, GREY = "#CC79A7", "#56B4E9", "#8A9099"
COLORWAY = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
VALUES = "Cividis"
"""The scale of an objective."""
CHANCES = ((0.0, "#F3F4F6"), (0.5, "#7FC8B2"), (1.0, "#00664B"))
"""The scale of probabilities."""
PLACES = ((0.0, "#F7F2F5"), (0.5, "#D99ABC"), (1.0, "#7B2D5B"))
"""The scale of densities."""
HELD = {True: (GREEN, "circle", "holds"), False: (VERMILION, "x", "does not hold"), None: (GREY, "circle-open", "open")}
"""Color, symbol and word of a measured point that holds its constraints, does not, or of which that is open."""

LIGHT = {"text": "#1F2933", "grid": "#E4E7EB", "line": "#9AA5B1", "paper": "#FFFFFF"}
DARK = {"text": "#E4E7EB", "grid": "#323F4B", "line": "#7B8794", "paper": "#14181D"}
FONT = "Inter, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def plotly() -> Any:
    """`plotly.graph_objects`, or a PeskyError that says how to get it."""
    try:
        import plotly.graph_objects
    except ImportError as error:
        raise PeskyError(f"pictures need plotly, which is not installed: {to_install('show')}.") from error
    return plotly.graph_objects


def template(colors: dict[str, str]) -> dict[str, Any]:
    """Plotly's template of these colors: `LIGHT` or `DARK`."""
    axis = {
        "gridcolor": colors["grid"],
        "linecolor": colors["line"],
        "tickcolor": colors["line"],
        "zeroline": False,
        "showline": True,
        "ticks": "outside",
        "ticklen": 4,
        "automargin": True,
        "title": {"standoff": 8, "font": {"size": 13}},
    }
    layout = {
        "font": {"family": FONT, "size": 13, "color": colors["text"]},
        "title": {
            "x": 0.0,
            "xref": "container",
            "xanchor": "left",
            "y": 1.0,
            "yanchor": "top",
            "pad": {"l": 16, "t": 18},
            "font": {"size": 17},
        },
        "colorway": list(COLORWAY),
        "paper_bgcolor": colors["paper"],
        "plot_bgcolor": colors["paper"],
        "xaxis": axis,
        "yaxis": axis,
        "legend": {
            "orientation": "h",
            "x": 0.0,
            "y": 0.01,
            "yref": "container",
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
            "traceorder": "normal",
        },
        "hoverlabel": {"font": {"family": FONT}, "align": "left"},
        "annotationdefaults": {"font": {"color": colors["text"]}, "arrowcolor": colors["line"]},
        "shapedefaults": {"line": {"color": colors["line"]}},
        "coloraxis": {"colorbar": {"outlinewidth": 0}},
        "margin": {"l": 70, "r": 30, "t": 92, "b": 92},
    }
    return {"layout": layout}


def themed(figure: "Figure", title: str, subtitle: str = "", **layout: Any) -> "Figure":
    """The figure in the look of all others, with a title that says what is seen; both texts are plotly's, escaped."""
    text = f"<b>{title}</b>" + (f"<br><span style='font-size:13px'>{subtitle}</span>" if subtitle else "")
    layout_of: Any = figure.layout  # plotly makes its attributes as it goes, which no type checker follows
    for each in layout_of.annotations:  # the titles of panels
        if each.font.size == 16:
            each.font.size = 14
    return figure.update_layout(
        template=template(LIGHT), title={"text": text, "pad": {"l": 16, "t": 30 if subtitle else 18}}, **layout
    )


def darkened(figure: "Figure") -> "Figure":
    """The same figure for a dark page."""
    copy = plotly().Figure(figure)
    return copy.update_layout(template=template(DARK))


def nothing(title: str, reason: str) -> "Figure":
    """A figure that says why there is nothing to see."""
    figure = plotly().Figure()
    figure.add_annotation(text=reason, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, font={"size": 15})
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return themed(figure, title, height=240)


def see_through(color: str, opacity: float) -> str:
    """A color like #0072B2 that lets others be seen through it."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
