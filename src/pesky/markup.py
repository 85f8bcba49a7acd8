"""HTML of facts and tables: every text in it is escaped, whoever wrote it."""

import html
from collections.abc import Iterable, Mapping, Sequence

from pesky.text import one_line

MOST, WHOLE = 300, 20_000
"""Characters of a text that are shown; and of one that is never cut, since the names in it are short already."""


def escaped(text: object, most: int = MOST) -> str:
    """The text as HTML shows it as it is written, on one line and no longer than so many characters."""
    return html.escape(one_line(str(text), most))


def facts(given: Mapping[str, str | Sequence[str]], most: int = MOST) -> str:
    """A table of what each fact is called and says, a line for each text; those that say nothing are left out."""
    rows = []
    for name, said in given.items():
        lines = [said] if isinstance(said, str) else list(said)
        if any(lines):
            told = "<br>".join(escaped(each, most) for each in lines)
            rows.append(f"<tr><th style='text-align:left;vertical-align:top'>{escaped(name)}</th>")
            rows.append(f"<td style='text-align:left'>{told}</td></tr>")
    return f"<table class='facts'>{''.join(rows)}</table>"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], identity: str) -> str:
    """A table whose numbers are to the right; `identity` is its id, by which a page makes it sortable."""
    head = "".join(f"<th>{escaped(each, 60)}</th>" for each in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f"<table id='{escaped(identity)}' class='sortable'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(given: object) -> str:
    if isinstance(given, float | int) and not isinstance(given, bool):
        return f"<td class='number' data-value='{given!r}'>{given:.6g}</td>"
    return "<td></td>" if given is None else f"<td>{escaped(given)}</td>"


def sparkline(values: Sequence[float | None], width: int = 260, height: int = 48) -> str:
    """A small picture of numbers in their order, as SVG; nothing where there are less than two."""
    known = [(i, each) for i, each in enumerate(values) if each is not None]
    if len(known) < 2:
        return ""
    low, high = min(each for _, each in known), max(each for _, each in known)
    span, last = (high - low) or 1.0, max(len(values) - 1, 1)
    steps = [(4 + i / last * (width - 8), height - 4 - (each - low) / span * (height - 8)) for i, each in known]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in steps)
    look = "fill='none' stroke='#0072B2' stroke-width='2'"
    return f"<svg width='{width}' height='{height}' role='img'><polyline {look} points='{points}'/></svg>"
