"""Pictures of results, where there is what draws them."""

from importlib.util import find_spec
from pathlib import Path


def draw_if_possible(path: Path) -> None:
    """Draws a file of results; where matplotlib is missing, as on many a GPU machine, says how to do it elsewhere."""
    if find_spec("matplotlib") is None:
        print(f"{path}: draw it where matplotlib is installed, by python -m experiments.draw {path}")
        return
    from experiments.draw import draw_file

    for picture in draw_file(path):
        print(picture)
