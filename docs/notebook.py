"""`python -m docs.notebook [FILE ..]`: runs notebooks from above, and keeps in them what each cell prints and shows.

A notebook is JSON, and its cells are Python without magic: this needs neither a server nor a kernel. Figures are kept
as images, so that they are seen wherever the notebook is.
"""

import ast
import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from PIL import Image

FOLDER = Path(__file__).parent / "notebooks"
Show = Callable[[Any], dict[str, Any]]


def executed(notebook: dict[str, Any], show: Show) -> dict[str, Any]:
    """The notebook with the outputs of today; `show` says what is kept of the value of a cell's last line."""
    names: dict[str, Any] = {"__name__": "notebook"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            printed, value = run("".join(cell["source"]), names)
            outputs: list[dict[str, Any]] = []
            if printed:
                outputs.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)})
            if value is not None:
                kept = {"data": show(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"}
                outputs.append(kept)
            cell = cell | {"execution_count": count, "outputs": outputs}
        cells.append(cell)
    return notebook | {"cells": cells}


def run(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """What a cell prints, and the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None
    return printed.getvalue(), value


def shown(value: Any) -> dict[str, Any]:
    """A value as text, and as an image or a piece of a page if it has one."""
    if hasattr(value, "to_plotly_json"):
        from pesky.show import write

        picture = write(value, FOLDER / "figure.png")
        small = BytesIO()
        Image.open(picture).convert("RGB").quantize(128).save(small, "png", optimize=True)
        picture.unlink()
        return {"image/png": b64encode(small.getvalue()).decode(), "text/plain": ["a figure"]}
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def page_of(notebook: dict[str, Any], name: str) -> str:
    """The notebook as a page of the site."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                parts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            elif image := output["data"].get("image/png"):
                width = Image.open(BytesIO(b64decode(image))).width // 2
                parts.append(f'<img alt="The figure of this cell" width="{width}" src="data:image/png;base64,{image}">')
            elif page := output["data"].get("text/html"):
                parts.append(f"<div>{''.join(page)}</div>")
            else:
                parts.append(f"```text\n{''.join(output['data']['text/plain'])}\n```")
    return "\n\n".join([*parts, f"[This page as a notebook]({name})"])


def main(arguments: Sequence[str]) -> None:
    """Rewrites notebooks: those given, or all."""
    for file in map(Path, arguments) if arguments else sorted(FOLDER.glob("*.ipynb")):
        notebook = executed(json.loads(file.read_text()), shown)
        file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
