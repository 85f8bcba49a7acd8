"""A callback that keeps each evaluation as a run in MLflow: its parameters, outcomes and what became of it."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pesky.errors import PeskyError, ProblemError
from pesky.extras import to_install
from pesky.store import Evaluation, State
from pesky.study import Study
from pesky.text import visible

try:
    import mlflow
    from mlflow.entities import Metric, Param, RunTag
    from mlflow.tracking import MlflowClient
except ImportError as missing:
    raise PeskyError(
        f"MLflow is not installed, which this callback writes to: {to_install('mlflow')} (or mlflow itself)."
    ) from missing

__all__ = ["MLflowCallback"]

RESERVED = "mlflow."
"""What the names of MLflow's own tags begin with."""
LONGEST = 5000
"""Characters of a text that every tracking server takes."""


class MLflowCallback:
    """For `study.run(..., callbacks=[MLflowCallback()])`: every evaluation that was told or failed is a run.

    Its parameters are the run's; outcomes, seconds, gain and price are metrics; number, task, state, reason and
    attributes are tags. Runs are in the experiment that has the study's name, or below the run that is active in MLflow
    when they are logged.

    Args:
        tracking_uri: Where MLflow keeps them, like "sqlite:///mlflow.db" or "http://host:5000"; where MLflow says so if
            not given.
        experiment: The name of the experiment, where it is not the study's.
        tags: More tags for every run.
    """

    def __init__(
        self,
        tracking_uri: str | None = None,
        *,
        experiment: str | None = None,
        tags: Mapping[str, object] | None = None,
    ) -> None:
        for what, given in (("tracking_uri", tracking_uri), ("experiment", experiment)):
            if given is not None and (not isinstance(given, str) or not given.strip()):
                raise ProblemError(f"{what} was {given!r}: expected a text, or leave it out.")
        if tags is not None and not isinstance(tags, Mapping):
            raise ProblemError(f'tags was {tags!r}: expected a mapping, like {{"team": "a"}}.')
        self._tracking_uri, self._experiment, self._tags = tracking_uri, experiment, dict(tags or {})

    def __call__(self, study: Study, evaluation: Evaluation) -> None:
        """Keep the evaluation as a run that has ended."""
        e, client = evaluation, MlflowClient(self._tracking_uri)
        parent = mlflow.active_run() if self._tracking_uri in (None, mlflow.get_tracking_uri()) else None
        below = {} if parent is None else {"mlflow.parentRunId": parent.info.run_id}
        tags = _attributes(e) | self._tags | _tags(study, e) | below
        began, ended = e.asked if e.began is None else e.began, e.began if e.ended is None else e.ended
        run = client.create_run(
            parent.info.experiment_id if parent is not None else self._experiment_id(client, study),
            start_time=_milliseconds(began),
            run_name=_text(f"{study.name} {e.id} {e.task}"),
        )
        when = _milliseconds(began if ended is None else ended)
        try:  # whatever the server does not take, a run has its end
            client.log_batch(
                run.info.run_id,
                metrics=[Metric(key, float(value), when, 0) for key, value in _keys(_metrics(e)).items()],
                params=[Param(key, _text(value)) for key, value in _keys(e.params).items()],
                tags=[RunTag(key, _text(value)) for key, value in _keys(tags).items()],
            )
        finally:
            client.set_terminated(run.info.run_id, "FINISHED" if e.state is State.DONE else "FAILED", when)

    def _experiment_id(self, client: MlflowClient, study: Study) -> str:
        name = self._experiment or study.name
        found = client.get_experiment_by_name(name)
        if found is not None:
            return found.experiment_id
        try:
            return client.create_experiment(name)
        except mlflow.MlflowException:  # another process was quicker
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
            return found.experiment_id


def _metrics(e: Evaluation) -> dict[str, float]:
    ours = {"pesky.seconds": e.seconds, "pesky.gain": e.gain, "pesky.price": e.price}
    return dict(e.outcomes) | {key: value for key, value in ours.items() if value is not None}


def _tags(study: Study, e: Evaluation) -> dict[str, object]:
    ours = {
        "pesky.study": study.name,
        "pesky.evaluation": e.id,
        "pesky.task": e.task,
        "pesky.state": e.state.value,
        "pesky.worker": e.worker,
        "pesky.error": e.error,
    }
    return {key: value for key, value in ours.items() if value is not None}


def _attributes(e: Evaluation) -> dict[str, object]:
    """What a measurement told besides, under names that are not MLflow's: those decide where a run is and whose."""
    return {f"attribute.{key}" if key.startswith(RESERVED) else key: value for key, value in e.attributes.items()}


def _keys(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same by names that MLflow takes: letters, digits, blanks and _ - . / stay as they are, but not in a path."""
    return dict(zip(_names(given), given.values(), strict=True))


def _names(given: Iterable[str]) -> list[str]:
    found: list[str] = []
    for key in given:
        name = re.sub(r"[^\w\-./ ]", "_", key)[:240] or "_"
        if name.startswith(("/", "..")) or name == "." or posixpath.normpath(name) != name:
            name = re.sub(r"[./]", "_", name)  # MLflow would take it for a file elsewhere, and refuse the whole run
        found.append(name if name not in found else f"{name}_{len(found)}")
    return found


def _text(value: object) -> str:
    return visible(str(value))[:LONGEST]


def _milliseconds(seconds: float | None) -> int:
    return int(1000 * (seconds or 0.0))
