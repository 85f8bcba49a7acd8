"""A Spearmint config becomes a study file that asks the same."""

import json
import tomllib

import numpy as np
import pytest

from pesky.study_file import CallError
from pesky.study_file.spearmint import adapt
from pesky.study_file.spearmint_config import SpearmintError, read_config
from pesky.study_file.spearmint_study import module_text, study_text

SIMPLE = {
    "language": "PYTHON",
    "main-file": "branin.py",
    "experiment-name": "simple",
    "likelihood": "NOISELESS",
    "polling-time": 1,
    "variables": {
        "x": {"type": "FLOAT", "size": 2, "min": -5, "max": 15.0},
        "n": {"type": "int", "size": 1, "min": 1.0, "max": 9},
        "odd name": {"type": "ENUM", "size": 1, "options": ["a", "b"]},
    },
}

DECOUPLED = {
    "experiment-name": "decoupled",
    "variables": {"x": {"type": "FLOAT", "size": 1, "min": 0, "max": 1}},
    "tasks": {
        "loss": {"type": "OBJECTIVE", "group": 0, "cost": 10, "main_file": "train", "likelihood": "GAUSSIAN"},
        "fits": {"type": "CONSTRAINT", "group": 0, "cost": 2, "main_file": "train"},
        "fast": {
            "type": "constraint",
            "group": 1,
            "main-file": "time_it",
            "likelihood": "NOISELESS",
            "resources": ["cpu"],
        },
    },
    "resources": {
        "gpu": {"scheduler": "SLURM", "max-concurrent": 4, "max-finished-jobs": 100},
        "cpu": {"scheduler": "local", "max-concurrent": 2, "max-finished-jobs": 20},
    },
}


@pytest.fixture
def config(tmp_path):
    """A function that reads a config."""

    def read(given):
        (tmp_path / "config.json").write_text(given if isinstance(given, str) else json.dumps(given))
        return read_config(tmp_path / "config.json")

    return read


def test_everything_together(config):
    study = tomllib.loads(study_text(config(SIMPLE), "config.json", "glue"))
    assert study == {
        "name": "simple",
        "minimize": "objective",
        "function": "glue:measure",
        "noise": {"objective": 0.0},
        "parameters": {
            "x_1": {"type": "real", "low": -5, "high": 15},
            "x_2": {"type": "real", "low": -5, "high": 15},
            "n": {"type": "integer", "low": 1, "high": 9},
            "odd name": {"type": "choice", "options": ["a", "b"]},
        },
        "budget": {"evaluations": 50},
        "run": {"workers": 1},
    }


def test_groups_become_tasks_and_resources_keep_their_slots(config):
    text = study_text(config(DECOUPLED), "config.json", "glue")
    study = tomllib.loads(text)
    assert study["constraints"] == ["fits >= 0", "fast >= 0"]
    assert study["noise"] == {"fast": 0.0}
    assert study["tasks"] == {
        "0": {"outcomes": ["loss", "fits"], "cost": 10, "function": "glue:measure_0"},
        "1": {"outcomes": ["fast"], "cost": 1, "function": "glue:measure_1"},
    }
    assert study["resources"] == {"gpu": {"tasks": ["0"], "slots": 4}, "cpu": {"tasks": ["0", "1"], "slots": 2}}
    assert study["budget"] == {"evaluations": 120}
    assert "run" not in study
    assert '# Has no place here: resources.gpu.scheduler = "SLURM"' in text


def test_what_has_no_place_is_said(config):
    text = study_text(config(SIMPLE), "config.json", "glue")
    assert "# Has no place here: polling-time = 1\n" in text
    assert '# Has no place here: language = "PYTHON"\n' in text


def test_the_module_calls_each_main(config):
    text = module_text(config(DECOUPLED))
    assert "from time_it import main as time_it_main\nfrom train import main as train_main\n" in text
    assert "measure_0 = adapt(train_main, SIZES, ['loss', 'fits'])" in text
    assert "measure_1 = adapt(time_it_main, SIZES, ['fast'])" in text


def test_tasks_of_one_main_without_groups_are_measured_together(config):
    read = config({**SIMPLE, "tasks": {"f": {"type": "OBJECTIVE"}, "c": {"type": "CONSTRAINT"}}})
    assert [[outcome.name for outcome in group] for group in read.groups.values()] == [["f", "c"]]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("{", "is no JSON"),
        ("[]", 'has no "variables"'),
        ({"variables": {}}, 'has no "variables"'),
        ({**SIMPLE, "variables": {"x": 3}}, "the variable 'x' was 3"),
        ({**SIMPLE, "variables": {"x": {"type": "FLAOT"}}}, "Did you mean 'FLOAT'?"),
        ({**SIMPLE, "variables": {"x": {"type": "FLOAT", "max": 1}}}, "has no 'min'"),
        ({**SIMPLE, "variables": {"x": {"type": "ENUM"}}}, "has no 'options'"),
        (
            {**SIMPLE, "variables": {"x": {"type": "FLOAT", "min": 0, "max": 1, "size": 0}}},
            "size was 0: expected a whole",
        ),
        ({**SIMPLE, "max-concurrent": "many"}, "max-concurrent was 'many'"),
        ({**SIMPLE, "main-file": "my branin.py"}, "cannot be imported"),
        ({**SIMPLE, "tasks": []}, None),
        ({**SIMPLE, "tasks": [1]}, '"tasks" was'),
        ({**SIMPLE, "tasks": {"a": 1}}, "the task 'a' was 1"),
        ({**SIMPLE, "tasks": {"a": {"type": "OBJECTIV"}}}, "Did you mean 'OBJECTIVE'?"),
        ({**SIMPLE, "tasks": {"a": {"type": "CONSTRAINT"}}}, "expected one task of type OBJECTIVE"),
    ],
)
def test_what_cannot_be_read_says_why(config, given, says):
    if says is None:
        assert config(given).outcomes[0].name == "objective"
        return
    with pytest.raises(SpearmintError, match=says.replace("?", r"\?").replace("'", ".").replace("[", r"\[")):
        config(given)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SpearmintError, match="cannot be read"):
        read_config(tmp_path / "none.json")


def test_an_old_main_gets_arrays_and_a_number():
    seen = {}

    def main(job_id, params):
        seen.update(params, job_id=job_id)
        return {"f": np.array([params["x"].sum()]), "other": 1}

    measure = adapt(main, {"x": 2, "n": 1, "k": 1}, ["f"])
    assert measure({"x_1": 0.5, "x_2": 0.25, "n": 3, "k": "relu"}) == {"f": 0.75}
    assert np.array_equal(seen["x"], [0.5, 0.25])
    assert seen["n"].dtype.kind == "i"
    assert (seen["n"].shape, seen["k"][0]) == ((1,), "relu")
    np.random.default_rng(seen["job_id"])
    assert 0 <= seen["job_id"] < 2**32


def test_a_main_may_return_a_number_for_one_task_only():
    assert adapt(lambda _, params: params["x"][0], {"x": 1}, ["f"])({"x": 2.0}) == {"f": 2.0}
    with pytest.raises(CallError, match="expected a mapping with 'f', 'c'"):
        adapt(lambda *_: 1.0, {"x": 1}, ["f", "c"])({"x": 2.0})
    with pytest.raises(CallError, match="without 'c'"):
        adapt(lambda *_: {"f": 1.0}, {"x": 1}, ["f", "c"])({"x": 2.0})
