"""Timeline: when which evaluation was measured on what, and what became of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pesky.problem import Problem
from pesky.show.findings import Findings
from pesky.show.labels import label
from pesky.show.theme import BLUE, GREY, ORANGE, PURPLE, SKY, VERMILION, nothing, plotly, themed
from pesky.store import Evaluation, State
from pesky.study import Study
from pesky.text import one_line
from pesky.wording import counted, duration

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LOOKS = {
    "done": (BLUE, ""),
    "your data": (SKY, ""),
    "failed": (VERMILION, "x"),
    "lost": (ORANGE, "/"),
    "crashed": (PURPLE, "\\"),
    "released": (GREY, "/"),
    "running": (GREY, "."),
    "pending": (GREY, "."),
    "abandoned": (GREY, "-"),
}
"""Color and pattern of a bar, by what became of the attempt: print in black and white tells them apart, too."""
THIN = 0.003
"""The share of the whole time that a bar is wide at least, so that it is seen."""


@dataclass(frozen=True)
class Bar:
    """One attempt at an evaluation."""

    evaluation: int
    task: str
    row: str
    """What it ran on: a resource, a worker, or its task where neither is known."""
    lane: int
    """Which of those that ran there at the same time, from 0."""
    began: float
    ended: float
    """Seconds since the first question."""
    kind: str
    """A key of LOOKS."""
    said: str
    """Its parameters, what came out or why it failed; in plain text."""


def bars_of(findings: Findings) -> list[Bar]:
    """Every attempt at every evaluation, in the order in which they began; of an open one, to this day."""
    evaluations = [e for e in findings.evaluations.values() if e.state is not State.QUEUED]
    times = [t for e in evaluations for t in (e.asked, e.began, e.ended) if t is not None]
    times += [t for e in evaluations for each in e.history for t in (each.began, each.ended) if t is not None]
    if not times:
        return []
    start, now = min(times), max(times)
    workers = {e.worker for e in evaluations if e.worker is not None}
    spans = sorted(_spans(evaluations, findings.problem, now, len(workers) > 1), key=lambda each: each[:3])
    free: dict[str, list[float]] = {}
    found = []
    for began, ended, id_, row, kind, said, task in spans:
        lanes = free.setdefault(row, [])
        lane = next((i for i, until in enumerate(lanes) if until <= began), len(lanes))
        lanes[lane : lane + 1] = [ended]
        found.append(Bar(id_, task, row, lane, began - start, ended - start, kind, said))
    return found


def _spans(
    evaluations: Iterable[Evaluation], problem: Problem, now: float, by_worker: bool
) -> Iterable[tuple[float, float, int, str, str, str, str]]:
    for e in evaluations:
        where = ", ".join(f"{name}={value}" for name, value in e.params.items())
        for each in e.history:
            row = _row(problem, e.task, each.worker if by_worker else None)
            began = each.ended if each.began is None else min(each.began, each.ended)
            yield began, each.ended, e.id, row, each.cause.value, f"{where}\n{each.error}", e.task
        if e.state is State.LOST and e.history:
            continue  # its last attempt is among those of its history
        kind = "your data" if e.is_yours and e.state is State.DONE else e.state.value
        told = ", ".join(f"{name}={value:.6g}" for name, value in e.outcomes.items())
        ended = now if e.is_open or e.ended is None else e.ended
        began = e.asked if e.began is None else e.began
        # how long it took, where its worker said so: what was asked may have waited before it was measured
        began = max(began, ended - e.seconds) if e.seconds is not None and not e.is_open else min(began, ended)
        row = _row(problem, e.task, e.worker if by_worker else None)
        yield began, ended, e.id, row, kind, f"{where}\n{e.error or told}", e.task


def _row(problem: Problem, task: str, worker: str | None) -> str:
    """The resource that runs a task, the worker if it is known, or else the task."""
    resource = next((name for name, each in problem.resources.items() if task in each.tasks), None)
    # of the name of a process its machine, number and mark; where and when it began is for other processes to know
    return resource or (task if worker is None else ":".join(worker.split(":")[:3]))


def timeline(study: "Study | Findings") -> "Figure":
    """When which evaluation was measured on what: its resource, its worker or its task; and what became of it."""
    title, bars = "Timeline: evaluations on what they ran, and what became of them", bars_of(Findings.of(study))
    if not bars:
        return nothing(title, "nothing was asked yet")
    go = plotly()
    unit, per_unit = _unit(max(bar.ended for bar in bars))
    least = THIN * max(bar.ended for bar in bars)
    places = _places(bars)
    figure = go.Figure()
    for kind, (color, pattern) in LOOKS.items():
        own = [bar for bar in bars if bar.kind == kind]
        if not own:
            continue
        figure.add_bar(
            orientation="h",
            base=[bar.began / per_unit for bar in own],
            x=[max(bar.ended - bar.began, least) / per_unit for bar in own],
            y=[places[bar.row, bar.lane] for bar in own],
            width=0.8,
            name=kind,
            marker={
                "color": color,
                "pattern": {"shape": pattern, "solidity": 0.35},
                "line": {"width": 0.5, "color": "rgba(255,255,255,0.6)"},
            },
            hovertext=[_said(bar) for bar in own],
            hoverinfo="text",
        )
    rows: dict[str, list[int]] = {}
    for (row, _), place in places.items():
        rows.setdefault(row, []).append(place)
    ticks = {sum(each) / len(each): label(row) for row, each in rows.items()}
    figure.update_yaxes(
        tickmode="array", tickvals=[*ticks], ticktext=[*ticks.values()], autorange="reversed", showgrid=False
    )
    figure.update_xaxes(title_text=f"{unit} since the first question")
    for row in list(rows.values())[1:]:
        figure.add_hline(y=min(row) - 0.5, line={"width": 1})
    kinds = {kind: sum(bar.kind == kind for bar in bars) for kind in LOOKS}
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    subtitle = (
        f"{counted(len({bar.evaluation for bar in bars}))} in {duration(max(bar.ended for bar in bars))}: {counts}"
    )
    return themed(figure, title, subtitle, barmode="overlay", height=180 + 34 * len(places), bargap=0.1)


def _places(bars: Iterable[Bar]) -> Mapping[tuple[str, int], int]:
    """The height of each lane, those of one row together."""
    lanes = sorted({(bar.row, bar.lane) for bar in bars})
    rows = list(dict.fromkeys(bar.row for bar in bars))
    return {each: i for i, each in enumerate(sorted(lanes, key=lambda lane: (rows.index(lane[0]), lane[1])))}


def _said(bar: Bar) -> str:
    lines = [label(one_line(each), 100) for each in bar.said.split("\n")[:2] if each]
    return "<br>".join([f"#{bar.evaluation} {label(bar.task)}: {bar.kind}, {duration(bar.ended - bar.began)}", *lines])


def _unit(seconds: float) -> tuple[str, float]:
    """In what times are counted, and how many seconds that is."""
    return ("hours", 3600.0) if seconds > 7200 else ("minutes", 60.0) if seconds > 180 else ("seconds", 1.0)
