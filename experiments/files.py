"""Files of results: small, the same for the same results, and never half written."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, SupportsFloat

OUT = Path("docs/experiments")
"""Where results and pictures are kept, from the root of the repository."""
RUNS = Path("experiments/runs")
"""Where unfinished work is kept, out of version control."""


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes all of it or, when killed in between, leaves what was there before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.part")
    draft.write_text(lay_out(content) + "\n")
    draft.replace(path)


def lay_out(content: Any, depth: int = 0) -> str:
    """JSON with a line for each name, and each list on one line: a change of one curve is a change of its lines."""
    if not isinstance(content, Mapping) or not content:
        return json.dumps(content, separators=(",", ":"), allow_nan=False)
    indent = " " * (depth + 1)
    lines = [f"{indent}{json.dumps(str(name))}: {lay_out(value, depth + 1)}" for name, value in content.items()]
    return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"


def rounded(values: Iterable[SupportsFloat], digits: int) -> list[float]:
    """The values with so many significant digits, which is what keeps files small."""
    return [float(f"{float(value):.{digits}g}") for value in values]
