"""The report: one page of a study that opens anywhere, offline, with its answer, its pictures and all evaluations."""

import importlib.metadata
import json
import platform
import secrets
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from pesky.data.formatting import is_feasible, noises_in_words, reason_of, shown_state
from pesky.errors import DataError
from pesky.inference.noise import noise_of
from pesky.markup import WHOLE, escaped, facts, table
from pesky.problem import Problem
from pesky.show.belief import belief
from pesky.show.calibration import calibration
from pesky.show.findings import Findings
from pesky.show.importance import importance
from pesky.show.limits import limits
from pesky.show.parallel import parallel
from pesky.show.progress import progress
from pesky.show.theme import DARK, LIGHT, plotly, template
from pesky.show.timeline import timeline
from pesky.show.why import why
from pesky.show.write import CONFIG
from pesky.store import Evaluation, State
from pesky.store.evaluation import short
from pesky.study import Study
from pesky.study.export import OURS, TIMES
from pesky.study.export import table as records
from pesky.wording import counted

PICTURES = (progress, belief, why, limits, importance, parallel, timeline, calibration)
LIBRARIES = ("pesky", "torch", "botorch", "gpytorch", "numpy", "plotly")
HIDDEN = tuple(OURS + each for each in ("attempts", "crashes", "losses", "is_mistake", "is_excluded", "cause"))
"""Columns of the table of evaluations that few look for; `pesky show --csv` has them."""
NAMES = {OURS + "error": "reason", **{OURS + each: f"{each} (UTC)" for each in TIMES}}
"""What its columns are called here, where they are not called as there."""
ANSWERS = {True: "yes", False: "no", None: "?"}
"""Also whether all constraints held as measured."""


def report(study: "Study | Findings", path: str | Path) -> Path:
    """The path of the page that was written: everything about a study, in one file that asks for no other."""
    file = Path(path)
    text = page_of(Findings.of(study))
    try:
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}): give a file in a folder that exists.") from error
    return file


def page_of(findings: Findings) -> str:
    """The whole page as HTML."""
    nonce = secrets.token_urlsafe(16)
    figures = [plain(picture(findings)) for picture in PICTURES]
    shown = "".join(f"<figure><div class='picture' data-figure='{i}'></div></figure>" for i in range(len(figures)))
    parts = "".join(f"<section><h2>{title}</h2>{body}</section>" for title, body in sections(findings, shown))
    data = {"figures": figures, "light": template(LIGHT), "dark": template(DARK), "config": CONFIG}
    name = escaped(findings.study.name, 120)
    # whatever slipped in as a script would not be run, and nothing is fetched from anywhere
    policy = f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data: blob:"
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{name}</title><style>{_part('page.css')}</style></head><body><main><h1>{name}</h1>{parts}</main>"
        f"<script nonce='{nonce}'>{_plotly_js()}</script>"
        f"<script type='application/json' id='data'>{_json(data)}</script>"
        f"<script nonce='{nonce}'>{_part('fit.js')}{_part('page.js')}</script></body></html>"
    )


def sections(findings: Findings, pictures: str) -> Iterator[tuple[str, str]]:
    """Titles and bodies of the page's parts, as HTML."""
    study = findings.study
    noise = (
        {} if findings.missing else noise_of(study.problem, findings.inferred.belief, findings.inferred.observations)
    )
    yield "The problem", facts({**study.problem.in_words(), "noise": noises_in_words(study.problem, noise)})
    yield "The answer", _answer(findings)
    yield "Pictures", pictures
    failed = [e for e in findings.evaluations.values() if e.state in (State.FAILED, State.LOST)]
    if failed:
        rows = [[e.id, e.task, e.state.value, _where(e), e.error or ""] for e in failed]
        yield f"Failures ({len(failed)})", table(["#", "task", "state", "parameters", "reason"], rows, "failures")
    yield f"All evaluations ({len(findings.evaluations)})", _evaluations(findings)
    yield "Versions and seed", facts(_versions(study))


def _answer(findings: Findings) -> str:
    if findings.missing:
        return f"<p>{escaped(findings.missing)}</p>"
    return facts(findings.answer_in_words(), WHOLE)


def _where(e: Evaluation) -> str:
    return ", ".join(f"{name}={short(value)}" for name, value in e.params.items())


def _evaluations(findings: Findings) -> str:
    every = list(findings.evaluations.values())
    if not every:
        return "<p>none yet</p>"
    rows = [_row(findings.problem, e, each) for e, each in zip(every, records(findings.problem, every), strict=True)]
    shown = [name for name in rows[0] if name not in HIDDEN and any(row[name] not in (None, "", False) for row in rows)]
    names = [NAMES.get(name, name.removeprefix(OURS)) for name in shown]
    cells = [[_text(row[name]) for name in shown] for row in rows]
    return f"<div class='wide'>{table(names, cells, 'evaluations')}</div>"


def _row(problem: Problem, e: Evaluation, record: Mapping[str, object]) -> dict[str, object]:
    """The record of an evaluation as people read it: also whether it was feasible, and what was corrected."""
    times = {
        name: str(record[name])[:19].replace("T", " ")
        for name in (OURS + each for each in TIMES)
        if record[name] is not None
    }
    feasible = {OURS + "feasible": ANSWERS[is_feasible(e, problem)] if problem.constraints and e.outcomes else ""}
    said = {OURS + "state": shown_state(e), OURS + "error": reason_of(e)}
    said |= {name: ANSWERS[bool(e.outcomes[name])] for name in problem.yes_no & record.keys() & e.outcomes.keys()}
    at = list(record).index(OURS + "state")
    first, rest = dict(list(record.items())[:at]), dict(list(record.items())[at:])
    return {**first, **feasible, **said, **rest, **times, **said}  # what was corrected is seen without scrolling


def _text(value: object) -> object:
    return ("yes" if value else "") if isinstance(value, bool) else value


def _versions(study: Study) -> dict[str, str]:
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    said = ", ".join(f"{name} {version}" for name, version in versions.items())
    evaluations = counted(len(study.evaluations))
    return {
        "study": f"{study.name} ({study.identity[:6]}), {evaluations}",
        "seed": str(study.seed),
        "rule": study.rule.name,
        "versions": f"{said}, Python {platform.python_version()}",
        "written": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }


def plain(figure: Any) -> dict[str, Any]:
    """The figure as JSON has it, without its template, which the page puts in."""
    plain = json.loads(figure.to_json())
    plain["layout"].pop("template", None)
    return plain


def _json(data: Mapping[str, Any]) -> str:
    """JSON that ends no script and begins no comment."""
    return json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _part(name: str) -> str:
    return files("pesky.show").joinpath(name).read_text(encoding="utf-8")


def _plotly_js() -> str:
    plotly()
    from plotly.offline import get_plotlyjs

    return get_plotlyjs().replace("</script", "<\\/script")
