"""A study file without a mistake, and what to make of one with a mistake."""

import sys

import pytest

from pesky.study_file import StudyFile, StudyFileError

BASE = """\
minimize = "error"
constraints = ["latency_ms <= 2"]

[parameters]
rate = { type = "real", low = 1e-5, high = 1e-1, log = true }
units = { type = "integer", low = 10, high = 500 }
activation = { type = "choice", options = ["relu", "tanh"] }

[tasks.train]
outcomes = ["error"]
cost = 60
function = "pesky_network:train"

[tasks.profile]
outcomes = ["latency_ms"]
command = ["./profile.sh"]

[resources.gpu]
tasks = ["train", "profile"]
slots = 2

[budget]
evaluations = 40

[run]
seed = 0
"""

NETWORK = """\
def train(params):
    return {"error": 1.0}

def main(job_id, params):
    return 1.0

seven = 7
"""


@pytest.fixture(autouse=True)
def imports_of_its_own(monkeypatch):
    """No folder of a study stays among those that other tests import from."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with all that the study file calls."""
    folder = tmp_path_factory.mktemp("network")
    (folder / "pesky_network.py").write_text(NETWORK)
    (folder / "pesky_broken.py").write_text("1 / 0\n")
    (folder / "random.py").write_text(NETWORK)
    (folder / "profile.sh").write_text("#!/bin/sh\necho '{\"latency_ms\": 1}'\n")
    (folder / "profile.sh").chmod(0o755)
    (folder / "plain.py").write_text("pass\n")
    (folder / "bare.py").write_text("pass\n")
    (folder / "bare.py").chmod(0o755)
    return folder


@pytest.fixture
def base():
    """The text of a study file without a mistake."""
    return BASE


@pytest.fixture
def mistakes(folder):
    """A function that gives the mistakes found in a study file of some text."""

    def read(text):
        (folder / "study.toml").write_text(text)
        with pytest.raises(StudyFileError) as caught:
            StudyFile.read(folder / "study.toml", running=True)
        return caught.value.mistakes

    return read


@pytest.fixture
def check(mistakes):
    """A function that makes one mistake and checks that it alone is found, where it is, and said well."""

    def make(old, new, key, at, remedy):
        assert old in BASE, "the case does not change anything"
        text = BASE.replace(old, new, 1)
        (mistake,) = (each for each in mistakes(text))
        assert mistake.key == key
        assert mistake.line == (None if at is None else 1 + text[: text.index(at)].count("\n"))
        assert remedy in mistake.message

    return make
