"""What a study file says, with its defaults, is what the study gets."""

import pickle

import pytest

from pesky.errors import ProblemError
from pesky.problem import Choice, Constraint, Integer, Problem, Real, Resource, Task
from pesky.store.sql import url
from pesky.study import Study
from pesky.study_file import Command, Function, StudyFile, StudyFileError
from pesky.study_file.mistakes import Findings, dotted
from pesky.study_file.settings import settings_in
from pesky.study_file.storage import SCHEMES, storage_url

SMALL = 'minimize = "f"\n[parameters]\nx = { type = "real", low = 0, high = 1 }\n'

FULL = """\
name = "net"
storage = "sqlite:///kept.db"
maximize = "accuracy"
constraints = [
    "latency_ms <= 2",
    { outcome = "memory", sense = "<=", threshold = 1, confidence = 0.99 },
    "converged is true",
]

[noise]
accuracy = 0.01

[parameters]
rate = { type = "real", low = 1e-5, high = 1e-1, log = true }
units = { type = "integer", low = 10, high = 500 }
activation = { type = "choice", options = ["relu", "tanh", 3, 0.5, true] }

[tasks.train]
outcomes = ["accuracy", "converged"]
cost = "measured"
failures = "learn"
timeout = 7200
function = "train:run"

[tasks.profile]
outcomes = ["latency_ms", "memory"]
cost = 2
command = "./profile.sh --runs 3"

[resources.gpu]
tasks = ["train", "profile"]
slots = 2

[budget]
cost = 100
seconds = 3600.0
gain_per_cost = 1e-3

[run]
workers = 2
seed = 7
initial = 4
rule = "pesc-ep"
min_probability = 0.5
deciding_share = 0.25
lease = 30
attempts = 2
losses = 7
"""


def read(folder, text, **how):
    (folder / "study.toml").write_text(text)
    return StudyFile.read(folder / "study.toml", **how)


def test_everything_that_is_said_arrives(tmp_path):
    file = read(tmp_path, FULL, importing=False)
    assert file.problem == Problem(
        parameters={
            "rate": Real(1e-5, 1e-1, log=True),
            "units": Integer(10, 500),
            "activation": Choice(["relu", "tanh", 3, 0.5, True]),
        },
        maximize="accuracy",
        constraints=["latency_ms <= 2", Constraint("memory", "<=", 1, 0.99), "converged is true"],
        tasks={
            "train": Task(["accuracy", "converged"], cost="measured", failures="learn", timeout=7200),
            "profile": Task(["latency_ms", "memory"], cost=2),
        },
        noise={"accuracy": 0.01},
        resources={"gpu": Resource(["train", "profile"], 2)},
    )
    assert (file.name, file.storage) == ("net", f"sqlite:///{tmp_path}/kept.db")
    assert file.calls == {
        "train": Function(str(tmp_path), "train", "run"),
        "profile": Command(("./profile.sh", "--runs", "3"), str(tmp_path), ("latency_ms", "memory")),
    }
    limits = {"evaluations": None, "cost": 100, "seconds": 3600, "gain_per_cost": 1e-3, "confirm": None}
    assert file.budget.model_dump() == limits
    assert file.run.model_dump() == {
        "workers": 2, "seed": 7, "initial": 4, "rule": "pesc-ep", "setting": None, "samples": None,
        "min_probability": 0.5, "deciding_share": 0.25, "confirming_share": None, "tolerance": None, "device": "cpu",
        "lease": 30, "attempts": 2, "losses": 7,
    }  # fmt: skip
    assert pickle.loads(pickle.dumps(file)) == file


def test_the_least_that_can_be_said(tmp_path):
    file = read(tmp_path, SMALL)
    assert file.problem == Problem({"x": Real(0, 1)}, minimize="f")
    assert (file.name, file.storage) == ("study", f"sqlite:///{tmp_path}/study.db")
    assert (file.calls, file.budget.is_limited) == ({}, False)


