"""Figures as files: a page that opens anywhere, offline, or an image."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pesky.errors import DataError, PeskyError, unknown_name
from pesky.extras import to_install

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

FORMATS = ("html", "png", "svg", "pdf")
CONFIG = {"displaylogo": False, "responsive": True}
"""Plotly's, of every figure in a page."""
WIDTH, HEIGHT = 1000, 560
"""Of an image, in pixels, where the figure does not say; PNG has twice as many."""


def write(figure: "Figure", path: str | Path) -> Path:
    """The path of the file that the figure was written to: .html, or .png, .svg or .pdf, which need a browser."""
    file = Path(path)
    kind = file.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise DataError(f"{path}: {unknown_name('ending', kind, FORMATS)}")
    content = figure.to_html(config=CONFIG).encode() if kind == "html" else image(figure, kind)
    try:
        file.write_bytes(content)
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}): give a file in a folder that exists.") from error
    return file


def image(figure: "Figure", kind: str) -> bytes:
    """The figure as an image of this kind; a PeskyError where what draws it is not installed."""
    try:
        from choreographer.errors import BrowserFailedError, ChromeNotFoundError
        from kaleido import calc_fig_sync
    except ImportError as error:
        raise PeskyError(f"a .{kind} needs kaleido, which is not installed: {to_install('show')}.") from error
    layout: Any = figure.layout
    size = {"width": layout.width or WIDTH, "height": layout.height or HEIGHT}
    try:
        return calc_fig_sync(figure, opts={"format": kind, "scale": 2 if kind == "png" else 1, **size})
    except (ChromeNotFoundError, BrowserFailedError, FileNotFoundError) as error:
        raise PeskyError(
            f"a .{kind} needs Chrome or Chromium, which was not found or did not start: install it "
            "(`apt-get install chromium`, or `plotly_get_chrome`), or name it in the environment variable "
            "BROWSER_PATH; a .html needs none."
        ) from error
