"""What the callback for MLflow keeps, in a store of its own."""

import importlib
import logging
import sys
from pathlib import Path
from typing import Any

import mlflow
import pytest
from mlflow.tracking import MlflowClient
from study.quick import SPLIT, measure, quick, score

from pesky import Choice, PeskyError, Problem, ProblemError, Real
from pesky.adapt.mlflow import MLflowCallback


@pytest.fixture
def uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder, which MLflow wants to be asked for: it is there at once, a database takes seconds of migrations."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    return (tmp_path / "runs").as_uri()


def runs(uri: str, experiment: str) -> list[Any]:
    """The runs of an experiment, the first one first."""
    client = MlflowClient(uri)
    found = client.get_experiment_by_name(experiment)
    assert found is not None
    return sorted(client.search_runs([found.experiment_id]), key=lambda run: int(run.data.tags["pesky.evaluation"]))


def check_runs(uri: str) -> None:
    s = quick(name="net")
    s.run(measure, budget=3, callbacks=[MLflowCallback(uri, tags={"team": "a"})])
    for run, e in zip(runs(uri, "net"), s.evaluations.values(), strict=True):
        assert run.info.status == "FINISHED"
        assert run.info.run_name == f"net {e.id} {next(iter(s.problem.tasks))}"
        assert {name: float(value) for name, value in run.data.params.items()} == dict(e.params)
        assert {name: run.data.metrics[name] for name in e.outcomes} == dict(e.outcomes)
        assert run.data.metrics["pesky.seconds"] == e.seconds
        assert (run.data.tags["team"], run.data.tags["pesky.state"]) == ("a", "done")
        assert run.info.start_time == int(1000 * (e.began or 0))
        assert run.info.start_time <= run.info.end_time == int(1000 * (e.ended or 0))


def test_every_evaluation_is_a_run(uri: str):
    check_runs(uri)


def test_a_database_has_the_same(tmp_path: Path):
    check_runs(f"sqlite:///{tmp_path / 'runs.db'}")


def test_failures_are_runs_with_a_reason_and_attributes_are_tags(uri: str):
    s = quick(SPLIT, name="failing")
    s.run(
        {"score": lambda params: {"f": score(params), "host": "n1"}, "check": lambda params: 1 / 0},
        budget=33,
        callbacks=[MLflowCallback(uri, experiment="elsewhere")],
        keep_going=True,
    )
    found = {run.data.tags["pesky.task"]: run for run in runs(uri, "elsewhere")}
    assert found["check"].info.status == "FAILED"
    assert "ZeroDivisionError" in found["check"].data.tags["pesky.error"]
    assert found["score"].data.tags["host"] == "n1"


def test_runs_are_below_the_one_that_is_active(uri: str):
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(uri)
    try:
        mlflow.set_experiment("outer")
        with mlflow.start_run() as parent:
            quick(name="inner").run(measure, budget=1, callbacks=[MLflowCallback()])
            assert mlflow.active_run() is not None  # which is nobody else's to end
        found = [run for run in MlflowClient(uri).search_runs([parent.info.experiment_id]) if run.info != parent.info]
        assert parent.info.run_id in {run.data.tags.get("mlflow.parentRunId") for run in found}
    finally:
        mlflow.set_tracking_uri(before)


def test_names_that_mlflow_does_not_take_are_written_otherwise(uri: str):
    odd = Problem({"a (b)": Real(0, 1), "a [b]": Choice(["é", "x" * 9000])}, minimize="f/g?", constraints=["ü >= 0"])
    s = quick(odd, name="odd")
    s.run(lambda params: {"f/g?": 1.0, "ü": 2.0}, budget=1, callbacks=[MLflowCallback(uri)])
    (run,) = runs(uri, "odd")
    assert run.data.params.keys() == {"a _b_", "a _b__1"}
    assert run.data.metrics["f/g_"] == 1.0
    assert run.data.metrics["ü"] == 2.0


HOSTILE = {
    "mlflow.parentRunId": "0" * 32, "mlflow.runName": "another", "mlflow.user": "root", "team": "b",
    "pesky.state": "lost", "../../up": "a", "/etc/passwd": "b", "/": "c", "./": "d", "a//b": "e",
    "note": "<script>alert(1)</script>\x1b]0;owned\x07", "=1+1": "\0",
}  # fmt: skip


def test_what_a_program_told_moves_no_run_and_hides_no_result(
    uri: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    """Names that MLflow would take for its own, or for files elsewhere: it refuses a run for one of these."""
    kinds = Choice(["a\x1b[2J", "b\x1b[2J"])
    s = quick(Problem({"../../x": Real(0, 1), "/y": kinds}, minimize="..", constraints=["/c >= 0"]), name="../../net")
    s.run(
        lambda params: {"..": 1.0, "/c": 2.0, **HOSTILE}, budget=1, callbacks=[MLflowCallback(uri, tags={"team": "a"})]
    )
    assert "the callback" not in caplog.text
    (run,) = runs(uri, "../../net")
    assert run.info.status == "FINISHED"
    assert {"__", "_c"} <= run.data.metrics.keys()
    assert run.data.params.keys() == {"______x", "_y"}
    own = {"mlflow.runName": "../../net 0 all", "team": "a", "pesky.state": "done", "pesky.study": "../../net"}
    assert own.items() <= run.data.tags.items()
    assert {key for key in run.data.tags if key.startswith("mlflow.")} == {"mlflow.runName"}
    assert run.data.tags["attribute.mlflow.parentRunId"] == "0" * 32
    texts = " ".join([*run.data.tags.values(), *run.data.params.values()])
    assert not {"\x1b", "\x07", "\0"} & set(texts)
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_nothing_that_mlflow_keeps_reaches_a_study(uri: str):
    s = quick(name="net")
    s.run(measure, budget=1, callbacks=[MLflowCallback(uri)])
    client, (run,) = MlflowClient(uri), runs(uri, "net")
    client.set_tag(run.info.run_id, "pesky.state", "failed")
    client.log_metric(run.info.run_id, "f", -1e9)
    before = dict(s.evaluations[0].outcomes)
    s.run(measure, budget=2, callbacks=[MLflowCallback(uri)])
    assert dict(s.evaluations[0].outcomes) == before
    assert len(s.evaluations) == 2


def test_a_store_that_cannot_be_opened_ends_nothing(caplog: pytest.LogCaptureFixture, tmp_path: Path):
    s = quick()
    with caplog.at_level(logging.WARNING, "pesky"):
        ending = s.run(measure, budget=1, callbacks=[MLflowCallback(tmp_path.as_uri())])
    assert ending.kind == "budget"
    assert "'MLflowCallback' failed on evaluation 0, and the study goes on: MlflowException" in caplog.text


@pytest.mark.parametrize("given", [{"tracking_uri": 3}, {"experiment": " "}, {"tags": ["a"]}])
def test_what_it_cannot_take_is_said_at_once(given: dict[str, Any]):
    with pytest.raises(ProblemError, match=f"{next(iter(given))} was .*expected"):
        MLflowCallback(**given)


def test_without_mlflow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.delitem(sys.modules, "pesky.adapt.mlflow")
    with pytest.raises(PeskyError, match='pip install "alembic>='):
        importlib.import_module("pesky.adapt.mlflow")