def test_to_run_takes_a_budget_and_something_to_call(tmp_path):
    with pytest.raises(StudyFileError) as caught:
        read(tmp_path, SMALL, running=True)
    assert [mistake.key for mistake in caught.value.mistakes] == ["budget", ""]
    assert read(tmp_path, 'command = "true"\n' + SMALL, running=True, evaluations=5).budget.evaluations == 5


def test_to_run_some_tasks_takes_only_their_calls(tmp_path):
    text = SMALL + '[tasks.a]\noutcomes = ["f"]\ncommand = "true"\n[tasks.b]\noutcomes = ["f"]\n[budget]\ncost = 1\n'
    assert read(tmp_path, text, running=["a"]).calls
    with pytest.raises(StudyFileError, match=r"line 7: tasks\.b: nothing to call"):
        read(tmp_path, text, running=["a", "b"])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, "sqlite:////lab/net.db"),
        ("sqlite:///a.db", "sqlite:////lab/a.db"),
        ("sqlite:////tmp/a.db", "sqlite:////tmp/a.db"),
        ("$URL", "postgresql://me@host/db"),
        ("postgresql://$ME:${PASSWORD}@host/$DB", "postgresql://me:p%40ss%2Fw@host/a/b"),
    ],
)
def test_a_storage_is_beside_its_file_and_has_its_variables(given, expected, tmp_path):
    environment = {"URL": "postgresql://me@host/db", "ME": "me", "PASSWORD": "p@ss/w", "DB": "a/b"}
    (tmp_path / "lab").mkdir()
    findings = Findings({})
    found = storage_url(given, tmp_path / "lab" / "net.toml", findings, environment)
    assert found.replace(f"{tmp_path}", "") == expected
    assert not findings.mistakes


def test_a_password_is_never_said(tmp_path):
    with pytest.raises(StudyFileError) as caught:
        read(tmp_path, 'storage = "mysql://me:secret@host/db"\n' + SMALL)
    assert "secret" not in str(caught.value)
    assert "mysql://me:***@host/db" in str(caught.value)


def test_what_others_know_is_known_here():
    assert set(SCHEMES) == set(url._DRIVERS)


def test_keys_are_written_as_in_the_file():
    assert dotted(("tasks", "my task", "outcomes", 0)) == 'tasks."my task".outcomes[0]'


def test_a_study_file_error_survives_another_process(tmp_path):
    with pytest.raises(StudyFileError) as caught:
        read(tmp_path, "minimize = 3\n")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.mistakes == caught.value.mistakes


def test_constraints_on_parameters_are_known(tmp_path, base):
    text = base.replace('["latency_ms <= 2"]', '["latency_ms <= 2", "rate * units <= 5"]')
    (tmp_path / "study.toml").write_text(text)
    problem = StudyFile.read(tmp_path / "study.toml", importing=False).problem
    assert problem.rows == ("error", "latency_ms", "rate * units")
    assert problem.outcomes == ("error", "latency_ms")
    assert problem.known["rate * units"]({"rate": 0.5, "units": 4}) == 2


def test_a_task_may_depend_on_some_parameters_only(tmp_path, base):
    text = base.replace('outcomes = ["latency_ms"]', 'outcomes = ["latency_ms"]\nparameters = ["units"]')
    (tmp_path / "study.toml").write_text(text)
    problem = StudyFile.read(tmp_path / "study.toml", importing=False).problem
    assert problem.depends_on("latency_ms") == ("units",)
    (tmp_path / "study.toml").write_text(text.replace('["units"]', '["unit"]'))
    with pytest.raises(StudyFileError) as caught:
        StudyFile.read(tmp_path / "study.toml", importing=False)
    (mistake,) = caught.value.mistakes
    assert (mistake.key, "Did you mean 'units'?" in mistake.message) == ("tasks.profile.parameters", True)


def test_the_device_is_that_of_the_study(tmp_path):
    file = read(tmp_path, f'{SMALL}\n[run]\ndevice = "gpu"\n')
    with pytest.raises(ProblemError, match="device was 'gpu'"):
        Study(file.problem, **settings_in(file))
