"""Belief: what is believed of each outcome along the parameters, what was measured, and where the solution may be."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pesky.problem import Option
from pesky.show.findings import Findings
from pesky.show.indices import most_important
from pesky.show.labels import label, listed, percent, value
from pesky.show.lines import draw_lines
from pesky.show.maps import draw_maps
from pesky.show.slices import line, named, plane
from pesky.show.theme import nothing, themed
from pesky.show.view import View
from pesky.study import Study

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

COLUMNS = 6
"""The most parameters that a matrix of slices has room for."""


def view_of(
    findings: Findings,
    parameters: Sequence[str] | None = None,
    at: Mapping[str, Option] | None = None,
) -> View:
    """The numbers of the picture: a plane for two parameters, else a line for each; those that matter most of many."""
    inferred, answer = findings.inferred, findings.answer
    point = {**answer.params, **(at or {})}
    inferred.space.check(point)
    names = _names(findings, parameters)
    planes = (
        (plane(inferred, point, names),) if len(names) == 2 else tuple(line(inferred, point, each) for each in names)
    )
    return View(inferred, point, planes, tuple(findings.points), findings.solution, answer)


def _names(findings: Findings, given: Sequence[str] | None) -> tuple[str, ...]:
    known = findings.problem.parameters
    if given is None:
        return tuple(known) if len(known) <= COLUMNS else most_important(findings.indices, tuple(known), COLUMNS)
    return named("belief", given, known)


def belief(
    study: "Study | Findings",
    parameters: Sequence[str] | None = None,
    at: Mapping[str, Option] | None = None,
) -> "Figure":
    """What is believed of each outcome: along one parameter, over a plane of two, or a matrix of slices of more.

    `parameters` are those to look along, the ones that matter most if not given; the others are as the answer has them,
    or `at` says.
    """
    title = "Belief: what is known of each outcome, and where the solution may be"
    findings = Findings.of(study)
    if findings.missing:
        return nothing(title, label(findings.missing, 100))
    view = view_of(findings, parameters, at)
    figure = draw_maps(view) if view.is_plane else draw_lines(view)
    return themed(figure, title, _said(view, at or {}))


def _said(view: View, given: Mapping[str, Option]) -> str:
    """What all slices have in common."""
    shown = [name for each in view.slices for name in each.parameters]
    every = list(view.inferred.space.parameters)
    others = [name for name in every if name not in shown] if len(view.slices) == 1 else []
    parts = [f"{label(name)} = {value(view.at[name])}" for name in others[:4]]
    if len(others) > 4:
        parts.append(f"{len(others) - 4} more")
    where = f"at {', '.join(parts)}" if parts else ""
    if len(view.slices) > 1:
        where = (
            "slices through the answer"
            if not given
            else f"slices through {listed(list(given))} as given, and the answer"
        )
        where += f"; {len(shown)} of {len(every)} parameters" if len(shown) < len(every) else ""
    if where and not view.is_plane:
        where += "; points are paler the farther they are from it"
    infeasible = view.solution.infeasible
    doubt = f"{percent(infeasible)} of the functions that fit the data have no feasible point" if infeasible else ""
    return "; ".join(filter(None, [where, doubt]))
