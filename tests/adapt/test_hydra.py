"""The sweeper for Hydra: what it sweeps over, what becomes of jobs, and Hydra's own command line."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import OmegaConf

from docs.transcripts import blocks_of
from hydra_plugins.pesky_sweeper import PeskySweeper, PeskySweeperConf
from pesky import Choice, DataError, Integer, Real, Study
from pesky.adapt.hydra import _swept

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"


def swept(text: str) -> Any:
    parser = OverridesParser.create()
    return _swept(parser.parse_override(text), parser)


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("x=interval(0,1)", Real(0, 1)),
        ("x=tag(log,interval(1e-5,1e-1))", Real(1e-5, 1e-1, log=True)),
        ("x=int(interval(1,5))", Integer(1, 5)),
        ("x=tag(log,int(interval(1,512)))", Integer(1, 512, log=True)),
        ("x=range(1,10)", Integer(1, 9)),
        ("x=a,'b c',3,true,null", Choice(["a", "b c", 3, True, "null"])),
        ("x=shuffle(choice(1,2,3))", Choice([1, 2, 3])),
        ("x=[1,2],[3]", Choice(["[1,2]", "[3]"])),
    ],
)
def test_sweeps_are_parameters(text: str, parameter: object):
    assert swept(text).parameter == parameter


def test_values_are_told_as_overrides_that_mean_them():
    options = swept("+new.x=a,'b c=',3,true,null,[1,2]")
    parser = OverridesParser.create()
    for option, meant in zip(options.parameter.options, ["a", "b c=", 3, True, None, [1, 2]], strict=True):
        override = parser.parse_override(options.override(option))
        assert (override.get_key_element(), override.value()) == ("+new.x", meant)
        assert type(override.value()) is type(meant)
    assert swept("x=interval(0,1)").override(1e-7) == "x=1e-07"
    assert swept("x=int(interval(0,5))").override(3) == "x=3"


@pytest.mark.parametrize("text", ["x=range(0,10,2)", "x=range(0.0,1.0,0.5)"])
def test_steps_are_refused_in_words(text: str):
    with pytest.raises(DataError, match="one by one, or an interval"):
        swept(text)


class Job:
    """What a launcher gives back."""

    def __init__(self, result: Any) -> None:
        self.result = result

    @property
    def return_value(self) -> Any:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class Launcher:
    """One that runs a function of the overrides at once, and remembers the batches."""

    def __init__(self, function: Any) -> None:
        self.function, self.batches = function, []

    def launch(self, batch: Any, initial_job_idx: int) -> list[Job]:
        assert initial_job_idx == sum(map(len, self.batches))
        self.batches.append(batch)
        given = [dict(each.split("=", 1) for each in overrides if "=" in each) for overrides in batch]
        return [Job(self.function(each)) for each in given]


def sweeper(folder: Path, function: Any, **options: Any) -> Any:
    """A sweeper as Hydra sets it up, without Hydra; it asks a sequence, and so in no time."""
    given = OmegaConf.merge(OmegaConf.structured(PeskySweeperConf), {"name": "net", "rule": "sobol", **options})
    made: Any = PeskySweeper(**{str(key): value for key, value in given.items() if key != "_target_"})
    made.config = OmegaConf.create({"hydra": {"sweep": {"dir": str(folder)}}})
    made.hydra_context = SimpleNamespace(config_loader=None)
    made.launcher = Launcher(function)
    made.validate_batch_is_legal = lambda batch: None
    return made


SPACE = {"params": {"x": "interval(0,1)"}, "noise": 0.0}


def kept(folder: Path, name: str = "study.db") -> Study:
    return Study.load(f"sqlite:///{folder / name}")


def test_jobs_are_evaluations_and_the_last_confirms(tmp_path: Path):
    made = sweeper(
        tmp_path,
        lambda given: {"f": float(given["x"]), "heat": 1.0},
        minimize="f",
        constraints=["heat <= 2"],
        evaluations=6,
        n_jobs=3,
        **SPACE,
    )
    answer = made.sweep(["fixed=5", "+added=1", "~gone"])
    assert [len(batch) for batch in made.launcher.batches] == [3, 2, 1]
    assert all(
        overrides[:3] == ["fixed=5", "+added=1", "~gone"] for batch in made.launcher.batches for overrides in batch
    )
    study = kept(tmp_path)
    assert [e.outcomes["f"] == e.params["x"] for e in study.evaluations.values()] == [True] * 6
    assert (study.evaluations[5].why or {})["kind"] == "confirming"
    said = OmegaConf.load(tmp_path / "optimization_results.yaml")
    assert (said.best_params.x, said.best_value) == (answer.params["x"], answer.expected)
    assert (tmp_path / "multirun.yaml").exists()


def test_failures_are_recorded_and_a_part_of_the_outcomes_is_enough(tmp_path: Path):
    results = iter([{"f": 1.0, "heat": 1.0}, ValueError("burnt"), {"heat": 3.0}, 7.0, {"f": 1.0, "cold": 1.0}])
    made = sweeper(
        tmp_path,
        lambda given: next(results),
        minimize="f",
        constraints=["heat <= 2"],
        failures="learn",
        evaluations=5,
        storage=str(tmp_path / "other.db"),
        **SPACE,
    )
    made.sweep([])
    study = kept(tmp_path, "other.db")
    done, burnt, part, number, unknown = study.evaluations.values()
    assert done.state == "done"
    assert (burnt.state, burnt.error) == ("failed", "ValueError: burnt")
    assert (part.state, part.outcomes) == ("abandoned", {"heat": 3.0})
    assert "returned 7.0: expected its outcomes, like {'f': ..., 'heat': ...}" in str(number.error)
    assert "'cold'" in str(unknown.error)
    assert study.problem.tasks["all"].failures == "learn"


def test_a_sweep_goes_on_where_the_last_one_ended(tmp_path: Path):
    for evaluations, jobs in ((2, 2), (3, 1), (3, 0)):
        made = sweeper(tmp_path, lambda given: float(given["x"]), maximize="f", evaluations=evaluations, **SPACE)
        made.sweep([])
        assert len(made.launcher.batches) == jobs
    assert len(kept(tmp_path).evaluations) == 3


def test_jobs_that_cannot_work_anywhere_end_the_sweep(tmp_path: Path):
    made = sweeper(tmp_path, lambda given: NameError("lr"), minimize="f", evaluations=9, **SPACE)
    with pytest.raises(HydraException, match="all failed in the same way"):
        made.sweep([])
    assert [e.state for e in kept(tmp_path).evaluations.values()] == ["failed"] * 3


def test_an_interrupted_sweep_leaves_nothing_that_nobody_measures(tmp_path: Path):
    def interrupt(given: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweeper(tmp_path, interrupt, minimize="f", evaluations=2, **SPACE).sweep([])
    sweeper(tmp_path, lambda given: 1.0, minimize="f", evaluations=2, **SPACE).sweep([])
    assert [e.state for e in kept(tmp_path).evaluations.values()] == ["done", "done"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"minimize": None}, "pesky: .*minimize"),
        ({"minimize": "f", "params": {}}, "pesky: .*parameter"),
        ({"minimize": "f", "failures": "ignore"}, 'expected "record", "learn" or "random"'),
        ({"minimize": "f", "rule": "best"}, "pesky: .*rule"),
        ({"minimize": "f", "storage": "mysql://me:secret@host/db"}, r"pesky: .*me:\*\*\*@host"),
    ],
)
def test_what_is_wrong_is_said_as_hydras_errors(tmp_path: Path, options: dict[str, Any], says: str):
    with pytest.raises(HydraException, match=says):
        sweeper(tmp_path, None, **(SPACE | options)).sweep([])


def test_hydras_own_command_line_sweeps_as_the_page_shows(tmp_path: Path):
    for block in blocks_of(PAGE.read_text()):
        if block.title:
            (tmp_path / block.title).write_text(block.text)
    command = [sys.executable, "train.py", "--multirun", "hydra.sweep.dir=sweep", "hydra.sweeper.rule=sobol"]
    more = ["hydra.sweeper.evaluations=4", "hydra.sweeper.n_jobs=2", "units=int(interval(8,64))", "+note='a b'"]
    ran = subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert "P(latency_ms <= 2)" in ran.stdout
    study = kept(tmp_path / "sweep")
    assert study.name == "train"
    assert [e.state for e in study.evaluations.values()] == ["done"] * 4
    assert all(8 <= int(e.params["units"]) <= 64 for e in study.evaluations.values())
    assert {each.name for each in (tmp_path / "sweep").iterdir()} >= {"0", "1", "2", "3", "study.db"}
    assert "note: a b" in (tmp_path / "sweep" / "0" / ".hydra" / "config.yaml").read_text()
